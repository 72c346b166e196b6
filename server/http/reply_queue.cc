#include "server/http/reply_queue.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <utility>

namespace belljar::server::http {

class QueuedReply : public Reply {
 public:
  QueuedReply(std::shared_ptr<ReplyQueue> queue, std::weak_ptr<ReplyReceiver> receiver,
              uint64_t exchange)
      : queue_(std::move(queue)), receiver_(std::move(receiver)), exchange_(exchange) {}

  ~QueuedReply() override {
    if (finished_.load(std::memory_order_acquire)) return;
    queue_->Push({receiver_, exchange_, std::nullopt, {}, true});
  }

  void Notify(std::string text) override {
    if (finished_.load(std::memory_order_acquire)) return;
    queue_->Push({receiver_, exchange_, std::nullopt, std::move(text), false});
  }

  void Finish(Answer answer) override {
    if (finished_.exchange(true, std::memory_order_acq_rel)) return;
    queue_->Push({receiver_, exchange_, std::move(answer), {}, false});
  }

 private:
  const std::shared_ptr<ReplyQueue> queue_;
  const std::weak_ptr<ReplyReceiver> receiver_;
  const uint64_t exchange_;
  std::atomic<bool> finished_ = false;
};

std::shared_ptr<Reply> ReplyQueue::MakeReply(std::weak_ptr<ReplyReceiver> receiver,
                                             uint64_t exchange) {
  return std::make_shared<QueuedReply>(shared_from_this(), std::move(receiver), exchange);
}

void ReplyQueue::Close() {
  std::vector<Delivery> dropped;
  std::lock_guard lock(mutex_);
  io_ = nullptr;
  dropped.swap(waiting_);
}

void ReplyQueue::Push(Delivery delivery) {
  std::lock_guard lock(mutex_);
  if (io_ == nullptr) return;
  waiting_.push_back(std::move(delivery));
  if (waiting_.size() > 1) return;  // the wake-up for the first delivers all
  boost::asio::post(*io_, [self = shared_from_this()] { self->DeliverAll(); });
}

void ReplyQueue::DeliverAll() {
  std::vector<Delivery> deliveries;
  {
    std::lock_guard lock(mutex_);
    deliveries.swap(waiting_);
  }
  for (Delivery& delivery : deliveries) {
    auto receiver = delivery.receiver.lock();
    if (receiver == nullptr) continue;
    if (delivery.abandoned) {
      receiver->Abandon(delivery.exchange);
    } else {
      receiver->Receive(delivery.exchange, std::move(delivery.answer),
                        std::move(delivery.notification));
    }
  }
}

}  // namespace belljar::server::http
