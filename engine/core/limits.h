// Limits: what one execution may use. Each is enforced by a kill or a drop, never by asking.
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
  std::chrono::milliseconds timeout{30'000};  // wall clock, from the request being sent
  std::chrono::milliseconds cpu{30'000};      // user + system time of the worker
  Bytes memory = Bytes::Mebi(128);            // address space beyond the waiting worker's own
  Bytes output = Bytes::Mebi(1);              // stdout and stderr, each; the rest is dropped
  Bytes result = Bytes::Mebi(1);              // the JSON of `result`
  Bytes source = Bytes::Mebi(1);
  Bytes file_size{0};  // RLIMIT_FSIZE
  // Content of artifacts within the result itself: of each, and of all of them.
  Bytes artifact = Bytes::Mebi(1);
  Bytes artifacts = Bytes::Mebi(8);
  uint32_t open_files = 16;  // RLIMIT_NOFILE
  uint32_t processes = 1;    // RLIMIT_NPROC: threads and processes, itself included

  bool operator==(const Limits&) const = default;
};

// What a call or an operator asks for in place of the usual; nullopt: nothing.
struct RequestedLimits {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> cpu;
  std::optional<Bytes> memory;
  std::optional<Bytes> output;
};

// `usual` with what was asked for in its place. A timeout without a CPU time is both, up to what
// `most` gives: one thread cannot use CPU time faster than the clock runs. Whether the rest is
// within `most` is the caller's to check, who knows what the user calls it.
Limits WithRequested(Limits defaults, const Limits& maximum, const RequestedLimits& requested);

// "30s", "500ms", "2m", "1.5" (seconds). Finite, more than zero, at most a day.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
// The shortest exact form that ParseDuration reads.
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_LIMITS_H_
