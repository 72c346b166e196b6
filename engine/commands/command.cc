#include "engine/commands/command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace belljar::commands {
namespace {

constexpr char kRead[] = "read a command's output";
constexpr char kWrite[] = "write to a command";
constexpr char kAwait[] = "wait for a command";
constexpr size_t kMaxPendingInput = size_t{1} << 20;
constexpr char kEndOfInput = 4;  // Ctrl-D

std::string Late() { return "nothing has come in time"; }

}  // namespace

std::string_view StateName(CommandState state) {
  switch (state) {
    case CommandState::kRunning: return "running";
    case CommandState::kExited: return "exited";
    case CommandState::kNotStarted: return "not_started";
    case CommandState::kTimeout: return "timeout";
    case CommandState::kCpuLimit: return "cpu_limit";
    case CommandState::kMemoryLimit: return "memory_limit";
    case CommandState::kKilled: return "killed";
    case CommandState::kLost: break;
  }
  return "lost";
}

Command::Command(uint64_t number, CommandRequest request,
                 std::shared_ptr<const waiting::Event> wake)
    : number_(number),
      request_(std::move(request)),
      wake_(std::move(wake)),
      streams_{OutputBuffer(request_.buffer.count, request_.waits_for_reader),
               OutputBuffer(request_.buffer.count, request_.waits_for_reader)} {
  status_.started = std::chrono::system_clock::now();
  if (request_.terminal) Of(Stream::kErrors).Close();
}

CommandStatus Command::status() const {
  const std::lock_guard lock(mutex_);
  CommandStatus status = status_;
  if (!HasEnded()) {
    status.wall_time =
        std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - began_);
  }
  status.output = streams_[0].extent();
  status.errors = streams_[1].extent();
  return status;
}

void Command::End(CommandState state, std::string why) {
  if (HasEnded()) return;
  status_.state = state;
  status_.why = std::move(why);
  status_.wall_time =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - began_);
  Changed();
}

core::Result<Piece> Command::Read(Stream stream, uint64_t from, size_t max,
                                  const waiting::Wait& wait) {
  std::unique_lock lock(mutex_);
  OutputBuffer& buffer = Of(stream);
  const bool was_full = buffer.IsFull();
  buffer.DropBefore(from);
  if (was_full && !buffer.IsFull()) wake_->Raise();
  const auto index = static_cast<size_t>(stream);
  while (!buffer.HasFrom(from) && !EndsAt(index, from)) {
    if (const auto waited = waiters_.Take(lock, wait, kRead, Late); !waited) return waited.error();
  }
  Piece piece = buffer.From(from, max);
  piece.is_end = piece.is_end || EndsAt(index, piece.end);
  return piece;
}

core::Result<void> Command::AwaitOutput(uint64_t output_from, uint64_t errors_from,
                                        const waiting::Wait& wait) {
  std::unique_lock lock(mutex_);
  const std::array<uint64_t, 2> from = {output_from, errors_from};
  for (;;) {
    bool has_all = true;
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (EndsAt(i, from[i])) continue;
      const StreamExtent extent = streams_[i].extent();
      if (from[i] < extent.end) return {};
      has_all = has_all && extent.is_closed;
    }
    if (has_all) return {};
    if (auto waited = waiters_.Take(lock, wait, kRead, Late); !waited) return waited.error();
  }
}

void Command::DropOutput() {
  const std::lock_guard lock(mutex_);
  for (OutputBuffer& stream : streams_) stream.DropAll();
  wake_->Raise();
}

bool Command::EndsAt(size_t stream, uint64_t address) const {
  return HasEnded() && address >= ends_[stream];
}

// Requires mutex_. What cannot be written now stays pending.
void Command::FlushInput() {
  while (HasPendingInput()) {
    const ssize_t written = write(input_.to.get(), input_.pending.data() + input_.written,
                                  input_.pending.size() - input_.written);
    if (written > 0) {
      input_.written += static_cast<size_t>(written);
    } else if (written < 0 && errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      input_.to.Reset();  // nobody reads it
    }
  }
  // What is left is moved only once it is less than what has been written.
  if (2 * input_.written >= input_.pending.size()) {
    input_.pending.erase(0, input_.written);
    input_.written = 0;
  }
  if (input_.closes && input_.pending.empty()) input_.to.Reset();
}

core::Result<void> Command::Write(std::string_view bytes, const waiting::Wait& wait) {
  std::unique_lock lock(mutex_);
  while (!bytes.empty()) {
    if (!input_.to || input_.closes) {
      return core::SystemErrorOf(EPIPE, kWrite, "its standard input is closed");
    }
    const size_t pending = input_.pending.size() - input_.written;
    const size_t room = kMaxPendingInput - std::min(kMaxPendingInput, pending);
    if (room < std::min(bytes.size(), kMaxPendingInput)) {
      if (auto waited = waiters_.Take(lock, wait, kWrite, Late); !waited) return waited.error();
      continue;
    }
    input_.pending += bytes.substr(0, room);
    bytes.remove_prefix(std::min(room, bytes.size()));
    FlushInput();
    if (HasPendingInput()) wake_->Raise();
  }
  if (!input_.to && !input_.pending.empty())
    return core::SystemErrorOf(EPIPE, kWrite, "its standard input is closed");
  return {};
}

core::Result<void> Command::CloseInput() {
  const std::lock_guard lock(mutex_);
  if (!input_.to) return {};
  if (request_.terminal) {
    input_.pending += kEndOfInput;
  } else {
    input_.closes = true;
  }
  FlushInput();
  wake_->Raise();
  return {};
}

core::Result<bool> Command::Signal(int number) {
  const std::lock_guard lock(mutex_);
  if (HasEnded()) return false;
  signals_.push_back(number);
  wake_->Raise();
  return true;
}

core::Result<void> Command::Resize(TerminalSize size) {
  const std::lock_guard lock(mutex_);
  if (!request_.terminal) return core::MakeError("resize a terminal", "the command has none");
  const winsize wanted{size.rows, size.columns, 0, 0};
  if (terminal_ && ioctl(terminal_.get(), TIOCSWINSZ, &wanted) != 0)
    return core::SystemError("resize a terminal");
  return {};
}

void Command::Kill() {
  const std::lock_guard lock(mutex_);
  is_to_end_ = true;
  wake_->Raise();
}

core::Result<CommandStatus> Command::Await(const waiting::Wait& wait) {
  {
    std::unique_lock lock(mutex_);
    while (!HasEnded()) {
      if (auto waited = waiters_.Take(lock, wait, kAwait, Late); !waited) return waited.error();
    }
  }
  return status();
}

}  // namespace belljar::commands
