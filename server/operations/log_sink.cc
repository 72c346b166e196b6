#include "server/operations/log_sink.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace belljar::server::operations {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

core::Result<std::shared_ptr<PatientSink>> PatientSink::Create(
    int fd, std::function<uint64_t()> overrun, std::function<std::string(uint64_t)> dropped_entry) {
  core::Result<waiting::Event> closing = waiting::Event::Create("open the log");
  if (!closing) return closing.error();
  return std::shared_ptr<PatientSink>(
      new PatientSink(fd, std::move(*closing), std::move(overrun), std::move(dropped_entry)));
}

PatientSink::PatientSink(int fd, waiting::Event closing, std::function<uint64_t()> overrun,
                         std::function<std::string(uint64_t)> dropped_entry)
    : fd_(fd),
      closing_(std::move(closing)),
      deadline_(std::numeric_limits<int64_t>::max()),
      overrun_(std::move(overrun)),
      dropped_entry_(std::move(dropped_entry)) {
  struct stat file;
  if (fstat(fd, &file) != 0) return;
  if (S_ISSOCK(file.st_mode)) {  // systemd's journal
    way_ = Way::kSocket;
  } else if (S_ISFIFO(file.st_mode) || S_ISCHR(file.st_mode)) {
    // A new open file description can have O_NONBLOCK. Without /proc, or on another user's
    // terminal, poll reports whether one page fits into a pipe.
    own_ = core::UniqueFd(open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                               O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    way_ = own_ ? Way::kOwnDescription : Way::kPages;
    if (own_) fd_ = own_.get();
  }
}

void PatientSink::Close(std::chrono::milliseconds grace) {
  deadline_ = (Clock::now() + grace).time_since_epoch().count();
  closing_.Raise();
}

void PatientSink::log(const spdlog::details::log_msg& message) {
  if (const uint64_t dropped = this->dropped(); dropped > reported_) {
    if (Write(dropped_entry_(dropped - reported_))) reported_ = dropped;
  }
  if (!Write({message.payload.data(), message.payload.size()})) ++unwritten_;
}

// False: the line was dropped, possibly after part of it was written.
bool PatientSink::Write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = WriteSome(line);
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR && (errno != EAGAIN || !WaitWritable())) {
      return false;
    }
  }
  return true;
}

ssize_t PatientSink::WriteSome(std::string_view text) {
  if (way_ == Way::kSocket) {
    return send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (way_ == Way::kPages) {
    pollfd polled{fd_, POLLOUT, 0};
    if (poll(&polled, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
    text = text.substr(0, PIPE_BUF);
  }
  return write(fd_, text.data(), text.size());
}

// False: closed and the grace period is over.
bool PatientSink::WaitWritable() {
  while (true) {
    const Clock::duration left{deadline_ - Clock::now().time_since_epoch().count()};
    const bool open = deadline_ == std::numeric_limits<int64_t>::max();
    if (left <= Clock::duration::zero()) return false;
    const int timeout =
        open ? -1 : static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    pollfd polled[] = {{fd_, POLLOUT, 0}, {open ? closing_.fd() : -1, POLLIN, 0}};
    if (poll(polled, std::size(polled), timeout) > 0 && polled[0].revents != 0) return true;
  }
}

}  // namespace belljar::server::operations
