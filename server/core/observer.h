// CallObserver: who keeps the books. Tools report each finished call; metrics and the log listen.
#ifndef BELLJAR_SERVER_CORE_OBSERVER_H_
#define BELLJAR_SERVER_CORE_OBSERVER_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/host/outcome.h"

namespace belljar::server {

// One call of a tool that used a worker. Views are valid during the call of Called only.
struct CallRecord {
  std::string_view tool;
  std::string_view caller;
  std::string_view profile;
  std::string_view code;                   // for logs that are allowed to hold it
  const host::Outcome* outcome = nullptr;  // null: it never came to one
  std::optional<std::string> failure;      // our own, in place of an outcome
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Any thread, many at once; does not block for long.
  virtual void Called(const CallRecord& record) = 0;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_OBSERVER_H_
