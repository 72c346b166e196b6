// ReplyQueue: passes replies from the calling threads to the thread that runs the connections. Any
// thread may push; a burst of replies costs one wake-up. Outlives the server: replies pushed after
// Close are dropped.
#ifndef BELLJAR_SERVER_HTTP_REPLY_QUEUE_H_
#define BELLJAR_SERVER_HTTP_REPLY_QUEUE_H_

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/core/exchange.h"
#include "server/core/web.h"
#include "server/http/backlog.h"

namespace belljar::server::http {

// A part of the answer of a web handler.
struct WebPart {
  enum class Kind { kWhole, kBegin, kPiece, kEnd } kind = Kind::kWhole;
  WebAnswer answer;  // of a piece only the body
};

// Called on the thread that runs the io_context.
class ReplyReceiver {
 public:
  virtual ~ReplyReceiver() = default;
  // `exchange`: the number passed to MakeReply; that exchange may be over. `answer`, if any, is
  // final; otherwise `notification` is a message before the answer.
  virtual void Receive(uint64_t exchange, std::optional<Answer> answer,
                       std::string notification) = 0;
  virtual void ReceivePart(uint64_t exchange, WebPart part) = 0;
  // The handler dropped the reply without answering.
  virtual void Abandon(uint64_t exchange) = 0;
};

class ReplyQueue : public std::enable_shared_from_this<ReplyQueue> {
 public:
  explicit ReplyQueue(boost::asio::io_context& io) : io_(&io) {}

  // Creates the reply object for one message. A reply destroyed without Finish is reported as
  // abandoned, so that no client waits forever.
  std::shared_ptr<Reply> MakeReply(std::weak_ptr<ReplyReceiver> receiver, uint64_t exchange);
  // Likewise for a web handler. `backlog` counts what is written; the receiver subtracts from it.
  std::shared_ptr<WebReply> MakeWebReply(std::weak_ptr<ReplyReceiver> receiver, uint64_t exchange,
                                         std::shared_ptr<Backlog> backlog);

  // Called on the thread that runs the io_context, or while none does. The io_context may be
  // destroyed afterwards.
  void Close();

 private:
  friend class QueuedReply;
  friend class QueuedWebReply;
  struct Delivery {
    std::weak_ptr<ReplyReceiver> receiver;
    uint64_t exchange = 0;
    std::optional<Answer> answer;
    std::string notification;
    std::optional<WebPart> part;
    bool abandoned = false;
  };
  void Push(Delivery delivery);
  void DeliverAll();

  std::mutex mutex_;
  boost::asio::io_context* io_;  // null: closed
  std::vector<Delivery> waiting_;
};

}  // namespace belljar::server::http

#endif  // BELLJAR_SERVER_HTTP_REPLY_QUEUE_H_
