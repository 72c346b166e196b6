#include "container/inside/host_listener.h"

#include <sys/eventfd.h>

#include <memory>
#include <utility>

#include "container/inside/rehearsal.h"

namespace belljar::container::inside {

core::Result<std::unique_ptr<HostListener>> HostListener::Start(const wire::Channel& channel,
                                                                EgressRelay& egress) {
  core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  core::UniqueFd gone(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  core::UniqueFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel || !gone || !stop) return core::SystemError("listen to the host");
  std::unique_ptr<HostListener> listener(
      new HostListener(channel, egress, std::move(cancel), std::move(gone), std::move(stop)));
  core::Result<void> started =
      listener->thread_.Start("listen to the host", [own = listener.get()] { own->Listen(); });
  if (!started) return started.error();
  return listener;
}

HostListener::HostListener(const wire::Channel& channel, EgressRelay& egress, core::UniqueFd cancel,
                           core::UniqueFd gone, core::UniqueFd stop)
    : channel_(channel),
      cancel_(std::move(cancel)),
      gone_event_(std::move(gone)),
      stop_(std::move(stop)) {
  reader_.TakeEgressBy([&egress](const wire::Frame& frame) { return egress.Take(frame); });
  reader_.TakeAnswersBy([this](std::string answer) { return TakeAnswer(std::move(answer)); });
}

HostListener::~HostListener() {
  eventfd_write(stop_.get(), 1);
  thread_.Join();
}

void HostListener::Listen() {
  RehearseListening();
  for (;;) {
    core::Result<std::string> bytes = channel_.Receive({core::Deadline::max(), stop_.get()});
    if (!bytes) return Leave(bytes.error());
    if (bytes->empty()) return Leave(std::nullopt);
    if (core::Result<void> taken = reader_.Take(*bytes); !taken) return Leave(taken.error());
    while (std::optional<HostReader::Order> order = reader_.TakeOrder()) {
      if (core::Result<void> taken = TakeOrder(std::move(*order)); !taken) {
        return Leave(taken.error());
      }
    }
    const std::lock_guard lock(mutex_);
    if (reader_.cancelled() && !cancelled_) {
      cancelled_ = true;
      eventfd_write(cancel_.get(), 1);
      changed_.notify_all();
    }
  }
}

core::Result<void> HostListener::TakeOrder(HostReader::Order order) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(may_order_, false)) {
    return core::MakeError("read from the host", "a request during another one");
  }
  order_ = std::move(order);
  owes_answer_ = false;
  answer_.reset();
  if (std::exchange(cancelled_, false)) {
    eventfd_t ignored;
    (void)eventfd_read(cancel_.get(), &ignored);
  }
  changed_.notify_all();
  return {};
}

void HostListener::Leave(std::optional<core::Error> fault) {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  fault_ = std::move(fault);
  eventfd_write(cancel_.get(), 1);
  eventfd_write(gone_event_.get(), 1);
  changed_.notify_all();
}

std::optional<HostReader::Order> HostListener::AwaitOrder() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return order_ || gone_; });
  return std::exchange(order_, std::nullopt);
}

void HostListener::ExpectOrder() {
  const std::lock_guard lock(mutex_);
  may_order_ = true;
}

core::Result<void> HostListener::TakeAnswer(std::string answer) {
  const std::lock_guard lock(mutex_);
  if (!owes_answer_) return core::MakeError("read from the host", "an answer without a call");
  owes_answer_ = false;
  answer_ = std::move(answer);
  changed_.notify_all();
  return {};
}

bool HostListener::ExpectAnswer() {
  const std::lock_guard lock(mutex_);
  if (cancelled_ || gone_ || owes_answer_) return false;
  owes_answer_ = true;
  return true;
}

std::optional<std::string> HostListener::AwaitAnswer(core::Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return answer_ || cancelled_ || gone_; });
  if (cancelled_ || gone_) return std::nullopt;
  return std::exchange(answer_, std::nullopt);
}

bool HostListener::owes_answer() const {
  const std::lock_guard lock(mutex_);
  return owes_answer_;
}

bool HostListener::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

std::optional<core::Error> HostListener::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace belljar::container::inside
