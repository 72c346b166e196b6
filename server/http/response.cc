#include "server/http/response.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <ctime>
#include <iterator>
#include <utility>

namespace belljar::server::http {
namespace {

constexpr std::string_view kJsonType = "application/json";
// Prevents buffering: some proxies, and compression, hold a stream back until it is complete.
constexpr std::string_view kStreamHeaders =
    "Content-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
    "X-Accel-Buffering: no\r\n";

// From this size on, texts are moved into a piece of their own.
constexpr size_t kLongText = 16 << 10;

unsigned StatusOf(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::kResult: return 200;
    // A cancelled request gets no answer, but its HTTP request must end; clients treat 202 as
    // "nothing to read".
    case Answer::Kind::kAccepted:
    case Answer::Kind::kWithdrawn: return 202;
    case Answer::Kind::kBadRequest: return 400;
    case Answer::Kind::kUnknownMethod:
    case Answer::Kind::kUnknownConversation: return 404;
  }
  return 500;
}

// Guards against header injection: rejects anything that could end the line.
bool IsHeaderValue(std::string_view text) {
  for (char c : text) {
    if (c < ' ' || c >= 0x7f) return false;
  }
  return true;
}

std::string HeadersOf(const Answer& answer) {
  std::string headers;
  if (answer.retry_after) {
    headers += "Retry-After: " + std::to_string(answer.retry_after->count()) + "\r\n";
  }
  if (!answer.conversation.empty() && IsHeaderValue(answer.conversation)) {
    headers += "Mcp-Session-Id: " + answer.conversation + "\r\n";
  }
  return headers;
}

template <typename... Text>
std::string Join(const Text&... parts) {
  std::string joined;
  joined.reserve((std::string_view(parts).size() + ...));
  (joined.append(std::string_view(parts)), ...);
  return joined;
}

// U+0085, U+2028 and U+2029 as JSON escapes them. They do not end a line of an event stream, but
// many clients believe so (httpx-sse before 0.4.2, and with it the official MCP Python SDK), and
// guests may print them. In JSON they occur only in strings.
std::string EscapeLineEnds(std::string text) {
  std::string escaped;
  size_t done = 0;
  const std::string_view all = text;
  const auto escape = [&](size_t at, size_t size, std::string_view as) {
    escaped.append(all, done, at - done).append(as);
    done = at + size;
  };
  for (size_t at = all.find_first_of("\xc2\xe2"); at != std::string_view::npos;
       at = all.find_first_of("\xc2\xe2", at + 1)) {
    const std::string_view rest = all.substr(at, 3);
    if (rest.starts_with("\xc2\x85")) escape(at, 2, "\\u0085");
    if (rest == "\xe2\x80\xa8") escape(at, 3, "\\u2028");
    if (rest == "\xe2\x80\xa9") escape(at, 3, "\\u2029");
  }
  if (done == 0) return text;
  return escaped.append(all, done);
}

}  // namespace

Pieces MessageEvent(std::string text) {
  constexpr std::string_view kBegin = "event: message\ndata: ";
  constexpr std::string_view kEnd = "\n\n";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  text = EscapeLineEnds(std::move(text));
  if (text.size() < kLongText) return {Join(kBegin, text, kEnd)};
  Pieces pieces;
  pieces.emplace_back(kBegin);
  pieces.push_back(std::move(text));
  pieces.emplace_back(kEnd);
  return pieces;
}

std::string ErrorBody(std::string_view message) {
  std::string body = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":")";
  for (char c : message) {
    if (c == '"' || c == '\\') body += '\\';
    // Our messages are plain ASCII; this keeps the JSON valid if one is not.
    body += c >= ' ' && c < 0x7f ? c : '?';
  }
  body += "\"}}";
  return body;
}

std::string_view HttpDate() {
  static thread_local std::time_t made_at = -1;
  static thread_local std::array<char, 40> text{};
  static thread_local size_t length = 0;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    // The process always stays in the C locale, which has these names.
    length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    made_at = now;
  }
  return {text.data(), length};
}

