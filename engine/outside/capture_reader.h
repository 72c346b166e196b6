// The host's side of a worker's capture region. Everything in it is the worker's to write, so it is
// hostile: lengths are clamped and bytes are copied out before anybody looks at them.
#ifndef BELLJAR_ENGINE_OUTSIDE_CAPTURE_READER_H_
#define BELLJAR_ENGINE_OUTSIDE_CAPTURE_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/mapping.h"
#include "engine/core/outcome.h"
#include "engine/core/result.h"

namespace belljar {

class CaptureReader {
 public:
  CaptureReader() = default;
  static Result<CaptureReader> Create(CaptureLayout layout);

  // The memory to hand to the worker; the host's own mapping does not need it afterwards.
  int memory_fd() const { return memory_.get(); }
  void CloseMemory() { memory_.Reset(); }

  // Bytes that the worker has written past `from`, up to `limit` in all.
  std::string StdoutSince(uint64_t from, uint64_t limit) const;
  std::string StderrSince(uint64_t from, uint64_t limit) const;
  uint64_t StdoutDropped() const;
  uint64_t StderrDropped() const;
  std::string Report(uint64_t limit) const;
  // All artifacts, one after the other.
  std::string Artifacts() const;
  bool OutOfMemory() const;
  std::vector<SecurityEvent> DeniedSyscalls() const;

 private:
  const CaptureHeader& header() const {
    return *reinterpret_cast<const CaptureHeader*>(mapping_.data());
  }
  std::string Copy(size_t offset, uint64_t from, uint64_t to) const;

  CaptureLayout layout_;
  UniqueFd memory_;
  Mapping mapping_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_CAPTURE_READER_H_
