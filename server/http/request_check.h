// Decides what to do with a request, from its head alone. Pure functions, so they can be tested and
// fuzzed without a socket; any thread.
#ifndef BELLJAR_SERVER_HTTP_REQUEST_CHECK_H_
#define BELLJAR_SERVER_HTTP_REQUEST_CHECK_H_

#include <boost/beast/http/message.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/http1/request_reader.h"
#include "server/core/exchange.h"
#include "server/http/host_check.h"
#include "server/http/router.h"
#include "server/http/tokens.h"

namespace belljar::server::http {

// The resources. Paths of web handlers are kWeb, others kNothing.
enum class Resource { kNothing, kMcp, kHealth, kReady, kMetrics, kWeb };
// Never kWeb: only a router knows those.
Resource ResourceAt(std::string_view target);
// "/mcp"; "other" for kNothing and kWeb: arbitrary client input must not get into a log.
std::string_view PathOf(Resource resource);

struct Verdict {
  enum class Action {
    kRefuse,           // with `refusal`
    kMessage,          // POST /mcp: the body is a message
    kEndConversation,  // DELETE /mcp
    kPreflight,        // OPTIONS from an allowed origin, for the methods `allow`
    kMonitor,          // GET or HEAD for a resource of monitoring
    kWeb,              // for `route`
  };
  Action action = Action::kRefuse;
  http1::Refusal refusal;
  Resource resource = Resource::kNothing;
  // The known path, or the pattern that it matches, for logs.
  std::string_view path = "other";
  std::optional<size_t> token;  // presented and valid
  // Complete header lines for any answer to this request: CORS.
  std::string answer_headers;
  std::string conversation;  // Mcp-Session-Id, or empty
  MessageHeaders headers;
  std::string allow;  // of kPreflight
  // Only for kWeb.
  std::optional<RouteMatch> route;
  WebHeaders web_headers;
  std::string query;
  // What the client accepts as an answer; never both false for kMessage.
  bool accepts_json = true;
  bool accepts_stream = true;
  // The client waits for "100 Continue" before it sends the body.
  bool expects_continue = false;
  // The end of this request is ambiguous, so the following bytes must not be parsed as another
  // request (RFC 9112, 6.3). Only with kRefuse.
  bool ends_in_doubt = false;
};

Verdict CheckRequest(const HostRules& hosts, const Tokens& tokens, const Router& router,
                     const boost::beast::http::request_header<>& head);

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_REQUEST_CHECK_H_
