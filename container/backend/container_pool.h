// ContainerPool: started containers, each with a guest whose worker is ready. One execution each.
//
//   Result<std::unique_ptr<ContainerPool>> pool = ContainerPool::Start(options);
//   Result<PooledContainer> container = (*pool)->Take(wait);   // any thread; at once if one waits
//   … container->guest->Run(…) …
//   (*pool)->Retire(std::move(*container));                    // removed off the caller's path
//
// A keeper thread decides what to start and watches the waiting containers; a few other threads
// call the engine, which is slow. Takers are served in order.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_

#include <poll.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "container/backend/guest_connection.h"
#include "container/engines/container_engine.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/thread.h"
#include "engine/host/backoff.h"
#include "engine/outside/backend.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"
#include "engine/waiting/wait.h"

namespace belljar::container::backend {

struct ContainerPoolOptions {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::ContainerSpec spec;  // for every container; the pool adds labels
  GuestTerms terms;             // requirements on every guest
  std::string instance;         // container_owner.h
  size_t spares = 1;
  size_t max_containers = 8;  // at least 1; waiting, running and being removed
  // From the engine's reply until a worker is ready. The guest itself gives up after two minutes.
  std::chrono::milliseconds ready_timeout{150'000};
};

struct PooledContainer {
  std::string id;
  std::unique_ptr<GuestConnection> guest;
  std::chrono::microseconds started_in{0};  // from its creation until a worker was ready
  bool warm = false;                        // it was already waiting when it was requested
};

class ContainerPool {
 public:
  // Returns before the first container is ready. Fails if a thread cannot be started or no
  // descriptor is left for its event.
  static core::Result<std::unique_ptr<ContainerPool>> Start(ContainerPoolOptions options);
  ContainerPool(const ContainerPool&) = delete;
  // Blocks until its containers are removed, or the engine has failed to remove them. Precondition:
  // all taken containers have been retired.
  ~ContainerPool();

  // ECANCELED as in Wait; ETIMEDOUT if none is ready in time; else why none can be started.
  core::Result<PooledContainer> Take(const waiting::Wait& wait);

  // Any thread. Further output is discarded.
  void Retire(PooledContainer container);

  // Waits until one is ready, without taking it. Fails like Take. The pool must outlive the call.
  core::Result<void> WaitForSpare(core::Deadline deadline);

  outside::Backend::Counters counters() const;

 private:
  ContainerPool(ContainerPoolOptions options, waiting::Event wake, waiting::Event close);
  core::Result<void> StartThreads();

  // On the keeper thread.
  void Keep();
  void RetireDead();
  void StartMissing(core::Deadline now);
  void RemoveAgain(core::Deadline now);
  size_t Missing(core::Deadline now) const;
  std::vector<pollfd> Watched() const;
  core::Deadline NextAttempt(core::Deadline now) const;

  // On the threads of crew_.
  void StartOne();
  core::Result<PooledContainer> StartContainer();
  core::Result<PooledContainer> AwaitReady(engines::StartedContainer started, core::Deadline began);
  void Remove(const std::string& id);

  // Requires the mutex.
  std::optional<PooledContainer> TakeWaiting();
  void Deliver(PooledContainer container);
  void StartFailed(const core::Error& error);
  void RemoveLater(std::string id);
  std::string WhyNoneInTime() const;

  void WakeKeeper() const;

  const ContainerPoolOptions options_;
  const waiting::Event wake_;   // the keeper has something to do
  const waiting::Event close_;  // containers that are still starting are no longer needed

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PooledContainer> ready_;
  waiting::TakerQueue<PooledContainer> takers_;
  size_t starting_ = 0;
  size_t in_use_ = 0;
  size_t removing_ = 0;
  size_t inside_ = 0;                     // callers of WaitForSpare
  std::vector<std::string> not_removed_;  // to retry when the engine is reachable again
  core::Deadline next_removal_{};
  int failures_in_a_row_ = 0;
  std::optional<core::Error> failure_;  // why there are none; cleared by the next success
  host::Backoff start_backoff_{std::chrono::milliseconds(200), std::chrono::seconds(5)};
  core::Deadline refill_at_{};
  uint64_t started_ = 0;
  bool closing_ = false;

  boost::asio::io_context work_;  // for the crew
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>>
      more_work_;
  std::vector<core::Thread> crew_;
  core::Thread keeper_;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_
