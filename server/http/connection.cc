#include "server/http/connection.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/verb.hpp>
#include <utility>

namespace belljar::server::http {
namespace {

namespace asio = boost::asio;

constexpr size_t kReadSize = 4 << 10;
constexpr size_t kBodyReadSize = 64 << 10;
// Maximum number of bytes read ahead while a request is pending. Beyond it reading stops until the
// answer is sent, so a disconnect is not noticed either.
constexpr size_t kReadAhead = 64 << 10;
// A body that is not needed is read and discarded up to this size, to keep the connection open.
constexpr size_t kDiscardedBody = 64 << 10;
// Bodies up to this size are always accepted, so that clients with large bodies do not affect
// normal calls.
constexpr size_t kSmallBody = 64 << 10;
// Bytes of unsent notifications. Twice the maximum output limit of a guest.
constexpr size_t kMaxUnsent = 32 << 20;
// Closing at once would reset the connection while the client is still sending, and the client
// would lose the answer.
constexpr std::chrono::seconds kLinger{2};

std::string_view MethodOf(const boost::beast::http::request_header<>& head) {
  if (head.method() == boost::beast::http::verb::unknown) return "other";
  const auto name = boost::beast::http::to_string(head.method());
  return {name.data(), name.size()};
}

}  // namespace

Connection::Connection(std::shared_ptr<HttpService> service, asio::ip::tcp::socket socket,
                       std::string peer)
    : service_(std::move(service)),
      socket_(std::move(socket)),
      peer_(std::move(peer)),
      reader_(service_->config.max_header.count) {}

void Connection::Start() {
  deadline_ = Clock::now() + service_->config.header_timeout;
  Read();
}

void Connection::Reject() {
  state_ = State::kAnswering;
  RefuseBroken({503, "too many connections: try again later", "Retry-After: 1\r\n"});
}

void Connection::CloseIfIdle() {
  if (state_ == State::kHead && is_idle_) Close();
}

void Connection::CloseIfKept() {
  if (exchange_number_ > 0) CloseIfIdle();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (exchange_) {
    if (exchange_->peer_gone) exchange_->peer_gone->Cancel();
    if (exchange_->backlog) exchange_->backlog->Close();
    LogAccess(false);
    exchange_.reset();
  }
  ReleaseBody();
  service_->ReleaseUnsent(std::exchange(unsent_bytes_, 0));
  boost::system::error_code ignored;
  socket_.close(ignored);
  service_->Remove(shared_from_this());
}

void Connection::CheckDeadline(Clock::time_point now) {
  if (is_writing_ && now >= write_deadline_) return Close();
  if (state_ == State::kAnswering || now < deadline_) return;
  if (state_ == State::kBody) {
    RefuseBroken({408, "timed out waiting for the request body", ""});
  } else if (state_ == State::kHead && !is_idle_) {
    RefuseBroken({408, "timed out waiting for the request headers", ""});
  } else {
    Close();
  }
}

// --- from the client ------------------------------------------------------------------------

void Connection::Read() {
  if (is_reading_ || peer_is_gone_ || state_ == State::kClosed) return;
  if (state_ == State::kAnswering && input_.size() >= kReadAhead) return;
  // There may be thousands of idle connections, so none keeps the larger buffer used for bodies.
  const size_t wanted = state_ == State::kBody ? kBodyReadSize : kReadSize;
  if (read_buffer_.size() != wanted) read_buffer_ = std::vector<char>(wanted);
  is_reading_ = true;
  socket_.async_read_some(asio::buffer(read_buffer_),
                          [self = shared_from_this()](boost::system::error_code error,
                                                      size_t size) { self->OnRead(error, size); });
}

void Connection::OnRead(boost::system::error_code error, size_t size) {
  is_reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) return OnPeerGone(error != asio::error::eof);
  if (state_ == State::kLingering) return Read();
  input_.commit(asio::buffer_copy(input_.prepare(size), asio::buffer(read_buffer_, size)));
  Advance();
}

void Connection::OnPeerGone(bool reset) {
  peer_is_gone_ = true;
  if (reset || state_ != State::kAnswering) return Close();
  // The client may have closed only its sending side, so writing continues.
  if (exchange_->peer_gone) exchange_->peer_gone->Cancel();
}

