// ContainerPool: started containers, each with a guest that has said that its worker waits. One
// execution each.
//
//   ContainerPool pool(options);
//   Result<PooledContainer> container = pool.Take(wait);   // any thread; at once where one waits
//   … container->guest->Run(…) …
//   pool.Retire(std::move(*container));                    // removed off the caller's path
//
// A keeper thread decides what is to be started and watches those that wait; a few others speak to
// the engine, which takes its time. Takers are served in the order in which they came.
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_

#include <poll.h>

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "container/engines/container_engine.h"
#include "container/wire/guest_connection.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/outside/backend.h"

namespace belljar {

struct ContainerPoolOptions {
  std::shared_ptr<ContainerEngine> engine;
  ContainerSpec spec;    // of each; its labels are the pool's
  GuestTerms terms;      // what each guest has to be
  std::string instance;  // container_owner.h
  size_t spares = 1;
  size_t most = 8;  // at least 1; those that wait, run and are being removed
  // From the engine's answer until a worker waits. The guest itself gives up after two minutes.
  std::chrono::milliseconds ready_timeout{150'000};
};

struct PooledContainer {
  std::string id;
  std::unique_ptr<GuestConnection> guest;
  std::chrono::microseconds started_in{0};  // from its creation until a worker waited
  bool warm = false;                        // it was waiting when it was asked for
};

class ContainerPool {
 public:
  explicit ContainerPool(ContainerPoolOptions options);
  ContainerPool(const ContainerPool&) = delete;
  // Blocks until its containers are removed, or the engine has failed to. Precondition: all that
  // were taken have been retired.
  ~ContainerPool();

  // ECANCELED as Wait has it; ETIMEDOUT where there is none in time; else why none can be started.
  Result<PooledContainer> Take(const Wait& wait);

  // Any thread. What is still said over the line is heard by nobody.
  void Retire(PooledContainer container);

  // Until one waits, without taking it. Fails like Take. The pool outlives the call.
  Result<void> WaitForSpare(Deadline deadline);

  Backend::Counters counters() const;

 private:
  // One that waits for a container: told by `event` that `given` is there.
  struct Taker {
    UniqueFd event;
    std::optional<Result<PooledContainer>> given;
  };

  // The keeper's.
  void Keep();
  void RetireDead();
  void StartMissing(Deadline now);
  void RemoveAgain(Deadline now);
  size_t Missing(Deadline now) const;
  std::vector<pollfd> Watched() const;
  Deadline NextAttempt(Deadline now) const;

  // On the threads of crew_.
  void StartOne();
  Result<PooledContainer> Start();
  Result<PooledContainer> AwaitReady(StartedContainer started, Deadline began);
  void Remove(const std::string& id);

  // Under the mutex.
  std::optional<PooledContainer> TakeWaiting();
  void Deliver(PooledContainer container);
  void StartFailed(const Error& error);
  void RemoveLater(std::string id);
  Error NoneInTime() const;

  void Tell(Taker& taker, Result<PooledContainer> given);
  void WakeKeeper() const;

  const ContainerPoolOptions options_;
  const UniqueFd wake_;   // eventfd: something has changed for the keeper
  const UniqueFd close_;  // eventfd: those that are starting are not wanted any more

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PooledContainer> ready_;
  std::list<Taker*> takers_;
  size_t starting_ = 0;
  size_t in_use_ = 0;
  size_t removing_ = 0;
  size_t inside_ = 0;                     // callers that wait in here
  std::vector<std::string> not_removed_;  // for when the engine is there again
  Deadline next_removal_{};
  int failures_in_a_row_ = 0;
  std::optional<Error> failure_;  // why there are none; cleared by the next good one
  std::chrono::milliseconds backoff_{0};
  Deadline next_start_{};
  Deadline refill_at_{};
  uint64_t started_ = 0;
  bool closing_ = false;

  boost::asio::thread_pool crew_;
  std::thread keeper_;
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_POOL_H_
