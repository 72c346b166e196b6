// Taking times, also of many threads, and giving up.
#ifndef BELLJAR_BENCH_TIMING_H_
#define BELLJAR_BENCH_TIMING_H_

#include <errno.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/result.h"

namespace belljar::bench {

using Clock = std::chrono::steady_clock;

[[noreturn]] inline void Exit(const std::string& why) {
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  exit(5);
}

template <typename T>
T OrExit(core::Result<T> result) {
  if (!result) Exit(result.error().ToString());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

inline double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// In milliseconds.
template <typename Act>
double Time(Act act) {
  const Clock::time_point start = Clock::now();
  act();
  return MillisecondsSince(start);
}

// Calls body(0) to body(count - 1), each in a thread of its own, and returns after the last one.
inline void InThreads(size_t count, const std::function<void(size_t)>& body) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_TIMING_H_