void Connection::Advance() {
  while (state_ == State::kHead || state_ == State::kBody) {
    const auto data = input_.cdata();
    input_.consume(reader_.Take({static_cast<const char*>(data.data()), data.size()}));
    switch (reader_.stage()) {
      case http1::RequestReader::Stage::kHead:
        if (is_idle_ && input_.size() > 0) {
          is_idle_ = false;
          // For a new connection the timeout starts when it is opened.
          if (exchange_number_ > 0) deadline_ = Clock::now() + service_->config.header_timeout;
        }
        return Read();
      case http1::RequestReader::Stage::kBody:
        if (HoldBody()) return Read();
        RefuseBroken({503, "this server is busy with large request bodies: try again later",
                      "Retry-After: 1\r\n"});
        break;
      case http1::RequestReader::Stage::kHeadRead: OnHead(); break;
      case http1::RequestReader::Stage::kDone: OnBody(); break;
      case http1::RequestReader::Stage::kFailed: RefuseBroken(reader_.failure()); break;
    }
  }
  Read();
}

void Connection::OnHead() {
  const auto& head = reader_.head();
  ++exchange_number_;
  Exchange& exchange = exchange_.emplace();
  exchange.began = Clock::now();
  exchange.method = MethodOf(head);
  Verdict& verdict = exchange.verdict;
  verdict = CheckRequest(service_->hosts, service_->tokens, service_->router, head);
  if (verdict.token) exchange.caller = service_->tokens.caller(*verdict.token);
  const bool is_web = verdict.action == Verdict::Action::kWeb;
  const bool has_handler = is_web || verdict.action == Verdict::Action::kMessage;
  if (has_handler && verdict.token) {
    if (auto wait = service_->tokens.Take(*verdict.token, exchange.began)) {
      verdict.action = Verdict::Action::kRefuse;
      verdict.refusal = {
          429, "too many requests with this token: wait for the time given by Retry-After",
          "Retry-After: " + std::to_string(wait->count()) + "\r\n"};
    }
    if (is_web) verdict.answer_headers += service_->tokens.RateHeaders(*verdict.token);
  }
  Response::Manner manner;
  manner.http_1_0 = head.version() < 11;
  manner.keep_alive = reader_.keep_alive() && !service_->draining();
  manner.head_only = head.method() == boost::beast::http::verb::head;
  manner.accepts_json = verdict.accepts_json;
  manner.accepts_stream = verdict.accepts_stream;
  manner.headers = verdict.answer_headers;
  // An unknown path is more likely meant for the larger API.
  manner.is_web = verdict.resource == Resource::kWeb ||
                  (verdict.resource == Resource::kNothing && !service_->router.empty());
  exchange.response = Response(std::move(manner));

  state_ = State::kBody;
  deadline_ = exchange.began + service_->config.body_timeout;
  const bool refused = verdict.action == Verdict::Action::kRefuse;
  const bool body_is_too_much =
      reader_.has_body() && (verdict.expects_continue || reader_.chunked() ||
                             reader_.content_length().value_or(0) > kDiscardedBody);
  if (refused && (verdict.ends_in_doubt || body_is_too_much)) {
    exchange.response.CloseAfter();
    return Refuse(verdict.refusal);
  }
  reader_.ReadBody(MaxBody(verdict));
  if (verdict.expects_continue && reader_.stage() == http1::RequestReader::Stage::kBody &&
      input_.size() == 0) {
    Send({"HTTP/1.1 100 Continue\r\n\r\n"}, false);
  }
}

uint64_t Connection::MaxBody(const Verdict& verdict) const {
  const uint64_t configured = service_->config.max_body.count;
  if (verdict.action == Verdict::Action::kMessage) return configured;
  if (verdict.action != Verdict::Action::kWeb) return kDiscardedBody;
  const WebRoute& route = verdict.route->route();
  if (route.body == WebRoute::Body::kNone) return kDiscardedBody;
  return route.max_body ? route.max_body->count : configured;
}

bool Connection::HoldBody() {
  const size_t size = reader_.body().size();
  if (size <= kSmallBody) return true;
  if (!service_->ReserveBodyBytes(size - held_body_)) return false;
  held_body_ = size;
  return true;
}

void Connection::ReleaseBody() { service_->ReleaseBodyBytes(std::exchange(held_body_, 0)); }

