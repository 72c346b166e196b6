#include "engine/run/worker_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace belljar::run {
namespace {

constexpr size_t kReadSize = 64 * 1024;

bool IsOver(ssize_t moved) { return moved < 0 && errno != EAGAIN && errno != EINTR; }

}  // namespace

short WorkerChannel::events() const {
  if (unanswered_) return 0;
  return answer_.empty() ? POLLIN : POLLOUT;
}

WorkerChannel::Message WorkerChannel::Move() {
  // Only its end can have woken us.
  if (unanswered_) return Message::kEnd;
  // While an answer is pending, the worker has nothing to send.
  return answer_.empty() ? Receive() : Send();
}

WorkerChannel::Message WorkerChannel::Send() {
  const ssize_t sent = send(socket_, answer_.data(), answer_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (IsOver(sent)) return Message::kEnd;
  if (sent > 0) answer_.erase(0, static_cast<size_t>(sent));
  return Message::kNothing;
}

// Never reads beyond the current message: no memory is reserved for announced sizes before the data
// arrives.
WorkerChannel::Message WorkerChannel::Receive() {
  char bytes[kReadSize];
  const size_t left = std::min(wanted_ - received_.size(), sizeof bytes);
  const ssize_t got = recv(socket_, bytes, left, MSG_DONTWAIT);
  if (got == 0 || IsOver(got)) return Message::kEnd;
  if (got > 0) received_.append(bytes, static_cast<size_t>(got));
  // The start of a message is sent at once, and arrives at once.
  if (!received_.empty() && received_.size() < sizeof signal_) return Message::kMalformed;
  return received_.size() < wanted_ ? Message::kNothing : Parse();
}

WorkerChannel::Message WorkerChannel::Parse() {
  if (received_.size() > sizeof signal_) {
    // In a cell, a function given to an earlier cell may be called.
    return is_cell_ || calls_.Has(CalledName()) ? Message::kCall : Message::kMalformed;
  }
  memcpy(&signal_, received_.data(), sizeof signal_);
  if (signal_.kind == core::WorkerSignal::kDone) return Message::kDone;
  if (signal_.kind == core::WorkerSignal::kStartOver && may_start_over_) return Message::kStartOver;
  if (signal_.kind != core::WorkerSignal::kCall ||
      !calls_.MayBe(signal_.step, signal_.value, is_cell_)) {
    return Message::kMalformed;
  }
  wanted_ += size_t{signal_.step} + signal_.value;
  return Message::kNothing;
}

std::string_view WorkerChannel::CalledName() const {
  return std::string_view(received_).substr(sizeof signal_, signal_.step);
}

bool WorkerChannel::Answer() {
  const std::string_view name = CalledName();
  const std::string_view arguments =
      std::string_view(received_).substr(sizeof signal_ + name.size());
  std::optional<std::string> text =
      calls_.Has(name) ? calls_.Answer(name, arguments) : FunctionCalls::NotGiven();
  received_.clear();
  wanted_ = sizeof signal_;
  if (!text) return false;
  if (text->empty() && is_cell_) text = FunctionCalls::Interrupted();
  unanswered_ = text->empty();
  if (unanswered_) return true;
  const auto size = static_cast<uint32_t>(text->size());
  answer_.assign(core::AsBytes(size));
  answer_ += *text;
  return true;
}

}  // namespace belljar::run
