#include "engine/egress/proxy_connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <variant>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::egress {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr size_t kReadSize = 4 << 10;
// A request line and headers; no SOCKS5 message is nearly as long.
constexpr size_t kMaxHead = 32 << 10;
constexpr std::chrono::seconds kRequestTimeout{10};
// Closing immediately would reset the connection while the guest still sends, and discard the
// answer that it has not read yet.
constexpr std::chrono::seconds kLinger{2};
constexpr size_t kMaxDiscarded = 1 << 20;
constexpr size_t kMaxCandidates = 4;
constexpr size_t kMaxHost = 255;

std::string HostForRecord(std::string_view host) {
  return core::Printable(host.substr(0, kMaxHost));
}

std::string Plain(const tcp::endpoint& endpoint) { return endpoint.address().to_string(); }

}  // namespace

// Wraps `handler`: runs it with the run's lock, unless the connection is closed.
template <typename Handler>
auto ProxyConnection::Locked(Handler handler) {
  return [self = shared_from_this(), handler = std::move(handler)](auto&&... arguments) {
    const std::lock_guard lock(self->run_->mutex);
    if (self->state_ != State::kClosed) handler(arguments...);
  };
}

ProxyConnection::ProxyConnection(asio::io_context& io, std::shared_ptr<RunNetwork> run,
                                 Resolver& resolver, Socket guest)
    : io_(io),
      run_(std::move(run)),
      resolver_(resolver),
      guest_(std::move(guest)),
      target_(io),
      timer_(io),
      started_(run_->SinceStart()),
      http_(std::make_unique<http1::RequestReader>(kMaxHead)) {}

void ProxyConnection::Start() {
  SetDeadline(Clock::now() + kRequestTimeout);
  ReadRequest();
}

void ProxyConnection::Close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  if (holds_slot_) --run_->concurrent;
  if (event_) {
    host::NetworkEvent& event = run_->events[*event_];
    event.lasted = run_->SinceStart() - started_;
    if (upward_) event.sent = upward_->pump.moved();
    if (downward_) event.received = downward_->pump.moved();
  }
  boost::system::error_code ignored;
  guest_.close(ignored);
  target_.close(ignored);
  timer_.cancel();
}

void ProxyConnection::Finish() {
  Close();
  run_->connections.erase(shared_from_this());
  if (const auto tell = std::exchange(run_->when_one_ends, nullptr)) tell();
}

// --- time -----------------------------------------------------------------------------------

// The timer is not reset with every byte: it checks again when the deadline has moved.
void ProxyConnection::SetDeadline(Clock::time_point deadline) {
  deadline_ = deadline;
  if (deadline < armed_) Arm();
}

void ProxyConnection::Arm() {
  armed_ = deadline_;
  timer_.expires_at(armed_);
  timer_.async_wait(Locked([this](boost::system::error_code error) {
    if (!error) OnTimer();
  }));
}

void ProxyConnection::OnTimer() {
  armed_ = Clock::time_point::max();
  if (Clock::now() >= deadline_) OnDeadline();
  if (state_ != State::kClosed && armed_ == Clock::time_point::max()) Arm();
}

void ProxyConnection::OnDeadline() {
  switch (state_) {
    case State::kConnecting:
      // This address timed out; try the next one.
      last_error_ = asio::error::timed_out;
      return ConnectNext();
    case State::kResolving:
      return Refuse({504, Socks5Code::kTimedOut, name_ + ": its address was not found in time"});
    case State::kRelaying: Describe("closed: idle for too long"); break;
    default: break;
  }
  Finish();
}

// --- reading the request --------------------------------------------------------------------

void ProxyConnection::ReadRequest() {
  if (std::exchange(is_reading_, true)) return;
  guest_.async_wait(Socket::wait_read, Locked([this](boost::system::error_code error) {
                      is_reading_ = false;
                      if (error) return Finish();
                      std::array<char, kReadSize> bytes;
                      const ssize_t got =
                          recv(guest_.native_handle(), bytes.data(), bytes.size(), 0);
                      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return ReadRequest();
                      if (got <= 0) return Finish();
                      if (state_ == State::kLingering) {
                        discarded_ += static_cast<size_t>(got);
                        return discarded_ > kMaxDiscarded ? Finish() : ReadRequest();
                      }
                      input_.append(bytes.data(), static_cast<size_t>(got));
                      OnInput();
                      // Nothing more is read until it is answered; only then is it noticed if the
                      // guest has left.
                      if (state_ == State::kReading || state_ == State::kLingering) ReadRequest();
                    }));
}

void ProxyConnection::OnInput() {
  if (protocol_ == Protocol::kUnknown) {
    protocol_ = input_[0] == kSocks5Version ? Protocol::kSocks5 : Protocol::kHttp;
  }
  protocol_ == Protocol::kSocks5 ? TakeSocks5() : TakeHttp();
}

void ProxyConnection::TakeSocks5() {
  for (size_t used = 1; used > 0;) {
    used = socks5_.Take(input_);
    input_.erase(0, used);
    Answer(socks5_.TakeReply());
  }
  switch (socks5_.stage()) {
    case Socks5Reader::Stage::kDone: return Handle(socks5_.host(), socks5_.port());
    case Socks5Reader::Stage::kFailed: return Reject(protocol_, "", socks5_.failure());
    default: return;
  }
}

