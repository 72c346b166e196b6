// LiveLimits: the limits that an operator can change while the server runs. They are lost with it:
// the configuration has those of the next start.
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
  // `queue` and `sessions` were made with `config`, and are borrowed.
  LiveLimits(const ServerConfig& config, CallQueue& queue, SessionRegistry& sessions);

  // {"running":4,"waiting":64,"sessions":{"per_token":8,"total":100,"idle":1800,"lifetime":43200}},
  // with times in seconds.
  nlohmann::ordered_json Get() const;

  struct Change {
    std::string setting;  // of the configuration: "execution.queue"
    std::string value;    // as `belljar config` shows it
  };
  // `patch` has some of the members of Get. All of it is applied or nothing; what is already so is
  // no change. An error is a sentence for the client.
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
