// Calls: the one way to run a tool for a caller, however the call arrived: limits and queue,
// events, the tool, the answer, and the deferred work.
//
//   Calls calls(queue, on_refusal, &observers);
//   std::optional<CallQueue::Refusal> refusal = calls.Start(
//       *tool, {.arguments = …, .caller = …, .cancellation = request.peer_gone},
//       [reply](core::Result<ToolResult> result) { reply->Finish(…); });
//
// A batch holds one place in the queue for several calls and runs each of them there:
//
//   calls.queue().Submit(owner, limit, [&] { for (…) calls.Run(*tool, call, on_end); });
#ifndef BELLJAR_SERVER_CALLS_CALLS_H_
#define BELLJAR_SERVER_CALLS_CALLS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/core/result.h"
#include "server/calls/call_queue.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"

namespace belljar::server {

// Any thread, concurrently. Must outlive the queue's calls: stop it first.
class Calls {
 public:
  using RefusalListener = std::function<void(const Caller&, const CallQueue::Refusal&)>;
  // Called once, before the deferred work of the call. A call that was cancelled while waiting ends
  // with ECANCELED; an exception thrown by a tool is an error.
  using OnEnd = std::function<void(core::Result<ToolResult>)>;

  // `queue` and `observer`, which may be null, must outlive this object.
  explicit Calls(CallQueue& queue, RefusalListener on_refusal = {},
                 CallObserver* observer = nullptr)
      : queue_(queue), on_refusal_(std::move(on_refusal)), observer_(observer) {}

  // In the queue if the tool uses a worker, otherwise synchronously. `on_end` is not called if the
  // queue refuses the call, or drops it when it stops; observers are told in both cases.
  std::optional<CallQueue::Refusal> Start(Tool& tool, ToolCall call, OnEnd on_end);
  // On this thread, which holds a place in the queue if the tool uses a worker. Deferred work is
  // done when this returns.
  void Run(Tool& tool, ToolCall call, const OnEnd& on_end);

  CallQueue& queue() { return queue_; }
  CallObserver* observer() const { return observer_; }

  // While it exists, CancelAll also cancels this.
  class Pending {
   public:
    Pending(Calls& calls, std::shared_ptr<Cancellation> cancellation);
    ~Pending();
    Pending(const Pending&) = delete;

   private:
    Calls& calls_;
    const std::shared_ptr<Cancellation> cancellation_;
  };
  // Calls that have started and not ended.
  void CancelAll();

 private:
  struct Started;
  void Execute(Started& started, const OnEnd& on_end);

  CallQueue& queue_;
  const RefusalListener on_refusal_;
  CallObserver* const observer_;
  std::mutex mutex_;
  std::multiset<std::shared_ptr<Cancellation>> pending_;
};

// "overloaded: …; try again in 3 s"
std::string Describe(const CallQueue::Refusal& refusal);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_CALLS_H_
