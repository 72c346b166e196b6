// Backoff: the wait after a failure, which doubles with each consecutive failure.
#ifndef BELLJAR_ENGINE_HOST_BACKOFF_H_
#define BELLJAR_ENGINE_HOST_BACKOFF_H_

#include <algorithm>
#include <chrono>

#include "engine/core/socket.h"
#include "engine/host/random.h"

namespace belljar::host {

class Backoff {
 public:
  // The first wait; each further one is twice as long, up to `max`.
  constexpr Backoff(std::chrono::milliseconds first, std::chrono::milliseconds max)
      : first_(first), max_(max) {}

  void Fail(core::Deadline now) {
    wait_ = std::clamp(wait_ * 2, first_, max_);
    until_ = now + wait_;
  }
  // The next failure counts as the first again. Does not shorten a wait in progress.
  void Reset() { wait_ = std::chrono::milliseconds(0); }

  core::Deadline until() const { return until_; }
  bool IsOver(core::Deadline now) const { return now >= until_; }

  // Between half of the wait and all of it, so that clients that failed at the same time do not
  // return at the same time.
  std::chrono::milliseconds RandomWait() const {
    const auto bytes = RandomBytes();
    return wait_ / 2 + wait_ / 2 * (bytes[0] << 8 | bytes[1]) / 0xffff;
  }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds max_;
  std::chrono::milliseconds wait_{0};
  core::Deadline until_{};
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_BACKOFF_H_
