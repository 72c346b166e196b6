#include "engine/outside/worker_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/core/json_reader.h"

namespace belljar {
namespace {

constexpr size_t kReadAtOnce = 64 * 1024;

// What goes back when the function's own answer cannot.
std::string Refusal(std::string_view type, const std::string& message) {
  return nlohmann::json{{"error", {{"type", type}, {"message", message}}}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool IsOver(ssize_t moved) { return moved < 0 && errno != EAGAIN && errno != EINTR; }

}  // namespace

short WorkerLine::events() const { return answer_.empty() ? POLLIN : POLLOUT; }

WorkerLine::Word WorkerLine::Move() {
  // While it has an answer to take it has nothing to say.
  return answer_.empty() ? Receive() : Send();
}

WorkerLine::Word WorkerLine::Send() {
  const ssize_t sent = send(socket_, answer_.data(), answer_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (IsOver(sent)) return Word::kNonsense;
  if (sent > 0) answer_.erase(0, static_cast<size_t>(sent));
  return Word::kNothing;
}

// Never beyond the present word: what is announced is not made room for before it comes.
WorkerLine::Word WorkerLine::Receive() {
  char bytes[kReadAtOnce];
  const size_t left = std::min(wanted_ - received_.size(), sizeof bytes);
  const ssize_t got = recv(socket_, bytes, left, MSG_DONTWAIT);
  if (got == 0 || IsOver(got)) return Word::kNonsense;
  if (got > 0) received_.append(bytes, static_cast<size_t>(got));
  // How a word begins is sent at once, and comes at once.
  if (!received_.empty() && received_.size() < sizeof signal_) return Word::kNonsense;
  return received_.size() < wanted_ ? Word::kNothing : Judge();
}

WorkerLine::Word WorkerLine::Judge() {
  if (received_.size() > sizeof signal_) {
    return IsCallable(CalledName()) ? Word::kCall : Word::kNonsense;
  }
  memcpy(&signal_, received_.data(), sizeof signal_);
  if (signal_.kind == WorkerSignal::kDone) return Word::kDone;
  if (signal_.kind != WorkerSignal::kCall || !call_) return Word::kNonsense;
  if (signal_.step > kMaxFunctionName || signal_.step == 0 || signal_.value == 0 ||
      signal_.value > request_.limits.result.count) {
    return Word::kNonsense;
  }
  wanted_ += size_t{signal_.step} + signal_.value;
  return Word::kNothing;
}

std::string_view WorkerLine::CalledName() const {
  return std::string_view(received_).substr(sizeof signal_, signal_.step);
}

bool WorkerLine::IsCallable(std::string_view name) const {
  return std::find(request_.functions.begin(), request_.functions.end(), name) !=
         request_.functions.end();
}

void WorkerLine::Answer() {
  const std::string name(CalledName());
  const auto arguments = std::string_view(received_).substr(sizeof signal_ + name.size());
  std::string text;
  // The runner sends no such thing; whoever else does gets an answer that tells nothing.
  if (std::holds_alternative<JsonFailure>(ReadJson(arguments, {.depth = kMaxCallDepth}))) {
    text = Refusal("ValueError", name + "(): its arguments are not plain data");
  } else {
    text = call_(name, arguments);
  }
  const Bytes most = request_.limits.result;
  if (text.size() > most.count) {
    text = Refusal("ValueError", name + "(): its answer takes more than the " + most.ToString() +
                                     " that a result may");
  }
  const auto size = static_cast<uint32_t>(text.size());
  answer_.assign(AsBytes(size));
  answer_ += text;
  received_.clear();
  wanted_ = sizeof signal_;
}

}  // namespace belljar
