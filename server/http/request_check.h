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
#include "server/http/tokens.h"

namespace belljar::server::http {

// The resources. Other paths are kNothing.
enum class Resource { kNothing, kMcp, kHealth, kReady, kMetrics };
Resource ResourceAt(std::string_view target);
// "/mcp"; "other" for kNothing: arbitrary client input must not get into a log.
std::string_view PathOf(Resource resource);

struct Verdict {
  enum class Action {
    kRefuse,           // with `refusal`
    kMessage,          // POST /mcp: the body is a message
    kEndConversation,  // DELETE /mcp
    kPreflight,        // OPTIONS /mcp from an allowed origin
    kMonitor,          // GET or HEAD for another resource
  };
  Action action = Action::kRefuse;
  http1::Refusal refusal;
  Resource resource = Resource::kNothing;
  std::optional<size_t> token;  // presented and valid
  // Complete header lines for any answer to this request: CORS.
  std::string answer_headers;
  std::string conversation;  // Mcp-Session-Id, or empty
  MessageHeaders headers;
  // What the client accepts as an answer; never both false for kMessage.
  bool accepts_json = true;
  bool accepts_stream = true;
  // The client waits for "100 Continue" before it sends the body.
  bool expects_continue = false;
  // The end of this request is ambiguous, so the following bytes must not be parsed as another
  // request (RFC 9112, 6.3). Only with kRefuse.
  bool ends_in_doubt = false;
};

Verdict CheckRequest(const HostRules& hosts, const Tokens& tokens,
                     const boost::beast::http::request_header<>& head);

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_REQUEST_CHECK_H_
