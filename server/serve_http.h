// Runs the server over HTTP until it is asked to stop.
#ifndef BELLJAR_SERVER_SERVE_HTTP_H_
#define BELLJAR_SERVER_SERVE_HTTP_H_

#include <boost/asio/io_context.hpp>

#include "engine/core/result.h"
#include "server/core/config.h"
#include "server/serve.h"
#include "server/server.h"

namespace belljar::server {

// Runs until `stop_fd` is readable; running calls then have config.drain_timeout. An error: it
// cannot listen. `config.http` has a value.
core::Result<void> ServeHttp(boost::asio::io_context& io, Server& server,
                             const ServerConfig& config, int stop_fd, const TokenReload& reload);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_SERVE_HTTP_H_
