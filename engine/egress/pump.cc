#include "engine/egress/pump.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace belljar::egress {
namespace {

constexpr size_t kSmallBuffer = 16 << 10;
// Larger buffers do not make a loopback faster: copied data should still be in the L2 cache.
constexpr size_t kLargeBuffer = 256 << 10;
constexpr size_t kMaxChunk = 2 << 20;

bool MustWait(int error_number) { return error_number == EAGAIN || error_number == EWOULDBLOCK; }

}  // namespace

Pump::Pump(int from, int to, uint64_t& left) : from_(from), to_(to), left_(left) {}

bool Pump::Stop(State state) {
  state_ = state;
  return false;
}

void Pump::Prepend(std::string_view bytes) {
  unwritten_ += bytes;
  pending_ = unwritten_;
}

void Pump::Feed(std::string_view bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > left_) {
    state_ = State::kOverBudget;
  } else if (body_) {
    (void)PassBody(bytes);
  } else {
    Prepend(bytes);
    Count(bytes.size());
  }
}

void Pump::Count(size_t size) {
  left_ -= size;
  moved_ += size;
}

Pump::State Pump::Move() {
  if (state_ == State::kFinished || state_ == State::kOverBudget || state_ == State::kBroken) {
    return state_;
  }
  const uint64_t before = moved_;
  for (;;) {
    if (!Write()) return state_;
    if (ended_) return state_ = End();
    if (moved_ - before >= kMaxChunk) return state_ = State::kYields;
    if (!Read()) return state_;
  }
}

Pump::State Pump::End() {
  // The other side knows where a body ends.
  if (!body_ && shutdown(to_, SHUT_WR) != 0) return State::kBroken;
  return State::kFinished;
}

bool Pump::Read() {
  if (body_ && body_->state() == RequestBody::State::kDone) {
    ended_ = true;
    return true;
  }
  if (buffer_.empty()) buffer_.resize(kSmallBuffer);
  ssize_t got;
  do {
    got = recv(from_, buffer_.data(), buffer_.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Stop(MustWait(errno) ? State::kWantsInput : State::kBroken);
  if (got == 0) {
    // In the middle of a body: the target must not mistake a part for all of it.
    if (body_) return Stop(State::kBroken);
    ended_ = true;
    return true;
  }
  const auto size = static_cast<size_t>(got);
  if (size > left_) return Stop(State::kOverBudget);
  // Only while the buffer is empty: pending_ points into it.
  grow_ = size == buffer_.size() && buffer_.size() < kLargeBuffer;
  if (body_) return PassBody({buffer_.data(), size});
  pending_ = {buffer_.data(), size};
  Count(size);
  return true;
}

bool Pump::PassBody(std::string_view bytes) {
  held_ += bytes;
  const size_t used = body_->Take(held_, unwritten_);
  held_.erase(0, used);
  if (body_->state() == RequestBody::State::kMalformed) return Stop(State::kBroken);
  Count(bytes.size());
  pending_ = unwritten_;
  return true;
}

bool Pump::Write() {
  while (!pending_.empty()) {
    const ssize_t sent = send(to_, pending_.data(), pending_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return Stop(MustWait(errno) ? State::kWantsOutput : State::kBroken);
    pending_.remove_prefix(static_cast<size_t>(sent));
  }
  unwritten_.clear();
  if (std::exchange(grow_, false)) {
    buffer_ = std::vector<char>(std::min(buffer_.size() * 4, kLargeBuffer));
  }
  return true;
}

}  // namespace belljar::egress
