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
    queue_->Push({receiver_, exchange_, std::nullopt, {}, std::nullopt, true});
  }

  void Notify(std::string text) override {
    if (finished_.load(std::memory_order_acquire)) return;
    queue_->Push({receiver_, exchange_, std::nullopt, std::move(text), std::nullopt, false});
  }

  void Finish(Answer answer) override {
    if (finished_.exchange(true, std::memory_order_acq_rel)) return;
    queue_->Push({receiver_, exchange_, std::move(answer), {}, std::nullopt, false});
  }

 private:
  const std::shared_ptr<ReplyQueue> queue_;
  const std::weak_ptr<ReplyReceiver> receiver_;
  const uint64_t exchange_;
  std::atomic<bool> finished_ = false;
};

class QueuedWebReply : public WebReply {
 public:
  QueuedWebReply(std::shared_ptr<ReplyQueue> queue, std::weak_ptr<ReplyReceiver> receiver,
                 uint64_t exchange, std::shared_ptr<Backlog> backlog)
      : queue_(std::move(queue)),
        receiver_(std::move(receiver)),
        exchange_(exchange),
        backlog_(std::move(backlog)) {}

  ~QueuedWebReply() override {
    if (ended_.load(std::memory_order_acquire)) return;
    queue_->Push({receiver_, exchange_, std::nullopt, {}, std::nullopt, true});
  }

  void Finish(WebAnswer answer) override { PushLast(WebPart::Kind::kWhole, std::move(answer)); }

  void Begin(WebAnswer head) override { PushPart(WebPart::Kind::kBegin, std::move(head)); }

  void Write(std::string piece) override {
    WebAnswer answer;
    answer.body = std::move(piece);
    PushPart(WebPart::Kind::kPiece, std::move(answer));
  }

  void End() override { PushLast(WebPart::Kind::kEnd, {}); }

  bool AwaitRoom(size_t bytes, std::chrono::steady_clock::time_point deadline) override {
    return backlog_->AwaitRoom(bytes, deadline);
  }

 private:
  void PushPart(WebPart::Kind kind, WebAnswer answer) {
    if (ended_.load(std::memory_order_acquire)) return;
    backlog_->Add(answer.body.size());
    Push(kind, std::move(answer));
  }

  void PushLast(WebPart::Kind kind, WebAnswer answer) {
    if (ended_.exchange(true, std::memory_order_acq_rel)) return;
    Push(kind, std::move(answer));
  }

  void Push(WebPart::Kind kind, WebAnswer answer) {
    queue_->Push({receiver_, exchange_, std::nullopt, {}, WebPart{kind, std::move(answer)}, false});
  }

  const std::shared_ptr<ReplyQueue> queue_;
  const std::weak_ptr<ReplyReceiver> receiver_;
  const uint64_t exchange_;
  const std::shared_ptr<Backlog> backlog_;
  std::atomic<bool> ended_ = false;
};

std::shared_ptr<Reply> ReplyQueue::MakeReply(std::weak_ptr<ReplyReceiver> receiver,
                                             uint64_t exchange) {
  return std::make_shared<QueuedReply>(shared_from_this(), std::move(receiver), exchange);
}

std::shared_ptr<WebReply> ReplyQueue::MakeWebReply(std::weak_ptr<ReplyReceiver> receiver,
                                                   uint64_t exchange,
                                                   std::shared_ptr<Backlog> backlog) {
  return std::make_shared<QueuedWebReply>(shared_from_this(), std::move(receiver), exchange,
                                          std::move(backlog));
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
    } else if (delivery.part) {
      receiver->ReceivePart(delivery.exchange, std::move(*delivery.part));
    } else {
      receiver->Receive(delivery.exchange, std::move(delivery.answer),
                        std::move(delivery.notification));
    }
  }
}

}  // namespace belljar::server::http
