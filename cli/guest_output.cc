#include "cli/guest_output.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "cli/console.h"

namespace belljar::cli {
namespace {

// A pipe reported as writable by poll accepts this much without blocking (PIPE_BUF on Linux).
constexpr size_t kChunk = 4096;

}  // namespace

GuestOutput::GuestOutput(Interruption& interruption) : interruption_(interruption) {
  sink_.on_stdout = [this](std::string_view bytes) { Add(STDOUT_FILENO, bytes); };
  sink_.on_stderr = [this](std::string_view bytes) { Add(STDERR_FILENO, bytes); };
  const core::Result<void> started = writer_.Start("show the output", [this] { Write(); });
  if (!started) start_error_ = started.error();
}

GuestOutput::~GuestOutput() { (void)Finish(); }

core::Result<void> GuestOutput::Finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_all();
  writer_.Join();
  if (start_error_) return *start_error_;
  if (stdout_error_) return *stdout_error_;
  return {};
}

void GuestOutput::Flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return start_error_ || (pieces_.empty() && !is_writing_); });
}

void GuestOutput::Add(int fd, std::string_view bytes) {
  {
    const std::lock_guard lock(mutex_);
    pieces_.push_back({fd, std::string(bytes)});
  }
  changed_.notify_all();
}

void GuestOutput::Write() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return finishing_ || !pieces_.empty(); });
    if (pieces_.empty()) return;
    const Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    is_writing_ = true;
    lock.unlock();
    WritePiece(piece);
    lock.lock();
    is_writing_ = false;
    changed_.notify_all();
  }
}

void GuestOutput::WritePiece(const Piece& piece) {
  if (piece.fd == STDOUT_FILENO ? stdout_error_.has_value() : stderr_failed_) return;
  std::string_view left = piece.bytes;
  while (!left.empty()) {
    pollfd polled[] = {{piece.fd, POLLOUT, 0}, {interruption_.fd(), POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;  // EINTR
    if (!polled[0].revents) return;         // interrupted, and the reader is stalled
    const std::string_view chunk = left.substr(0, kChunk);
    if (core::Result<void> written = WriteAll(piece.fd, chunk); !written) {
      if (piece.fd == STDERR_FILENO) {
        stderr_failed_ = true;
      } else {
        stdout_error_ = written.error();
        if (written.error().error_number == EPIPE) interruption_.Raise(SIGPIPE);
      }
      return;
    }
    left.remove_prefix(chunk.size());
  }
}

}  // namespace belljar::cli
