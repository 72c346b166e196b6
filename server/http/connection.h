// Connection: one client's socket, from accept to close. Reads requests one at a time, passes
// messages to the handler and writes the replies. It keeps reading while a request is being
// answered, to detect that the client has disconnected; pipelined requests wait.
//
//   kHead ──▶ kBody ──▶ kAnswering ──▶ kHead            with keep-alive
//     └─ malformed, too long, refused ──┴──▶ kLingering ──▶ closed
//
// Single-threaded. Kept alive by its registration with the service.
#ifndef BELLJAR_SERVER_HTTP_CONNECTION_H_
#define BELLJAR_SERVER_HTTP_CONNECTION_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/http1/request_reader.h"
#include "server/http/reply_queue.h"
#include "server/http/request_check.h"
#include "server/http/response.h"
#include "server/http/service.h"

namespace belljar::server::http {

class Connection : public ReplyReceiver, public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(std::shared_ptr<HttpService> service, boost::asio::ip::tcp::socket socket,
             std::string peer);

  // Call exactly one of the two, once.
  void Start();
  void Reject();  // too many connections: 503

  void CloseIfIdle();  // nothing of a request has been received
  void CloseIfKept();  // idle after an answered request
  // Cancels the pending request. Idempotent.
  void Close();
  void CheckDeadline(Clock::time_point now);

  bool is_writing() const { return is_writing_; }
  Clock::time_point write_deadline() const { return write_deadline_; }  // while is_writing()

  void Receive(uint64_t exchange, std::optional<Answer> answer, std::string notification) override;
  void ReceivePart(uint64_t exchange, WebPart part) override;
  void Abandon(uint64_t exchange) override;

 private:
  enum class State { kHead, kBody, kAnswering, kLingering, kClosed };

  // One request and its answer.
  struct Exchange {
    // User-provided: clang considers a defaulted constructor missing until Connection is complete,
    // so std::optional<Exchange> would not be default-constructible.
    Exchange() {}
    Verdict verdict;
    std::optional<Caller> caller;  // of the token; later the server may have others
    Response response{Response::Manner{}};
    std::string_view method = "other";
    std::shared_ptr<Cancellation> peer_gone;  // of a message that the handler is processing
    // The backlog of a web handler's stream, and how much of it is in this connection's queue.
    std::shared_ptr<Backlog> backlog;
    size_t queued = 0;
    Clock::time_point began;
    uint64_t received = 0;
    uint64_t sent = 0;
    bool finished = false;  // the whole answer is written or queued
  };

  void Read();
  void OnRead(boost::system::error_code error, size_t size);
  void OnPeerGone(bool reset);
  void Advance();
  void OnHead();
  bool AwaitsAnswer(uint64_t exchange) const;
  uint64_t MaxBody(const Verdict& verdict) const;
  bool HoldBody();
  void ReleaseBody();
  void OnBody();
  Caller CallerOfExchange() const;
  void HandleMessage(std::string body);
  void HandleWeb(std::string body);
  void Monitor();
  void Refuse(const http1::Refusal& refusal);
  void RefuseBroken(const http1::Refusal& refusal);

  // `finished`: this completes the answer.
  void Send(Pieces pieces, bool finished);
  void Write();
  void OnWritten(boost::system::error_code error, size_t size);
  void EndExchange();
  void Linger();
  void LogAccess(bool delivered);

  const std::shared_ptr<HttpService> service_;
  boost::asio::ip::tcp::socket socket_;
  const std::string peer_;

  State state_ = State::kHead;
  Clock::time_point deadline_;        // of kHead, kBody and kLingering
  Clock::time_point write_deadline_;  // while is_writing_
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool peer_is_gone_ = false;  // no more input

  std::vector<char> read_buffer_;
  boost::beast::flat_buffer input_;  // read but not yet consumed
  http1::RequestReader reader_;
  size_t held_body_ = 0;  // bytes accounted for by the service
  bool is_idle_ = true;   // in kHead: nothing of the next request has been received
  uint64_t exchange_number_ = 0;
  std::optional<Exchange> exchange_;

  Pieces waiting_;  // queued behind the current write
  Pieces writing_;
  size_t unsent_bytes_ = 0;  // of both
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_CONNECTION_H_
