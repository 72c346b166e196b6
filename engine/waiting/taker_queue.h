// TakerQueue: callers that wait for something prepared in advance (a sealed worker, a started
// container), served in order. A pool has one next to its ready items, under its own mutex:
//
//   Result<Worker> Pool::Take(const Wait& wait) {
//     std::unique_lock lock(mutex_);
//     if (ready) return …;
//     WakeKeeper();
//     return takers_.Take(lock, wait, "take a worker", [] { return "none became free in time"; });
//   }
//   void Pool::Deliver(Worker worker) {              // mutex_ is held
//     if (takers_.empty()) ready_.push_back(std::move(worker));
//     else takers_.Give(std::move(worker));
//   }
//
// Each taker polls its own event together with its cancellation, until its deadline. There are no
// spurious wake-ups and no periodic ones.
#ifndef BELLJAR_ENGINE_WAITING_TAKER_QUEUE_H_
#define BELLJAR_ENGINE_WAITING_TAKER_QUEUE_H_

#include <poll.h>

#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/waiting/event.h"
#include "engine/waiting/wait.h"

namespace belljar::waiting {

// Requires the pool's mutex for every call.
template <typename Item>
class TakerQueue {
 public:
  bool empty() const { return takers_.empty(); }
  // The takers that have received neither an item nor an error.
  size_t size() const { return takers_.size(); }

  // Waits at the end of the queue, with `lock` (on the pool's mutex) released. Errors: that of
  // FailAll; ECANCELED; ETIMEDOUT with the text of `why_late`, called under the lock. If an item is
  // given at the moment of cancellation or deadline, the taker gets it: no item is ever lost.
  core::Result<Item> Take(std::unique_lock<std::mutex>& lock, const Wait& wait,
                          const char* operation, const std::function<std::string()>& why_late) {
    core::Result<Event> event = Event::Create(operation);
    if (!event) return event.error();
    Taker taker{std::move(*event), {}};
    const auto place = takers_.insert(takers_.end(), &taker);
    ++inside_;
    lock.unlock();
    pollfd watched[] = {{wait.cancel_fd, POLLIN, 0}, {taker.event.fd(), POLLIN, 0}};
    const core::Result<void> waited = WaitForAny(watched, wait);
    lock.lock();
    if (--inside_ == 0) left_.notify_all();
    if (taker.given) return std::move(*taker.given);
    takers_.erase(place);
    if (waited) return core::MakeError(operation, "woken without an item");
    if (waited.error().error_number == ECANCELED) {
      return core::SystemErrorOf(ECANCELED, operation, "cancelled");
    }
    if (waited.error().error_number == ETIMEDOUT) {
      return core::SystemErrorOf(ETIMEDOUT, operation, why_late());
    }
    return waited.error();
  }

  // Gives it to the first taker. Precondition: !empty().
  void Give(Item item) {
    Taker& first = *takers_.front();
    takers_.pop_front();
    Deliver(first, std::move(item));
  }

  // For those that wait for a change: all of them get a copy.
  void GiveAll(const Item& item) {
    while (!takers_.empty()) Give(item);
  }

  void FailAll(const core::Error& error) {
    for (Taker* const taker : takers_) Deliver(*taker, error);
    takers_.clear();
  }

  // Waits until all woken callers have left Take. For the pool's destructor, after FailAll, when no
  // further calls can come.
  void AwaitEmpty(std::unique_lock<std::mutex>& lock) {
    left_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  struct Taker {
    Event event;  // raised once `given` is set
    std::optional<core::Result<Item>> given;
  };

  // The taker may be gone once the mutex is released.
  static void Deliver(Taker& taker, core::Result<Item> given) {
    taker.given.emplace(std::move(given));
    taker.event.Raise();
  }

  std::list<Taker*> takers_;
  size_t inside_ = 0;  // callers still inside Take, woken or not
  std::condition_variable left_;
};

}  // namespace belljar::waiting

#endif  // BELLJAR_ENGINE_WAITING_TAKER_QUEUE_H_
