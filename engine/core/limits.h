// Limits: what one execution may use. Each is enforced by killing the worker or dropping data.
#ifndef BELLJAR_ENGINE_CORE_LIMITS_H_
#define BELLJAR_ENGINE_CORE_LIMITS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "engine/core/result.h"

namespace belljar::core {

struct Limits {
  std::chrono::milliseconds timeout{30'000};  // wall clock, from when the request is sent
  std::chrono::milliseconds cpu{30'000};      // user + system time of the worker
  Bytes memory = Bytes::Mebi(256);            // address space beyond that of the waiting worker
  Bytes output = Bytes::Mebi(1);              // stdout and stderr, each; further output is dropped
  Bytes result = Bytes::Mebi(1);              // the JSON of `result`
  Bytes source = Bytes::Mebi(1);
  Bytes file_size{0};  // RLIMIT_FSIZE
  // Content of artifacts that is included in the result itself: of each, and in total.
  Bytes artifact = Bytes::Mebi(1);
  Bytes artifacts = Bytes::Mebi(8);
  uint32_t open_files = 16;  // RLIMIT_NOFILE
  uint32_t processes = 1;    // RLIMIT_NPROC: threads and processes, itself included

  bool operator==(const Limits&) const = default;
};

// Limits of a language's compile step: wall-clock and CPU time, each, and memory. They do not
// depend on those of the program: a compiler needs as much for one that may use little.
struct CompileLimits {
  std::chrono::milliseconds time{10'000};
  Bytes memory = Bytes::Mebi(512);
};

// RLIMIT_NPROC of programs without the language policy, whose threads are the kernel's; the others
// have threads of their own (docs/policy.md).
inline constexpr uint32_t kMaxThreads = 128;

// Limits that a call or an operator sets in place of the defaults; nullopt: keep the default.
struct RequestedLimits {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> cpu;
  std::optional<Bytes> memory;
  std::optional<Bytes> output;
};

// `defaults` with the requested values applied. A timeout without a CPU time sets both, with the
// CPU time capped at `maximum`: one thread cannot use CPU time faster than the clock runs. The
// caller checks the other values against `maximum`, since it knows their names in its interface.
Limits WithRequested(Limits defaults, const Limits& maximum, const RequestedLimits& requested);

// "30s", "500ms", "2m", "1.5" (seconds). Finite, more than zero, at most a day.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
// The shortest exact form that ParseDuration reads.
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_LIMITS_H_