void ProxyConnection::TakeHttp() {
  input_.erase(0, http_->Take(input_));
  if (http_->stage() == http1::RequestReader::Stage::kFailed) {
    const http1::Refusal& failure = http_->failure();
    return Reject(protocol_, HttpAnswer(failure.status, failure.message), failure.message);
  }
  if (http_->stage() != http1::RequestReader::Stage::kHeadRead) return;
  std::variant<HttpProxyRequest, HttpRejection> read = ReadHttpProxyRequest(http_->head());
  if (const auto* rejection = std::get_if<HttpRejection>(&read)) {
    return Reject(protocol_, HttpAnswer(rejection->status, rejection->text), rejection->text);
  }
  forward_ = std::get<HttpProxyRequest>(std::move(read));
  if (forward_.tunnel) protocol_ = Protocol::kConnect;
  Handle(forward_.host, forward_.port);
}

// --- checking it ----------------------------------------------------------------------------

void ProxyConnection::Handle(const std::string& host, uint16_t port) {
  host::NetworkEvent event;
  event.host = HostForRecord(host);
  event.port = port_ = port;
  event.protocol = protocol_ == Protocol::kHttp      ? "http"
                   : protocol_ == Protocol::kConnect ? "connect"
                                                     : "socks5";
  event.started = started_;
  event_ = run_->Record(std::move(event));
  const std::optional<HostName> name = HostName::Parse(host);
  if (!name || port == 0) {
    return Refuse({403, Socks5Code::kNotAllowed, "the host is neither a name nor an address"});
  }
  name_ = Bracketed(*name) + ":" + std::to_string(port);
  if (std::optional<Denial> denial = Check(*name, port)) return Refuse(*denial);
  ++run_->concurrent;
  holds_slot_ = true;
  SetDeadline(Clock::now() + run_->rules->bounds.connect_timeout);
  Resolve(*name);
}

std::optional<ProxyConnection::Denial> ProxyConnection::Check(const HostName& host,
                                                              uint16_t port) const {
  const EgressRules& rules = *run_->rules;
  if (!rules.allowed.Allows(host, port)) {
    return Denial{403, Socks5Code::kNotAllowed, name_ + " is not an allowed host",
                  "; the operator allows " + rules.allowed.Text()};
  }
  if (run_->narrower && !run_->narrower->Allows(host, port)) {
    return Denial{403, Socks5Code::kNotAllowed,
                  name_ + " is not among the allowed domains of this call",
                  ": " + run_->narrower->Text()};
  }
  if (run_->concurrent >= rules.bounds.concurrent) {
    return Denial{503, Socks5Code::kGeneralFailure,
                  "more than " + std::to_string(rules.bounds.concurrent) +
                      " maximum number of connections: close one first"};
  }
  return std::nullopt;
}

void ProxyConnection::Resolve(const HostName& host) {
  state_ = State::kResolving;
  if (host.address) return OnAddresses({{*host.address}, ""});
  const auto& resolved = run_->rules->resolved;
  if (const auto found = resolved.find(host.text); found != resolved.end()) {
    return OnAddresses({found->second, ""});
  }
  resolver_.Resolve(host.text, Locked([this](const Addresses& addresses) {
                      if (state_ == State::kResolving) OnAddresses(addresses);
                    }));
}

// The checked addresses themselves are connected to: it does not matter what the name resolves to
// later.
void ProxyConnection::OnAddresses(const Addresses& addresses) {
  std::string violation;
  for (const asio::ip::address& found : addresses.found) {
    const asio::ip::address address = Unmapped(found);
    const std::string why = run_->rules->addresses.Violation(address);
    if (!why.empty()) {
      violation = address.to_string() + ", which " + why;
    } else if (candidates_.size() < kMaxCandidates) {
      candidates_.emplace_back(address, port_);
    }
  }
  if (!candidates_.empty()) {
    state_ = State::kConnecting;
    return ConnectNext();
  }
  if (!violation.empty()) {
    return Refuse({403, Socks5Code::kNotAllowed, name_ + " leads to " + violation});
  }
  Refuse({502, Socks5Code::kHostUnreachable, name_ + " was not found: " + addresses.failure});
}

// --- connecting to the target ---------------------------------------------------------------

