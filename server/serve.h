// Serve: runs one server from a configuration until it is stopped. Wires together transports,
// protocol, tools, log and metrics.
#ifndef BELLJAR_SERVER_SERVE_H_
#define BELLJAR_SERVER_SERVE_H_

#include <functional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/profiles/profile_catalogue.h"
#include "server/core/config.h"

namespace belljar::server {

// What SIGHUP asks for: the tokens as they are configured now. Over stdio there are none.
struct TokenReload {
  int fd = -1;  // readable when asked; -1: never
  struct Loaded {
    std::vector<TokenConfig> tokens;
    std::vector<std::string> warnings;
  };
  // An error is the operator's. On the thread that serves; blocks it.
  std::function<core::Result<Loaded>()> load;
};

// Blocks until `stop_fd` is readable or, over stdio, until the client has gone. Then new calls are
// refused, and running calls get config.drain_timeout to finish before they are cancelled. An error
// means that the server did not start.
core::Result<void> Serve(const ServerConfig& config, const profiles::ProfileCatalogue& catalogue,
                         int stop_fd, const TokenReload& reload = {});

// The JSON Schemas of the tools' full answers, as one object: by tool.
std::string FullAnswerSchemas();

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_SERVE_H_
