// Backoff: how long to wait before the next attempt: twice as long after each failure, and never as
// long as others that failed at the same time.
#ifndef BELLJAR_SERVER_EVENTS_BACKOFF_H_
#define BELLJAR_SERVER_EVENTS_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <random>

#include "engine/host/random.h"

namespace belljar::server::events {

// One thread at a time.
class Backoff {
 public:
  static constexpr std::chrono::milliseconds kFirst{500};
  static constexpr std::chrono::milliseconds kMax{60'000};

  // After so many failures in a row, from 1: between half of the time and all of it.
  std::chrono::milliseconds After(unsigned failures) {
    const unsigned doublings = std::min(failures > 0 ? failures - 1 : 0, 16u);
    const std::chrono::milliseconds all = std::min(kFirst * (1 << doublings), kMax);
    return std::chrono::milliseconds(
        std::uniform_int_distribution<int64_t>(all.count() / 2, all.count())(random_));
  }

 private:
  static std::minstd_rand::result_type Seed() {
    const auto bytes = host::RandomBytes();
    return unsigned{bytes[0]} | unsigned{bytes[1]} << 8 | unsigned{bytes[2]} << 16;
  }
  std::minstd_rand random_{Seed()};
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_BACKOFF_H_
