#include "engine/egress/http_proxy_request.h"

#include <algorithm>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/number.h"

namespace belljar::egress {
namespace {

namespace http = boost::beast::http;
using http::field;

constexpr std::string_view kScheme = "http://";
constexpr uint16_t kDefaultPort = 80;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

HttpRejection Malformed(std::string text) { return {400, std::move(text)}; }

// Fields of a connection, not of the request (RFC 9110, 7.6.1), or for the proxy itself.
bool IsHopByHop(const std::string& name, const std::vector<std::string>& listed) {
  static const std::vector<std::string> kNames = {"connection",        "keep-alive", "te",
                                                  "transfer-encoding", "trailer",    "upgrade",
                                                  "http2-settings"};
  const auto is_in = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return name.starts_with("proxy-") || is_in(kNames) || is_in(listed);
}

std::vector<std::string> ListedInConnection(const http::request_header<>& head) {
  std::vector<std::string> names;
  const auto [first, last] = head.equal_range(field::connection);
  for (auto line = first; line != last; ++line) {
    for (const auto& token : http::token_list(line->value())) names.push_back(Lower(View(token)));
  }
  return names;
}

// How the body is delimited: in one way, or not at all.
std::optional<HttpRejection> ReadFraming(const http::request_header<>& head,
                                         HttpProxyRequest& request) {
  const auto codings = head.count(field::transfer_encoding);
  const auto lengths = head.count(field::content_length);
  if (codings + lengths > 1) return Malformed("more than one body length");
  if (codings == 1) {
    if (head.version() < 11 || Lower(View(head[field::transfer_encoding])) != "chunked") {
      return Malformed("a Transfer-Encoding other than chunked");
    }
    request.chunked = true;
  }
  if (lengths == 1) {
    const auto length = host::NumberFrom<uint64_t>(View(head[field::content_length]));
    if (!length) return Malformed("an invalid Content-Length");
    request.length = *length;
  }
  return std::nullopt;
}

std::optional<HttpRejection> ReadTunnel(const http::request_header<>& head,
                                        HttpProxyRequest& request) {
  const std::optional<Authority> authority = SplitAuthority(View(head.target()));
  const std::optional<uint16_t> port =
      authority && authority->port ? ParsePort(*authority->port) : std::nullopt;
  if (!port) return Malformed("CONNECT takes host:port");
  if (request.chunked || request.length > 0) return Malformed("CONNECT has no body");
  request.tunnel = true;
  request.host = authority->host;
  request.port = *port;
  return std::nullopt;
}

// The head as sent to the target. Its Host is the one that was checked, whatever the guest wrote.
std::string ForwardedHead(const http::request_header<>& head, const HttpProxyRequest& request,
                          std::string_view authority, std::string_view path) {
  std::string text(View(head.method_string()));
  text += ' ';
  if (!path.starts_with('/')) text += '/';
  text.append(path).append(head.version() == 10 ? " HTTP/1.0" : " HTTP/1.1");
  text.append("\r\nHost: ").append(authority).append("\r\n");
  const std::vector<std::string> listed = ListedInConnection(head);
  for (const auto& line : head) {
    const std::string name = Lower(View(line.name_string()));
    if (name == "host" || name == "content-length" || IsHopByHop(name, listed)) continue;
    text.append(View(line.name_string())).append(": ").append(View(line.value())).append("\r\n");
  }
  if (request.chunked) {
    text += "Transfer-Encoding: chunked\r\n";
  } else if (head.count(field::content_length) > 0) {
    text += "Content-Length: " + std::to_string(request.length) + "\r\n";
  }
  return text + "Connection: close\r\n\r\n";
}

std::optional<HttpRejection> ReadForward(const http::request_header<>& head,
                                         HttpProxyRequest& request) {
  std::string_view target = View(head.target());
  if (Lower(target.substr(0, kScheme.size())) != kScheme) {
    return Malformed(
        "this is a proxy: request an absolute URL that begins with http://, or CONNECT host:port");
  }
  target.remove_prefix(kScheme.size());
  const size_t end = std::min(target.find_first_of("/?#"), target.size());
  const std::string_view written = target.substr(0, end);
  const std::string_view path = target.substr(end);
  if (path.find('#') != path.npos) return Malformed("a fragment in the URL");
  const std::optional<Authority> authority = SplitAuthority(written);
  if (!authority || written.find('@') != written.npos) {
    return Malformed("a URL without a valid host and port");
  }
  const std::optional<uint16_t> port =
      authority->port && !authority->port->empty() ? ParsePort(*authority->port) : kDefaultPort;
  if (!port) return Malformed("a URL whose port is not from 1 to 65535");
  request.host = authority->host;
  request.port = *port;
  const std::optional<HostName> host = HostName::Parse(request.host);
  if (!host) return std::nullopt;  // refused later by the check of all hosts
  const std::string name = Bracketed(*host);
  request.head = ForwardedHead(
      head, request,
      request.port == kDefaultPort ? name : name + ":" + std::to_string(request.port), path);
  return std::nullopt;
}

}  // namespace

std::variant<HttpProxyRequest, HttpRejection> ReadHttpProxyRequest(
    const http::request_header<>& head) {
  HttpProxyRequest request;
  if (head.version() != 11 && head.version() != 10) return Malformed("a version other than HTTP/1");
  if (!IsPrintableAscii(View(head.target()))) return Malformed("a URL that is not printable ASCII");
  if (head.count(field::host) > 1) return Malformed("more than one Host");
  if (auto rejection = ReadFraming(head, request)) return *rejection;
  const bool connect = head.method() == http::verb::connect;
  if (auto rejection = connect ? ReadTunnel(head, request) : ReadForward(head, request))
    return *rejection;
  return request;
}

// RFC 9209. Lets the libraries inside (policy/belljar_policy/library/proxy_status.py) see that the
// response comes from the proxy rather than the target.
constexpr char kProxyStatus[] = "Proxy-Status: belljar; error=http_request_denied";

std::string HttpAnswer(unsigned status, std::string_view reason) {
  const std::string body = "belljar: " + std::string(reason) + "\n";
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n" + kProxyStatus +
         "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

}  // namespace belljar::egress