std::string Response::Head(unsigned status, std::string_view headers) {
  status_ = status;
  std::string_view connection;
  if (!manner_.keep_alive) {
    connection = "Connection: close\r\n";
  } else if (manner_.http_1_0) {
    connection = "Connection: keep-alive\r\n";
  }
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  return Join("HTTP/1.1 ", std::to_string(status), " ",
              std::string_view(reason.data(), reason.size()),
              "\r\nServer: belljar\r\nDate: ", HttpDate(), "\r\n", connection,
              "X-Content-Type-Options: nosniff\r\n", manner_.headers, headers, "\r\n");
}

Pieces Response::Refused(const http1::Refusal& refusal) {
  if (manner_.is_web) {
    WebAnswer problem = Problem(refusal.status, refusal.message);
    return Whole(problem.status, problem.type, std::move(problem.body), refusal.headers);
  }
  return Whole(refusal.status, kJsonType, ErrorBody(refusal.message), refusal.headers);
}

Pieces Response::Whole(unsigned status, std::string_view type, std::string body,
                       std::string_view more_headers) {
  Pieces pieces;
  if (type.empty()) {
    // 204 must not announce a length (RFC 9110, 8.6).
    pieces.push_back(
        Head(status, Join(status == 204 ? "" : "Content-Length: 0\r\n", more_headers)));
    return pieces;
  }
  // The handler's own caching header takes precedence.
  const bool is_cacheable = more_headers.find("Cache-Control:") != std::string_view::npos;
  pieces.push_back(
      Head(status, Join("Content-Type: ", type, "\r\nContent-Length: ", std::to_string(body.size()),
                        is_cacheable ? "\r\n" : "\r\nCache-Control: no-store\r\n", more_headers)));
  if (!manner_.head_only && !body.empty()) pieces.push_back(std::move(body));
  return pieces;
}

// HTTP/1.0 has no chunked encoding: the stream ends with the connection.
void Response::AddChunk(Pieces& pieces, Pieces chunk) const {
  size_t size = 0;
  for (const std::string& piece : chunk) size += piece.size();
  if (size == 0) return;
  if (!manner_.http_1_0) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
    chunk.front().insert(0, "\r\n");
    chunk.front().insert(0, digits.data(), static_cast<size_t>(end - digits.data()));
    chunk.back() += "\r\n";
  }
  std::move(chunk.begin(), chunk.end(), std::back_inserter(pieces));
}

Pieces Response::Begin(const WebAnswer& head) {
  streaming_ = true;
  if (manner_.http_1_0) manner_.keep_alive = false;
  Pieces pieces;
  pieces.push_back(Head(
      head.status, Join("Content-Type: ", head.type,
                        "\r\nCache-Control: no-cache, no-transform\r\n"
                        "X-Accel-Buffering: no\r\n",
                        manner_.http_1_0 ? "" : "Transfer-Encoding: chunked\r\n", head.headers)));
  if (!manner_.head_only) AddChunk(pieces, {head.body});
  return pieces;
}

Pieces Response::Write(std::string piece) const {
  Pieces pieces;
  AddChunk(pieces, {std::move(piece)});
  return pieces;
}

Pieces Response::End() const {
  if (manner_.http_1_0) return {};
  return {"0\r\n\r\n"};
}

void Response::BeginStream(Pieces& pieces) {
  if (streaming_) return;
  streaming_ = true;
  if (manner_.http_1_0) manner_.keep_alive = false;
  pieces.push_back(
      Head(200, Join(kStreamHeaders, manner_.http_1_0 ? "" : "Transfer-Encoding: chunked\r\n")));
}

Pieces Response::Notification(std::string text) {
  Pieces pieces;
  if (!manner_.accepts_stream) return pieces;
  BeginStream(pieces);
  AddChunk(pieces, MessageEvent(std::move(text)));
  return pieces;
}

Pieces Response::Finish(Answer answer) {
  const unsigned status = StatusOf(answer.kind);
  const bool stream = streaming_ || (!manner_.accepts_json && status == 200);
  if (!stream) {
    const std::string headers = HeadersOf(answer);
    const std::string_view type = answer.text.empty() ? "" : kJsonType;
    return Whole(status, type, std::move(answer.text), headers);
  }
  Pieces pieces;
  if (!streaming_) manner_.headers += HeadersOf(answer);
  BeginStream(pieces);
  if (!answer.text.empty()) AddChunk(pieces, MessageEvent(std::move(answer.text)));
  Pieces end = End();
  std::move(end.begin(), end.end(), std::back_inserter(pieces));
  return pieces;
}

}  // namespace belljar::server::http
