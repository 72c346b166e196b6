#include "container/inside/host_listener.h"

#include <sys/eventfd.h>

#include <memory>
#include <system_error>
#include <utility>

#include "container/inside/rehearsal.h"

namespace belljar::container::inside {

core::Result<std::unique_ptr<HostListener>> HostListener::Start(const wire::Channel& channel,
                                                                EgressRelay& egress) {
  core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  core::UniqueFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel || !stop) return core::SystemError("listen to the host");
  try {
    return std::unique_ptr<HostListener>(
        new HostListener(channel, egress, std::move(cancel), std::move(stop)));
  } catch (const std::system_error& error) {
    return core::SystemErrorOf(error.code().value(), "start the thread that listens to the host");
  }
}

HostListener::HostListener(const wire::Channel& channel, EgressRelay& egress, core::UniqueFd cancel,
                           core::UniqueFd stop)
    : channel_(channel), cancel_(std::move(cancel)), stop_(std::move(stop)) {
  reader_.TakeEgressBy([&egress](const wire::Frame& frame) { return egress.Take(frame); });
  reader_.TakeAnswersBy([this](std::string answer) { return TakeAnswer(std::move(answer)); });
  thread_ = std::thread([this] { Listen(); });
}

HostListener::~HostListener() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void HostListener::Listen() {
  RehearseListening();
  for (;;) {
    core::Result<std::string> bytes = channel_.Receive({core::Deadline::max(), stop_.get()});
    if (!bytes) return Leave(bytes.error());
    if (bytes->empty()) return Leave(std::nullopt);
    if (core::Result<void> taken = reader_.Take(*bytes); !taken) return Leave(taken.error());
    const std::lock_guard lock(mutex_);
    if (reader_.has_request() && !std::exchange(had_request_, true)) {
      request_ = reader_.TakeRequest();
      egress_bounds_ = reader_.egress_bounds();
      changed_.notify_all();
    }
    if (reader_.cancelled()) {
      cancelled_ = true;
      eventfd_write(cancel_.get(), 1);
      changed_.notify_all();
    }
  }
}

void HostListener::Leave(std::optional<core::Error> fault) {
  const std::lock_guard lock(mutex_);
  gone_ = true;
  fault_ = std::move(fault);
  eventfd_write(cancel_.get(), 1);
  changed_.notify_all();
}

std::optional<host::Request> HostListener::AwaitRequest() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return request_ || gone_; });
  return std::exchange(request_, std::nullopt);
}

core::Result<void> HostListener::TakeAnswer(std::string answer) {
  const std::lock_guard lock(mutex_);
  if (!owes_answer_) return core::MakeError("read from the host", "an answer without a call");
  owes_answer_ = false;
  answer_ = std::move(answer);
  changed_.notify_all();
  return {};
}

void HostListener::ExpectAnswer() {
  const std::lock_guard lock(mutex_);
  owes_answer_ = true;
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

wire::EgressBounds HostListener::egress_bounds() const {
  const std::lock_guard lock(mutex_);
  return egress_bounds_;
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