void Connection::OnBody() {
  ReleaseBody();
  exchange_->received = reader_.body().size();
  Verdict& verdict = exchange_->verdict;
  switch (verdict.action) {
    case Verdict::Action::kRefuse: return Refuse(verdict.refusal);
    case Verdict::Action::kMessage: return HandleMessage(std::move(reader_.body()));
    case Verdict::Action::kMonitor: return Monitor();
    case Verdict::Action::kWeb: return HandleWeb(std::move(reader_.body()));
    case Verdict::Action::kEndConversation:
      if (!service_->handler.End(CallerOfExchange(), verdict.conversation)) {
        return Refuse({404, "unknown or ended session", ""});
      }
      return Send(exchange_->response.Whole(204, "", ""), true);
    case Verdict::Action::kPreflight:
      return Send(exchange_->response.Whole(
                      204, "", "",
                      "Access-Control-Allow-Methods: " + verdict.allow +
                          "\r\nAccess-Control-Allow-Headers: Accept, Authorization, "
                          "Content-Type, Idempotency-Key, If-None-Match, If-Range, "
                          "Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
                          "Mcp-Session-Id, Prefer, Range, traceparent, X-Auth-Token\r\n"
                          "Access-Control-Max-Age: 600\r\n"),
                  true);
  }
}

Caller Connection::CallerOfExchange() const { return exchange_->caller.value_or(Caller()); }

void Connection::HandleMessage(std::string body) {
  Verdict& verdict = exchange_->verdict;
  IncomingMessage message;
  message.text = std::move(body);
  message.caller = CallerOfExchange();
  message.conversation = std::move(verdict.conversation);
  message.headers = std::move(verdict.headers);
  message.takes_notifications = verdict.accepts_stream;
  exchange_->peer_gone = message.peer_gone;
  state_ = State::kAnswering;
  service_->handler.Handle(std::move(message),
                           service_->replies->MakeReply(weak_from_this(), exchange_number_));
}

void Connection::HandleWeb(std::string body) {
  Verdict& verdict = exchange_->verdict;
  const RouteMatch match = std::move(*verdict.route);
  WebRequest request;
  request.parameters = match.parameters;
  request.query = std::move(verdict.query);
  request.headers = std::move(verdict.web_headers);
  if (match.route().body != WebRoute::Body::kNone) request.body = std::move(body);
  request.caller = CallerOfExchange();
  exchange_->peer_gone = request.peer_gone;
  exchange_->backlog = std::make_shared<Backlog>();
  state_ = State::kAnswering;
  match.handler->Handle(
      match.index, std::move(request),
      service_->replies->MakeWebReply(weak_from_this(), exchange_number_, exchange_->backlog));
}

void Connection::Monitor() {
  constexpr std::string_view kText = "text/plain; charset=utf-8";
  Response& response = exchange_->response;
  const HttpMonitoring& monitoring = service_->monitoring;
  switch (exchange_->verdict.resource) {
    case Resource::kReady: {
      const bool ready = !service_->draining() && (!monitoring.ready || monitoring.ready());
      return Send(
          ready ? response.Whole(200, kText, "ok\n") : response.Whole(503, kText, "not ready\n"),
          true);
    }
    case Resource::kMetrics:
      return Send(response.Whole(200, "text/plain; version=0.0.4; charset=utf-8",
                                 monitoring.metrics ? monitoring.metrics() : ""),
                  true);
    default: return Send(response.Whole(200, kText, "ok\n"), true);
  }
}

void Connection::Refuse(const http1::Refusal& refusal) {
  Send(exchange_->response.Refused(refusal), true);
}

// The rest of the stream can no longer be parsed, so the connection is closed.
void Connection::RefuseBroken(const http1::Refusal& refusal) {
  if (!exchange_) {
    ++exchange_number_;
    exchange_.emplace().began = Clock::now();
  }
  exchange_->response.CloseAfter();
  Refuse(refusal);
  ReleaseBody();
  reader_.Restart();  // also releases a partial body
}

// --- to the client --------------------------------------------------------------------------

bool Connection::AwaitsAnswer(uint64_t exchange) const {
  return state_ == State::kAnswering && exchange_ && exchange == exchange_number_ &&
         !exchange_->finished;
}

void Connection::Receive(uint64_t exchange, std::optional<Answer> answer,
                         std::string notification) {
  if (!AwaitsAnswer(exchange)) return;
  if (answer) {
    if (service_->draining()) exchange_->response.CloseAfter();
    return Send(exchange_->response.Finish(std::move(*answer)), true);
  }
  if (unsent_bytes_ + notification.size() > kMaxUnsent) return Close();
  Send(exchange_->response.Notification(std::move(notification)), false);
}

