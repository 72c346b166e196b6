// ReplyQueue: how replies get from the threads that make them to the one thread of the connections.
// Any thread pushes; the replies of a burst cost one wake-up. Outlives the server: what is pushed
// after Close is dropped.
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

namespace belljar::server::http {

// The thread that runs the io_context calls it.
class ReplyReceiver {
 public:
  virtual ~ReplyReceiver() = default;
  // `exchange`: the number that the reply was made for; it may be over. `answer` is the last that
  // comes; without one, `notification` is something on the way.
  virtual void Receive(uint64_t exchange, std::optional<Answer> answer,
                       std::string notification) = 0;
  // Whoever should have answered has given up.
  virtual void Abandon(uint64_t exchange) = 0;
};

class ReplyQueue : public std::enable_shared_from_this<ReplyQueue> {
 public:
  explicit ReplyQueue(boost::asio::io_context& io) : io_(&io) {}

  // The way back of one message. One that is let go of without Finish is abandoned: no client waits
  // for ever.
  std::shared_ptr<Reply> MakeReply(std::weak_ptr<ReplyReceiver> receiver, uint64_t exchange);

  // On the thread that runs the io_context, or while none does. The io_context may go away then.
  void Close();

 private:
  friend class QueuedReply;
  struct Delivery {
    std::weak_ptr<ReplyReceiver> receiver;
    uint64_t exchange = 0;
    std::optional<Answer> answer;
    std::string notification;
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
