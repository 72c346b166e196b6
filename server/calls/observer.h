// CallObserver: receives a record of each finished call from the tools, and the steps of a call
// that runs code until then; implemented by metrics, the log, the audit log and events.
#ifndef BELLJAR_SERVER_CALLS_OBSERVER_H_
#define BELLJAR_SERVER_CALLS_OBSERVER_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/host/outcome.h"
#include "engine/host/request.h"

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

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CALLS_OBSERVER_H_
