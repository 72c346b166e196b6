// What a guest asks of the egress proxy in HTTP, and what of it goes on to the target. CONNECT
// host:port asks for a tunnel; a request with a whole URL ("GET http://host/path") is made again
// from what was understood of it, so that what two readers might understand differently is not
// passed on.
#ifndef BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_
#define BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_

#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "engine/egress/host_name.h"

namespace belljar::egress {

struct HttpProxyRequest {
  bool tunnel = false;  // CONNECT
  std::string host;     // as the guest wrote it, unjudged
  uint16_t port = 0;
  // Of a request to be forwarded: its head as the target gets it, and what follows.
  std::string head;
  bool chunked = false;
  uint64_t length = 0;  // of the body, where it is not chunked
};

// Why the egress proxy does not do what a well-formed request asks for.
struct HttpRejection {
  unsigned status = 400;
  std::string text;
};

// `head` is well-formed, as RequestReader sees to.
std::variant<HttpProxyRequest, HttpRejection> ReadHttpProxyRequest(
    const boost::beast::http::request_header<>& head);

// The egress proxy's own answer: a reason for those who only show that, and the same as a text. The
// connection ends with it. `reason` is printable ASCII.
std::string HttpAnswer(unsigned status, std::string_view reason);

inline constexpr char kTunnelIsOpen[] = "HTTP/1.1 200 Connection established\r\n\r\n";

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_