void Connection::ReceivePart(uint64_t exchange, WebPart part) {
  if (!AwaitsAnswer(exchange)) return;
  Response& response = exchange_->response;
  WebAnswer& answer = part.answer;
  switch (part.kind) {
    case WebPart::Kind::kWhole:
      if (service_->draining()) response.CloseAfter();
      return Send(
          response.Whole(answer.status, answer.type, std::move(answer.body), answer.headers), true);
    case WebPart::Kind::kBegin:
      exchange_->queued += answer.body.size();
      if (!response.head_only()) return Send(response.Begin(answer), false);
      exchange_->peer_gone->Cancel();
      exchange_->backlog->Close();
      return Send(response.Begin(answer), true);
    case WebPart::Kind::kPiece:
      exchange_->queued += answer.body.size();
      if (unsent_bytes_ + answer.body.size() > kMaxUnsent) return Close();
      return Send(response.Write(std::move(answer.body)), false);
    case WebPart::Kind::kEnd: return Send(response.End(), true);
  }
}

void Connection::Abandon(uint64_t exchange) {
  if (!AwaitsAnswer(exchange)) return;
  // An open stream can only be cut off.
  if (exchange_->response.status() != 0) return Close();
  RefuseBroken({500, "the server abandoned this request; see its log", ""});
}

void Connection::Send(Pieces pieces, bool finished) {
  size_t size = 0;
  for (std::string& piece : pieces) {
    size += piece.size();
    waiting_.push_back(std::move(piece));
  }
  if (finished) {
    state_ = State::kAnswering;
    exchange_->finished = true;
    exchange_->peer_gone.reset();
  }
  unsent_bytes_ += size;
  if (!is_writing_ && !waiting_.empty()) Write();
  service_->HoldUnsent(size, *this);
}

void Connection::Write() {
  writing_ = std::exchange(waiting_, {});
  is_writing_ = true;
  write_deadline_ = Clock::now() + service_->config.write_timeout;
  auto on_written = [self = shared_from_this()](boost::system::error_code error, size_t size) {
    self->OnWritten(error, size);
  };
  // Most answers are a head and a body: avoids a heap allocation for them.
  if (writing_.size() <= 2) {
    const std::array<asio::const_buffer, 2> buffers{
        asio::buffer(writing_.front()),
        writing_.size() == 2 ? asio::buffer(writing_.back()) : asio::const_buffer()};
    return asio::async_write(socket_, buffers, std::move(on_written));
  }
  std::vector<asio::const_buffer> buffers;
  buffers.reserve(writing_.size());
  for (const std::string& piece : writing_) buffers.push_back(asio::buffer(piece));
  asio::async_write(socket_, std::move(buffers), std::move(on_written));
}

void Connection::OnWritten(boost::system::error_code error, size_t size) {
  is_writing_ = false;
  if (state_ == State::kClosed) return;
  exchange_->sent += size;
  if (error) return Close();
  unsent_bytes_ -= size;
  service_->ReleaseUnsent(size);
  writing_.clear();
  if (waiting_.empty() && exchange_->backlog) {
    exchange_->backlog->Take(std::exchange(exchange_->queued, 0));
  }
  if (!waiting_.empty()) {
    Write();
  } else if (exchange_->finished) {
    EndExchange();
  }
}

void Connection::EndExchange() {
  LogAccess(true);
  const bool keep_alive = exchange_->response.keep_alive() && !service_->draining();
  exchange_.reset();
  if (peer_is_gone_) return Close();
  if (!keep_alive) return Linger();
  state_ = State::kHead;
  reader_.Restart();
  is_idle_ = true;
  deadline_ = Clock::now() + service_->config.idle_timeout;
  if (input_.size() == 0 && input_.capacity() > 2 * kReadSize) input_.shrink_to_fit();
  Advance();
}

void Connection::Linger() {
  state_ = State::kLingering;
  deadline_ = Clock::now() + kLinger;
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  Read();
}

void Connection::LogAccess(bool delivered) {
  if (!service_->monitoring.access) return;
  const Exchange& exchange = *exchange_;
  HttpAccess access;
  access.peer = peer_;
  if (exchange.caller) {
    access.caller = exchange.caller->name;
  } else if (service_->tokens.empty()) {
    access.caller = "local";
  }
  access.method = exchange.method;
  access.path = exchange.verdict.path;
  access.status = exchange.response.status();
  access.streamed = exchange.response.streaming();
  access.delivered = delivered;
  access.received = exchange.received;
  access.sent = exchange.sent;
  access.duration =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - exchange.began);
  service_->monitoring.access(access);
}

}  // namespace belljar::server::http
