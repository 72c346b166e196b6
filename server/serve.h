// Serve: one server from a configuration, until it is told to stop. The place where transports, the
// protocol, the tools and the books are wired together.
#ifndef BELLJAR_SERVER_SERVE_H_
#define BELLJAR_SERVER_SERVE_H_

#include "engine/core/result.h"
#include "engine/outside/profile_catalogue.h"
#include "server/core/config.h"

namespace belljar::server {

// Blocks until `stop_fd` is readable or, over stdio, until the client has gone. Then no new call is
// taken, and those that run get config.drain_timeout to end before they are cancelled. An error is
// one of starting: nothing has been served.
core::Result<void> Serve(const ServerConfig& config, const outside::ProfileCatalogue& catalogue,
                         int stop_fd);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_SERVE_H_
