// LiveLimits: the limits that an operator can change while the server runs. Changes are lost when
// it stops; the next start uses the configuration.
//
//   LiveLimits limits(config, queue, sessions);
//   Result<std::vector<LiveLimits::Change>> changed = limits.Set({{"waiting", 128}});
#ifndef BELLJAR_SERVER_LIVE_LIMITS_H_
#define BELLJAR_SERVER_LIVE_LIMITS_H_

#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/calls/call_queue.h"
#include "server/core/config.h"
#include "server/core/session_registry.h"

namespace belljar::server {

// Any thread, concurrently.
class LiveLimits {
 public:
  // `queue` and `sessions` were created with `config`, and are borrowed.
  LiveLimits(const ServerConfig& config, CallQueue& queue, SessionRegistry& sessions);

  // {"running":4,"waiting":64,"sessions":{"per_token":8,"total":100,"idle":1800,"lifetime":43200}},
  // with times in seconds.
  nlohmann::ordered_json Get() const;

  struct Change {
    std::string setting;  // of the configuration: "execution.queue"
    std::string value;    // as shown by `belljar config`
  };
  // `patch` has some of the members of Get. Either all of it is applied or nothing; a value that is
  // already set is no change. An error is a sentence for the client.
  core::Result<std::vector<Change>> Set(const nlohmann::json& patch);

 private:
  ServerConfig Current() const;

  const ServerConfig config_;
  CallQueue& queue_;
  SessionRegistry& sessions_;
  std::mutex changing_;
};

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_LIVE_LIMITS_H_