void ProxyConnection::ConnectNext() {
  if (next_candidate_ == candidates_.size()) return Refuse(Unreachable(last_error_));
  const tcp::endpoint endpoint = candidates_[next_candidate_++];
  boost::system::error_code ignored;
  target_.close(ignored);
  core::UniqueFd fd(
      socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  boost::system::error_code error;
  if (fd) {
    target_.assign(endpoint.protocol(), fd.get(), error);
  } else {
    error.assign(errno, boost::system::system_category());
  }
  if (!error) (void)fd.Release();
  const auto left = run_->rules->bounds.connect_timeout / candidates_.size();
  SetDeadline(Clock::now() + left);
  const auto on_connected =
      Locked([this, attempt = next_candidate_](boost::system::error_code result) {
        // An abandoned attempt also completes.
        if (attempt == next_candidate_) OnConnected(result);
      });
  // Posted even if it fails immediately: addresses are tried one after the other, without
  // recursion.
  if (error) return asio::post(io_, [on_connected, error] { on_connected(error); });
  target_.async_connect(endpoint, on_connected);
}

void ProxyConnection::OnConnected(boost::system::error_code error) {
  if (state_ != State::kConnecting) return;
  if (error) {
    last_error_ = error;
    return ConnectNext();
  }
  StartRelay();
}

ProxyConnection::Denial ProxyConnection::Unreachable(boost::system::error_code error) const {
  if (error == asio::error::connection_refused) {
    return {502, Socks5Code::kConnectionRefused, name_ + " refuses the connection"};
  }
  if (error == asio::error::timed_out) {
    return {504, Socks5Code::kTimedOut, name_ + " does not respond in time"};
  }
  if (error == asio::error::network_unreachable) {
    return {502, Socks5Code::kNetworkUnreachable, name_ + " cannot be reached from this machine"};
  }
  return {502, Socks5Code::kHostUnreachable, name_ + " cannot be reached: " + error.message()};
}

// --- relaying -------------------------------------------------------------------------------

void ProxyConnection::StartRelay() {
  state_ = State::kRelaying;
  const int guest = guest_.native_handle();
  const int target = target_.native_handle();
  const int on = 1;
  (void)setsockopt(target, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (event_) run_->events[*event_].allowed = true;
  Describe(Plain(candidates_[next_candidate_ - 1]));
  upward_.emplace(guest, target, run_->sent_left);
  downward_.emplace(target, guest, run_->received_left);
  if (protocol_ == Protocol::kHttp) {
    upward_->pump.Prepend(forward_.head);
    upward_->pump.Limit(forward_.chunked ? RequestBody(std::move(http_))
                                         : RequestBody(forward_.length));
  } else {
    Answer(protocol_ == Protocol::kSocks5 ? Socks5Reply(Socks5Code::kSucceeded) : kTunnelIsOpen);
  }
  upward_->pump.Feed(std::exchange(input_, {}));
  Advance(*upward_);
  if (state_ == State::kRelaying) Advance(*downward_);
}

void ProxyConnection::Advance(Way& way) {
  const bool up = &way == &*upward_;
  Move(way, up ? guest_ : target_, up ? target_ : guest_);
}

void ProxyConnection::Move(Way& way, Socket& from, Socket& to) {
  SetDeadline(Clock::now() + run_->rules->bounds.idle_timeout);
  const auto again = [this, &way](boost::system::error_code error) {
    error ? Finish() : Advance(way);
  };
  switch (way.pump.Move()) {
    case Pump::State::kWantsInput: return from.async_wait(Socket::wait_read, Locked(again));
    case Pump::State::kWantsOutput: return to.async_wait(Socket::wait_write, Locked(again));
    case Pump::State::kYields: return asio::post(io_, Locked([this, &way] { Advance(way); }));
    case Pump::State::kOverBudget:
      Describe("closed: more bytes than a run may " +
               std::string(&way == &*upward_ ? "send" : "receive"));
      return Finish();
    case Pump::State::kBroken: return Finish();
    case Pump::State::kFinished: break;
  }
  way.finished = true;
  // For a forwarded request the response ends the connection; a tunnel needs both directions to
  // end.
  const bool answered = protocol_ == Protocol::kHttp && downward_->finished;
  if (answered || (upward_->finished && downward_->finished)) Finish();
}

// --- refusing -------------------------------------------------------------------------------

// For the record: the address, and why it ended early.
void ProxyConnection::Describe(const std::string& detail) {
  if (!event_) return;
  std::string& known = run_->events[*event_].detail;
  known += (known.empty() ? "" : "; ") + detail;
}

void ProxyConnection::Refuse(const Denial& denial) {
  Describe(denial.text + denial.only);
  Answer(protocol_ == Protocol::kSocks5 ? Socks5Reply(denial.code)
                                        : HttpAnswer(denial.status, denial.text));
  Linger();
}

// For input that cannot be parsed.
void ProxyConnection::Reject(Protocol protocol, std::string_view answer, std::string detail) {
  host::NetworkEvent event;
  event.protocol = protocol == Protocol::kSocks5 ? "socks5" : "http";
  event.detail = std::move(detail);
  event.started = started_;
  event_ = run_->Record(std::move(event));
  Answer(answer);
  Linger();
}

// Short, and little was sent before: the socket takes all of it, or nobody is reading.
void ProxyConnection::Answer(std::string_view bytes) {
  if (bytes.empty()) return;
  (void)send(guest_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void ProxyConnection::Linger() {
  state_ = State::kLingering;
  if (std::exchange(holds_slot_, false)) --run_->concurrent;
  boost::system::error_code ignored;
  target_.close(ignored);
  guest_.shutdown(Socket::shutdown_send, ignored);
  SetDeadline(Clock::now() + kLinger);
  ReadRequest();
}

}  // namespace belljar::egress
