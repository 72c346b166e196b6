// Parses a guest's HTTP request to the egress proxy and builds what is sent to the target. CONNECT
// host:port requests a tunnel. A request with an absolute URL ("GET http://host/path") is rebuilt
// from its parsed parts, so that nothing is passed on that two parsers might interpret differently.
#ifndef BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_
#define BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_

#include <boost/beast/http/message.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "engine/egress/host_name.h"

namespace belljar::egress {

struct HttpProxyRequest {
  bool tunnel = false;  // CONNECT
  std::string host;     // as written by the guest, unchecked
  uint16_t port = 0;
  // For a request to be forwarded: its head as sent to the target, and its body.
  std::string head;
  bool chunked = false;
  uint64_t length = 0;  // of the body, if it is not chunked
};

// Why the egress proxy rejects a well-formed request.
struct HttpRejection {
  unsigned status = 400;
  std::string text;
};

// `head` is well-formed, as ensured by RequestReader.
std::variant<HttpProxyRequest, HttpRejection> ReadHttpProxyRequest(
    const boost::beast::http::request_header<>& head);

// The egress proxy's own response: a reason phrase for clients that only show that, and the same as
// text. It ends the connection. `reason` is printable ASCII.
std::string HttpAnswer(unsigned status, std::string_view reason);

inline constexpr char kTunnelIsOpen[] = "HTTP/1.1 200 Connection established\r\n\r\n";

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_HTTP_PROXY_REQUEST_H_
