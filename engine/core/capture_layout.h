// The shared memory between one worker and the host: four append-only buffers, each with its length
// word. It contains no allocator, mutex or pointer, which a killed or hostile worker could corrupt.
// The worker writes; the host reads and trusts nothing: it clamps every length and copies every
// byte out before parsing it.
//
// A print is a memcpy and a store. Output printed before a SIGKILL is kept.
#ifndef BELLJAR_ENGINE_CORE_CAPTURE_LAYOUT_H_
#define BELLJAR_ENGINE_CORE_CAPTURE_LAYOUT_H_

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "engine/core/bytes.h"

namespace belljar::core {

inline constexpr size_t kMaxRecordedSyscalls = 32;

// Where the program was when the host stopped it: for each place, innermost first, the file, the
// function and the line, each followed by a NUL. One more than is shown, which says that there are
// more.
inline constexpr size_t kMaxPlaces = 6;
inline constexpr size_t kMaxPlacesText = 2048;
// Asks a worker for them, after which it ends. Guest code cannot set the handler of such a signal
// (profiles/seccomp.toml).
inline int PlacesSignal() { return SIGRTMAX; }

// The compile step of a program. The rest is set before `step` is kCompiled.
struct CompileRecord {
  enum Step : uint32_t { kNone, kCompiling, kCompiled };
  std::atomic<uint32_t> step;
  std::atomic<uint64_t> wall_microseconds;
  std::atomic<uint64_t> cpu_microseconds;
  std::atomic<uint64_t> max_rss_bytes;
  std::atomic<uint64_t> stdout_size;  // how much of the output is the compiler's
  std::atomic<uint64_t> stderr_size;
};

struct CaptureHeader {
  std::atomic<uint64_t> stdout_size;
  std::atomic<uint64_t> stdout_dropped;
  std::atomic<uint64_t> stderr_size;
  std::atomic<uint64_t> stderr_dropped;
  std::atomic<uint64_t> report_size;
  std::atomic<uint64_t> artifacts_size;
  std::atomic<uint32_t> out_of_memory;  // set by the allocator just before it ends the worker
  std::atomic<uint32_t> denied_count;   // system calls that the filter answered with EPERM
  struct {
    std::atomic<uint32_t> number;
    std::atomic<uint32_t> count;
  } denied[kMaxRecordedSyscalls];
  CompileRecord compile;
  std::atomic<uint32_t> places_size;
  char places[kMaxPlacesText];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Offsets of the buffers in the region. Both sides compute them from the same sizes.
struct CaptureLayout {
  Bytes output;  // capacity of stdout and of stderr
  Bytes report;
  Bytes artifacts{0};  // concatenated; the report holds their offsets

  static constexpr size_t kHeaderSize = 4096;
  static_assert(sizeof(CaptureHeader) <= kHeaderSize);

  size_t stdout_offset() const { return kHeaderSize; }
  size_t stderr_offset() const { return stdout_offset() + output.count; }
  size_t report_offset() const { return stderr_offset() + output.count; }
  size_t artifacts_offset() const { return report_offset() + report.count; }
  size_t size() const { return artifacts_offset() + artifacts.count; }
  static auto Members(auto& layout) {
    return std::tie(layout.output, layout.report, layout.artifacts);
  }
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_CAPTURE_LAYOUT_H_
