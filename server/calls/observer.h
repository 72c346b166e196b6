// What observers of calls are told, and by whom: metrics, the log, the audit log and events are
// told of the steps of each call that runs code, and get a record of each finished call of a tool
// that used a worker.
//
//   ObservedExecution execution(observer, tool, call);
//   execution.Submit();                       // before the queue, so that nothing can come earlier
//   if (refusal) execution.Refuse("queue_full");
//   execution.Start();                        // on the thread of the call
//   execution.End(result, deferred);          // after the tool has returned
#ifndef BELLJAR_SERVER_CALLS_OBSERVER_H_
#define BELLJAR_SERVER_CALLS_OBSERVER_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/deferred_tasks.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "server/calls/call_queue.h"
#include "server/calls/tool.h"

namespace belljar::server {

// One call of a tool that used a worker. The views are valid only during Called.
struct CallRecord {
  std::string_view tool;
  std::string_view caller;
  std::string_view profile;
  std::string_view code;                   // for logs that may contain it
  const host::Request* request = nullptr;  // the code as it was run, for its digests; null: unknown
  const host::Outcome* outcome = nullptr;  // null: the call failed without one
  std::optional<std::string> failure;      // Belljar's own failure, instead of an outcome
  std::string_view execution;              // the id of a call that runs code; otherwise empty
};

// A call that runs code, before its CallRecord or its refusal. The views are valid only while the
// observer is called.
struct ExecutionRecord {
  std::string_view execution;  // its id
  std::string_view tool;
  std::string_view caller;
  std::string_view traceparent;  // for Submitted: as sent by the client; may be empty
  std::string_view reason;       // for Refused: "queue_full", "arguments", …
};

// What happened to a session, besides its cells. The views are valid only during SessionChanged.
struct SessionRecord {
  std::string_view action;  // "opened", "closed", "evicted", "branched", "rolled_back", …
  std::string_view caller;
  std::string_view session;
  std::string_view profile;
  std::string_view detail;  // why it was closed, the checkpoint, …; may be empty
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Any thread, concurrently; must not block for long.
  virtual void Called(const CallRecord& record) = 0;
  virtual void SessionChanged(const SessionRecord& record) { (void)record; }
  // Called in this order, each at most once, followed by either Called or Refused. A job whose
  // server ended while running it may be started again.
  virtual void Submitted(const ExecutionRecord& record) { (void)record; }
  virtual void Started(const ExecutionRecord& record) { (void)record; }
  // The call has ended without a CallRecord: nothing ran.
  virtual void Refused(const ExecutionRecord& record) { (void)record; }
  // The code's new output, in whole characters, while it runs. Requested once per call.
  virtual bool WantsOutput(std::string_view caller) const {
    (void)caller;
    return false;
  }
  virtual void Printed(const ExecutionRecord& record, std::string_view text) {
    (void)record;
    (void)text;
  }
};

// Forwards to several observers, in the given order.
class CallObservers : public CallObserver {
 public:
  // Borrowed; they must outlive this object.
  explicit CallObservers(std::vector<CallObserver*> observers) : observers_(std::move(observers)) {}

  void Called(const CallRecord& record) override {
    for (CallObserver* observer : observers_) observer->Called(record);
  }
  void SessionChanged(const SessionRecord& record) override {
    for (CallObserver* observer : observers_) observer->SessionChanged(record);
  }
  void Submitted(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Submitted(record);
  }
  void Started(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Started(record);
  }
  void Refused(const ExecutionRecord& record) override {
    for (CallObserver* observer : observers_) observer->Refused(record);
  }
  bool WantsOutput(std::string_view caller) const override {
    return std::any_of(observers_.begin(), observers_.end(),
                       [&](const CallObserver* observer) { return observer->WantsOutput(caller); });
  }
  void Printed(const ExecutionRecord& record, std::string_view text) override {
    for (CallObserver* observer : observers_) observer->Printed(record, text);
  }

 private:
  const std::vector<CallObserver*> observers_;
};

// One call of a tool that runs code, from its submission to its end, as reported to observers. For
// calls of other tools it has no id, and nothing is reported. Used by one thread at a time.
class ObservedExecution {
 public:
  // `observer`, which may be null, and `tool` must outlive it.
  ObservedExecution(CallObserver* observer, const Tool& tool, const ToolCall& call);
  ObservedExecution(const ObservedExecution&) = delete;

  // Unguessable; empty for other tools.
  const std::string& id() const { return id_; }

  void Submit();
  void Refuse(std::string_view reason);
  void Refuse(CallQueue::Refusal::Reason reason);
  void Start();
  // Whether an observer wants its output.
  bool WantsOutput() const;
  void Print(std::string_view text);
  // Whether a CallRecord has reported to an observer how it ended.
  void SetRecorded() { recorded_ = true; }
  // Once the deferred work that is already in `deferred` is done, a call without a CallRecord
  // counts as refused. This object must outlive `deferred`.
  void End(const core::Result<ToolResult>& result, host::DeferredTasks& deferred);

 private:
  ExecutionRecord Record() const;

  CallObserver* const observer_;  // null: nothing is reported
  const Tool& tool_;
  const std::string caller_;
  const std::string traceparent_;
  const std::string id_;
  bool recorded_ = false;
};

// "queue_full", "token_full", "closing": for logs and events.
std::string_view NameOf(CallQueue::Refusal::Reason reason);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_OBSERVER_H_
