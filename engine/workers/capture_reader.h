// The host's side of a worker's capture region. The worker can write all of it, so it is untrusted:
// lengths are clamped, and bytes are copied out before they are used.
#ifndef BELLJAR_ENGINE_WORKERS_CAPTURE_READER_H_
#define BELLJAR_ENGINE_WORKERS_CAPTURE_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/mapping.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::workers {

class CaptureReader {
 public:
  CaptureReader() = default;
  static core::Result<CaptureReader> Create(core::CaptureLayout layout);

  // The memory to pass to the worker; the host's own mapping does not need it afterwards.
  int memory_fd() const { return memory_.get(); }
  void CloseMemory() { memory_.Reset(); }

  // Empties it before the next cell of the same, waiting worker. Releases the pages of long output.
  void Clear();

  // Bytes that the worker has written from offset `from` on, up to `limit` in total.
  std::string StdoutSince(uint64_t from, uint64_t limit) const;
  std::string StderrSince(uint64_t from, uint64_t limit) const;
  uint64_t StdoutDropped() const;
  uint64_t StderrDropped() const;
  std::string Report(uint64_t limit) const;
  // All artifacts, concatenated.
  std::string Artifacts() const;
  bool OutOfMemory() const;
  // As in core/capture_layout.h.
  std::string Places() const;
  std::vector<host::SecurityEvent> DeniedSyscalls() const;
  // nullopt: nothing has been compiled. As the worker says: nothing is clamped.
  std::optional<host::Compilation> Compiled() const;

 private:
  core::CaptureHeader& header() const {
    return *reinterpret_cast<core::CaptureHeader*>(mapping_.data());
  }
  std::string Copy(size_t offset, uint64_t from, uint64_t to) const;

  core::CaptureLayout layout_;
  core::UniqueFd memory_;
  core::Mapping mapping_;
};

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_CAPTURE_READER_H_
