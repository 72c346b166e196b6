// For the rooms that serve and speak HTTP.
#ifndef BELLJAR_TOOLS_CMAKE_PRECOMPILED_NETWORK_H_
#define BELLJAR_TOOLS_CMAKE_PRECOMPILED_NETWORK_H_

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "tools/cmake/precompiled/json.h"

#endif  // BELLJAR_TOOLS_CMAKE_PRECOMPILED_NETWORK_H_
