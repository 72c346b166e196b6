#include "server/http/request_check.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <cstdlib>
#include <utility>

namespace belljar::server::http {
namespace {

namespace http = boost::beast::http;
using http::field;
using http::verb;

constexpr size_t kMaxConversation = 128;
constexpr size_t kMaxAccept = 4096;
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kStream = "text/event-stream";

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool Equal(std::string_view a, std::string_view b) {
  return boost::beast::iequals({a.data(), a.size()}, {b.data(), b.size()});
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Removes and returns the part of `rest` before `separator`.
std::string_view NextPart(std::string_view& rest, char separator) {
  const size_t end = rest.find(separator);
  std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return Trim(part);
}

// The relevant headers, collected in one pass.
struct KnownHeaders {
  std::optional<std::string_view> host, origin, authorization, content_type, content_encoding,
      transfer_encoding, content_length, expect, preflight_method, if_none_match, if_range, range;
  std::optional<std::string_view> session, version, method, name;
  std::optional<std::string_view> auth_token, idempotency_key, last_event_id, traceparent;
  std::string accept, prefer;  // all lines combined
  bool has_accept = false, has_prefer = false;
  std::string_view repeated;  // the name of a duplicate header that must be unique
};

std::optional<std::string_view>* Slot(KnownHeaders& known, field name, std::string_view text) {
  switch (name) {
    case field::host: return &known.host;
    case field::origin: return &known.origin;
    case field::authorization: return &known.authorization;
    case field::content_type: return &known.content_type;
    case field::content_encoding: return &known.content_encoding;
    case field::transfer_encoding: return &known.transfer_encoding;
    case field::content_length: return &known.content_length;
    case field::expect: return &known.expect;
    case field::access_control_request_method: return &known.preflight_method;
    case field::if_none_match: return &known.if_none_match;
    case field::if_range: return &known.if_range;
    case field::range: return &known.range;
    case field::unknown: break;
    default: return nullptr;
  }
  if (Equal(text, "Mcp-Session-Id")) return &known.session;
  if (Equal(text, "MCP-Protocol-Version")) return &known.version;
  if (Equal(text, "Mcp-Method")) return &known.method;
  if (Equal(text, "Mcp-Name")) return &known.name;
  if (Equal(text, "X-Auth-Token")) return &known.auth_token;
  if (Equal(text, "Idempotency-Key")) return &known.idempotency_key;
  if (Equal(text, "Last-Event-ID")) return &known.last_event_id;
  if (Equal(text, "traceparent")) return &known.traceparent;
  return nullptr;
}

void Combine(std::string& lines, bool& has_lines, std::string_view line) {
  if (has_lines) lines += ",";
  lines += line;
  has_lines = true;
}

KnownHeaders Collect(const http::request_header<>& head) {
  KnownHeaders known;
  for (const auto& line : head) {
    if (line.name() == field::accept) {
      Combine(known.accept, known.has_accept, View(line.value()));
      continue;
    }
    if (line.name() == field::prefer) {
      Combine(known.prefer, known.has_prefer, View(line.value()));
      continue;
    }
    auto* slot = Slot(known, line.name(), View(line.name_string()));
    if (slot == nullptr) continue;
    if (*slot) known.repeated = View(line.name_string());
    *slot = View(line.value());
  }
  return known;
}

// Whether a media range matches `type`: "*/*", "text/*", "text/event-stream".
bool RangeTakes(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == "*" || Equal(range, type)) return true;
  return range.ends_with("/*") &&
         Equal(range.substr(0, range.size() - 1), type.substr(0, type.find('/') + 1));
}

// "q=0" excludes the range.
bool HasZeroWeight(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = NextPart(parameters, ';');
    if (parameter.size() < 2 || !Equal(parameter.substr(0, 2), "q=")) continue;
    std::string_view weight = parameter.substr(2);
    return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

bool Accepts(const KnownHeaders& known, std::string_view type) {
  if (!known.has_accept || Trim(known.accept).empty()) return true;
  std::string_view rest = known.accept;
  bool accepted = false;
  while (!rest.empty()) {
    std::string_view parameters = NextPart(rest, ',');
    std::string_view range = NextPart(parameters, ';');
    if (!RangeTakes(range, type)) continue;
    const bool zero = HasZeroWeight(parameters);
    // An exact type takes precedence over a wildcard.
    if (Equal(range, type)) return !zero;
    accepted = accepted || !zero;
  }
  return accepted;
}

bool IsConversation(std::string_view text) {
  return !text.empty() && text.size() <= kMaxConversation &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::optional<std::string> Copy(const std::optional<std::string_view>& text) {
  if (!text) return std::nullopt;
  return std::string(*text);
}

using MaybeRefusal = std::optional<http1::Refusal>;

http1::Refusal Refuse(unsigned status, std::string message, std::string headers = {}) {
  return {status, std::move(message), std::move(headers)};
}

// Checks what proxies and servers must interpret identically (request smuggling).
MaybeRefusal CheckForm(const http::request_header<>& head, const KnownHeaders& known) {
  if (!known.repeated.empty()) {
    return Refuse(
        400,
        "duplicate header; send Host, Authorization, X-Auth-Token, Origin, Content-Type, the "
        "lengths, conditions, Idempotency-Key, traceparent and each Mcp header once");
  }
  if (known.transfer_encoding) {
    if (!Equal(*known.transfer_encoding, "chunked") || head.version() < 11) {
      return Refuse(400, "the only supported Transfer-Encoding is chunked, in HTTP/1.1");
    }
    if (known.content_length) {
      return Refuse(400, "send Content-Length or Transfer-Encoding, not both");
    }
  }
  if (known.content_length &&
      known.content_length->find_first_not_of("0123456789") != std::string_view::npos) {
    return Refuse(400, "Content-Length must be a single number");
  }
  if (head.version() >= 11 && !known.host) return Refuse(400, "HTTP/1.1 requires a Host header");
  return std::nullopt;
}

MaybeRefusal CheckPeer(const HostRules& hosts, const KnownHeaders& known, Verdict& verdict) {
  // HTTP/1.0 has no Host header, and no browser uses it.
  if (known.host && !hosts.AllowsHost(*known.host)) {
    return Refuse(
        403,
        "this server does not accept that Host: use localhost or the server's address, or ask "
        "the operator to add the name to allowed_hosts");
  }
  if (!known.origin) return std::nullopt;
  switch (hosts.CheckOrigin(*known.origin)) {
    case HostRules::Origin::kRefused:
      return Refuse(403,
                    "pages from that Origin may not call this server: ask the operator to add the "
                    "origin to allowed_origins");
    case HostRules::Origin::kAllowed: break;
    case HostRules::Origin::kNamed:
      verdict.answer_headers = "Access-Control-Allow-Origin: " + std::string(*known.origin) +
                               "\r\nVary: Origin\r\nAccess-Control-Expose-Headers: "
                               "Content-Range, ETag, Link, Location, Mcp-Session-Id, RateLimit, "
                               "RateLimit-Policy, Retry-After, WWW-Authenticate\r\n";
      break;
  }
  return std::nullopt;
}

MaybeRefusal CheckToken(const Tokens& tokens, const KnownHeaders& known, Verdict& verdict,
                        WebRoute::Login login = WebRoute::Login::kDefault) {
  if (tokens.empty()) return std::nullopt;
  const bool takes_both = login == WebRoute::Login::kAuthToken;
  const Tokens::Presented presented =
      tokens.Check(known.authorization, takes_both ? known.auth_token : std::nullopt);
  verdict.token = presented.token;
  if (presented.token) return std::nullopt;
  if (presented.is_ambiguous) {
    return Refuse(401, "Authorization and X-Auth-Token name different tokens: send one of them",
                  "WWW-Authenticate: Bearer realm=\"belljar\", error=\"invalid_request\"\r\n");
  }
  if (login == WebRoute::Login::kBrowser) {
    return Refuse(401,
                  "a token from the operator of this server is required: as the password, with any "
                  "name of a user",
                  "WWW-Authenticate: Basic realm=\"belljar: a token is the password\"\r\n");
  }
  if (presented.was_sent) {
    return Refuse(401, "invalid bearer token: ask the operator of this server for one",
                  "WWW-Authenticate: Bearer realm=\"belljar\", error=\"invalid_token\"\r\n");
  }
  return Refuse(
      401, "a token from the operator of this server is required: send Authorization: Bearer TOKEN",
      "WWW-Authenticate: Bearer realm=\"belljar\"\r\n");
}

MaybeRefusal CheckJson(const KnownHeaders& known) {
  if (!known.content_type) return Refuse(415, "send Content-Type: application/json");
  std::string_view type = *known.content_type;
  if (!Equal(NextPart(type, ';'), kJson)) {
    return Refuse(415, "the Content-Type of this request must be application/json");
  }
  return std::nullopt;
}

MaybeRefusal CheckEncoding(const KnownHeaders& known) {
  if (!known.content_encoding || Equal(*known.content_encoding, "identity")) return std::nullopt;
  return Refuse(415, "send the body without Content-Encoding");
}

MaybeRefusal CheckMessage(const KnownHeaders& known, Verdict& verdict) {
  if (auto refusal = CheckJson(known)) return refusal;
  if (auto refusal = CheckEncoding(known)) return refusal;
  verdict.accepts_json = Accepts(known, kJson);
  verdict.accepts_stream = Accepts(known, kStream);
  if (!verdict.accepts_json && !verdict.accepts_stream) {
    return Refuse(406, "the client must accept: Accept: application/json, text/event-stream");
  }
  return std::nullopt;
}

http1::Refusal NotAllowed(std::string_view allow) {
  return Refuse(405, "method not allowed for this path: use " + std::string(allow),
                "Allow: " + std::string(allow) + "\r\n");
}

MaybeRefusal CheckMcp(const Tokens& tokens, verb method, const KnownHeaders& known,
                      Verdict& verdict) {
  // Browsers send the preflight request without a token.
  if (method == verb::options && known.preflight_method && !verdict.answer_headers.empty()) {
    verdict.action = Verdict::Action::kPreflight;
    verdict.allow = "POST, DELETE";
    return std::nullopt;
  }
  if (auto refusal = CheckToken(tokens, known, verdict)) return refusal;
  if (method != verb::post && (method != verb::delete_ || !known.session)) {
    return NotAllowed(method == verb::delete_ ? "POST" : "POST, DELETE");
  }
  if (known.session && !IsConversation(*known.session)) {
    return Refuse(400, "Mcp-Session-Id must be 1 to 128 visible ASCII characters");
  }
  verdict.conversation = known.session.value_or("");
  if (method == verb::delete_) {
    verdict.action = Verdict::Action::kEndConversation;
    return std::nullopt;
  }
  verdict.headers = {Copy(known.version), Copy(known.method), Copy(known.name),
                     Copy(known.traceparent)};
  verdict.action = Verdict::Action::kMessage;
  return CheckMessage(known, verdict);
}

MaybeRefusal CheckMonitor(const HostRules& hosts, const Tokens& tokens, verb method,
                          const KnownHeaders& known, Verdict& verdict) {
  // Health probes may use any Host, since the answer is only one word.
  if (verdict.resource == Resource::kMetrics) {
    if (auto refusal = CheckPeer(hosts, known, verdict)) return refusal;
    if (auto refusal = CheckToken(tokens, known, verdict)) return refusal;
  }
  if (method != verb::get && method != verb::head) return NotAllowed("GET, HEAD");
  verdict.action = Verdict::Action::kMonitor;
  return std::nullopt;
}

MaybeRefusal CheckWeb(const Tokens& tokens, const http::request_header<>& head,
                      const KnownHeaders& known, Router::Found& found, Verdict& verdict) {
  if (head.method() == verb::options && known.preflight_method && !verdict.answer_headers.empty()) {
    verdict.action = Verdict::Action::kPreflight;
    verdict.allow = std::move(found.allow);
    return std::nullopt;
  }
  // What exists here is only revealed to those who may know it.
  if (auto refusal = CheckToken(tokens, known, verdict, found.login)) return refusal;
  if (!found.match) return NotAllowed(found.allow);
  if (auto refusal = CheckEncoding(known)) return refusal;
  const bool has_body = known.transfer_encoding || known.content_length.value_or("0") != "0";
  if (has_body && found.match->route().body == WebRoute::Body::kJson) {
    if (auto refusal = CheckJson(known)) return refusal;
  }
  verdict.web_headers = {Copy(known.idempotency_key),
                         Copy(known.if_none_match),
                         Copy(known.if_range),
                         Copy(known.last_event_id),
                         Copy(known.range),
                         Copy(known.traceparent),
                         known.accept,
                         known.prefer};
  const std::string_view target = View(head.target());
  verdict.query = target.substr(std::min(target.find('?'), target.size() - 1) + 1);
  verdict.route = std::move(found.match);
  verdict.action = Verdict::Action::kWeb;
  return std::nullopt;
}

MaybeRefusal Check(const HostRules& hosts, const Tokens& tokens, const Router& router,
                   const http::request_header<>& head, Verdict& verdict) {
  const KnownHeaders known = Collect(head);
  verdict.expects_continue = known.expect && head.version() >= 11;
  if (known.accept.size() > kMaxAccept || known.prefer.size() > kMaxAccept) {
    return Refuse(400, "the Accept or Prefer header is too long");
  }
  if (auto refusal = CheckForm(head, known)) {
    verdict.ends_in_doubt = true;
    return refusal;
  }
  if (verdict.expects_continue && !Equal(*known.expect, "100-continue")) {
    return Refuse(417, "the only supported Expect is 100-continue");
  }
  const std::string_view target = View(head.target());
  verdict.resource = ResourceAt(target);
  verdict.path = PathOf(verdict.resource);
  if (verdict.resource == Resource::kNothing) {
    Router::Found found = router.Find(head.method(), target.substr(0, target.find('?')));
    if (!found.pattern.empty()) {
      verdict.resource = Resource::kWeb;
      verdict.path = found.pattern;
      if (auto refusal = CheckPeer(hosts, known, verdict)) return refusal;
      return CheckWeb(tokens, head, known, found, verdict);
    }
  }
  switch (verdict.resource) {
    case Resource::kWeb:
    case Resource::kNothing: return Refuse(404, "not found: MCP messages go to POST /mcp");
    case Resource::kMcp:
      if (auto refusal = CheckPeer(hosts, known, verdict)) return refusal;
      return CheckMcp(tokens, head.method(), known, verdict);
    case Resource::kHealth:
    case Resource::kReady:
    case Resource::kMetrics: return CheckMonitor(hosts, tokens, head.method(), known, verdict);
  }
  std::abort();
}

}  // namespace

Resource ResourceAt(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  for (Resource resource :
       {Resource::kMcp, Resource::kHealth, Resource::kReady, Resource::kMetrics}) {
    if (path == PathOf(resource)) return resource;
  }
  return Resource::kNothing;
}

std::string_view PathOf(Resource resource) {
  switch (resource) {
    case Resource::kMcp: return "/mcp";
    case Resource::kHealth: return "/healthz";
    case Resource::kReady: return "/readyz";
    case Resource::kMetrics: return "/metrics";
    case Resource::kWeb:
    case Resource::kNothing: break;
  }
  return "other";
}

Verdict CheckRequest(const HostRules& hosts, const Tokens& tokens, const Router& router,
                     const http::request_header<>& head) {
  Verdict verdict;
  if (MaybeRefusal refusal = Check(hosts, tokens, router, head, verdict)) {
    verdict.action = Verdict::Action::kRefuse;
    verdict.refusal = std::move(*refusal);
  }
  return verdict;
}

}  // namespace belljar::server::http
