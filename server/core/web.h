// Web: the interface between HTTP and handlers of APIs other than MCP. A handler names its routes;
// the transport checks host, origin, token, rate, method, media type and length, using only the
// head, and passes the rest with a reply object. The transport does not interpret bodies, and a
// handler does not know the socket.
//
//   const std::vector<WebRoute> kRoutes = {{WebMethod::kGet, "/v1/executions/{id}"}, …};
//   void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
//     reply->Finish({200, "application/json", Read(request.parameters[0])});
//   }
#ifndef BELLJAR_SERVER_CORE_WEB_H_
#define BELLJAR_SERVER_CORE_WEB_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "server/core/caller.h"
#include "server/core/cancellation.h"

namespace belljar::server {

enum class WebMethod { kGet, kPost, kPut, kPatch, kDelete };
std::string_view NameOf(WebMethod method);

struct WebRoute {
  enum class Body { kNone, kJson, kBytes };
  // How a caller sends its token.
  enum class Login {
    kDefault,    // as Bearer, or as the password of Basic
    kAuthToken,  // also in the header X-Auth-Token, as clients of Judge0 do
    kBrowser,    // likewise, and a browser is told to prompt for the password
  };
  WebMethod method = WebMethod::kGet;  // kGet also answers HEAD, without the body
  // Segments are literal, "{name}" (one segment, not empty) or, last, "{name*}" (one or more).
  // Static storage.
  std::string_view pattern;
  // kJson requires that Content-Type; an empty body passes, without one.
  Body body = Body::kNone;
  std::optional<core::Bytes> max_body;  // nullopt: HttpConfig::max_body
  Login login = Login::kDefault;
};

// Headers of a request, as sent; nullopt: absent.
struct WebHeaders {
  std::optional<std::string> idempotency_key;
  std::optional<std::string> if_none_match;
  std::optional<std::string> if_range;
  std::optional<std::string> last_event_id;
  std::optional<std::string> range;
  std::optional<std::string> traceparent;
  std::string accept;  // all lines, joined by commas
  std::string prefer;
};

struct WebRequest {
  // What the placeholders of the pattern matched, in order, percent-decoded: UTF-8 without control
  // characters. Otherwise arbitrary: "..", "/" and "%" may occur.
  std::vector<std::string> parameters;
  std::string query;  // after "?", as sent
  WebHeaders headers;
  std::string body;
  Caller caller;
  // Cancelled by the transport once the client can no longer be answered. Never null.
  std::shared_ptr<Cancellation> peer_gone = std::make_shared<Cancellation>();
};

struct WebAnswer {
  unsigned status = 200;
  std::string type = "application/json";  // empty: no body
  std::string body;
  std::string headers;  // additional complete lines, each with its CRLF; never bytes from a client
};

// Answers one request: Finish alone, or Begin, any number of Writes, and End. Callable from any
// thread, also after the connection has closed. If it is destroyed before its end, the client is
// told that the reply was abandoned.
class WebReply {
 public:
  virtual ~WebReply() = default;
  // Exactly once.
  virtual void Finish(WebAnswer answer) = 0;

  // Begins a stream; `head.body` is its first piece.
  virtual void Begin(WebAnswer head) = 0;
  virtual void Write(std::string piece) = 0;
  virtual void End() = 0;
  // Blocks while more than `bytes` of the written data wait for the client. Returns false if the
  // client is gone, or reads nothing until `deadline`.
  virtual bool AwaitRoom(size_t bytes, std::chrono::steady_clock::time_point deadline) = 0;
};

class WebHandler {
 public:
  virtual ~WebHandler() = default;
  // Constant.
  virtual const std::vector<WebRoute>& routes() const = 0;
  // `route`: index into routes(). Does not block; any thread.
  virtual void Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) = 0;
};

// Percent-decodes text of a URL (RFC 3986, 2.1). nullopt: malformed, or the result is not UTF-8 or
// contains control characters.
std::optional<std::string> DecodeUrlText(std::string_view text);

using WebParameters = std::vector<std::pair<std::string, std::string>>;
// "a=1&b=two+words". An error names the part; a name may occur once.
core::Result<WebParameters> ParseQuery(std::string_view query);

// Whether a header's list of items, "a, b;q=0.5", has this one; parameters and
// case do not count. `item` is in lower case.
bool HasItem(std::string_view list, std::string_view item);

// A line of WebAnswer::headers.
std::string RetryAfter(std::chrono::seconds wait);

// Problem details (RFC 9457): {"type":"about:blank","title":…,"status":…,"detail":…}. The title is
// the reason phrase of the status.
WebAnswer Problem(unsigned status, std::string_view detail, std::string headers = {});

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_WEB_H_
