// Connection: one client's socket, from accept to close. Reads requests one after the other, hands
// messages to the handler, and writes what comes back. While a request is being answered it goes on
// reading: that is how it learns that the client is gone; what the client sent ahead waits.
//
//   kHead ──▶ kBody ──▶ kAnswering ──▶ kHead            with keep-alive
//     └─ malformed, too long, refused ──┴──▶ kLingering ──▶ closed
//
// One thread. Alive as long as the service registers it.
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

  // One of the two, once.
  void Start();
  void TurnAway();  // there are too many: 503

  void CloseIfIdle();
  // Cancels what the client waits for. Any number of times.
  void Close();
  void CheckDeadline(Clock::time_point now);

  bool is_writing() const { return is_writing_; }
  Clock::time_point write_deadline() const { return write_deadline_; }  // while is_writing()

  void Receive(uint64_t exchange, std::optional<Answer> answer, std::string notification) override;
  void Abandon(uint64_t exchange) override;

 private:
  enum class State { kHead, kBody, kAnswering, kLingering, kClosed };

  // One request and its answer.
  struct Exchange {
    // Of our own: clang takes a defaulted one for missing until Connection is a whole class, and so
    // std::optional for one that makes none.
    Exchange() {}
    Verdict verdict;
    Response response{Response::Manner{}};
    std::string_view method = "other";
    std::shared_ptr<Cancellation> peer_gone;  // of a message that is with the handler
    Clock::time_point began;
    uint64_t received = 0;
    uint64_t sent = 0;
    bool finished = false;  // all of the answer is written or waits to be
  };

  void Read();
  void OnRead(boost::system::error_code error, size_t size);
  void OnPeerGone(bool reset);
  void Advance();
  void OnHead();
  bool AwaitsAnswer(uint64_t exchange) const;
  bool HoldBody();
  void ReleaseBody();
  void OnBody();
  Caller CallerOf(const Verdict& verdict) const;
  void HandleMessage(std::string body);
  void Monitor();
  void Refuse(const http1::Refusal& refusal);
  void RefuseBroken(const http1::Refusal& refusal);

  // `finished`: that is all of the answer.
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
  bool peer_is_gone_ = false;  // nothing more comes

  std::vector<char> read_buffer_;
  boost::beast::flat_buffer input_;  // read, and not yet used up
  http1::RequestReader reader_;
  size_t held_body_ = 0;  // bytes that the service counts for us
  bool is_idle_ = true;   // in kHead: nothing of the next request has come
  uint64_t exchange_number_ = 0;
  std::optional<Exchange> exchange_;

  Pieces waiting_;  // behind the write that is under way
  Pieces writing_;
  size_t unsent_bytes_ = 0;  // of both
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_CONNECTION_H_
