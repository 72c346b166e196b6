// CallObserver: receives a record of each finished call from the tools; implemented by metrics, the
// log and the audit log.
#ifndef BELLJAR_SERVER_CORE_OBSERVER_H_
#define BELLJAR_SERVER_CORE_OBSERVER_H_

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
  const host::Request* request = nullptr;  // as it was run, for its digests; null: not known
  const host::Outcome* outcome = nullptr;  // null: the call failed without one
  std::optional<std::string> failure;      // Belljar's own failure, instead of an outcome
};

// What has happened to a session, besides its cells. The views are valid only during
// SessionChanged.
struct SessionRecord {
  std::string_view action;  // "opened", "closed", "branched", "rolled_back", …
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
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_OBSERVER_H_
