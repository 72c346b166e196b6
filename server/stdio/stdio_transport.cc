#include "server/stdio/stdio_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "engine/core/thread.h"

namespace belljar::server::stdio {
namespace {

constexpr char kConversation[] = "stdio";
// Maximum size of one read; typical messages are far smaller.
constexpr size_t kReadSize = 64 * 1024;
// Maximum number of bytes waiting to be written; a client that does not read is disconnected beyond
// it. The output limits of guests are far lower.
constexpr size_t kMaxWaiting = 64 << 20;

constexpr char kTooLong[] = R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":)"
                            R"("the message is longer than 20 MiB"}})";

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == line.npos; }

// A non-blocking descriptor for the same pipe. The original is not changed if possible, since other
// processes may share it. Sockets use MSG_DONTWAIT instead; files and terminals are written
// blocking.
core::UniqueFd Unblocked(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  core::UniqueFd own(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (own) return own;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  return core::UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

mode_t KindOf(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

}  // namespace

// Outgoing lines. The thread of a call writes directly while the client keeps up. When the pipe is
// full, lines are queued for a dedicated writer thread, so that calls and their cancellation never
// depend on the reader.
class StdioTransport::Output {
 public:
  explicit Output(int fd)
      : is_socket_(KindOf(fd) == S_IFSOCK),
        own_(KindOf(fd) == S_IFIFO ? Unblocked(fd) : core::UniqueFd()),
        fd_(own_ ? own_.get() : fd) {}

  ~Output() { Close(); }

  core::Result<void> Start() {
    return writer_.Start("serve stdio", [this] { WriteWaiting(); });
  }

  void Line(std::string text) {
    text += '\n';
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (waiting_.empty()) {
      text.erase(0, WriteWhatFits(text));
      if (text.empty()) return;
    }
    // One long answer is always accepted; a client that leaves more unread counts as gone.
    if (waiting_.empty()) {
      waiting_ = std::move(text);
    } else if (waiting_.size() - sent_ + text.size() > kMaxWaiting) {
      return CloseLocked();
    } else {
      if (sent_ > waiting_.size() / 2) waiting_.erase(0, std::exchange(sent_, 0));
      waiting_ += text;
    }
    changed_.notify_all();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  // For detecting that the reader is gone.
  int fd() const { return fd_; }

  // Gives the client some time to read queued lines.
  void Flush(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, within, [&] { return closed_ || waiting_.empty(); });
  }

  void Close() {
    {
      const std::lock_guard lock(mutex_);
      CloseLocked();
    }
    writer_.Join();
  }

 private:
  void CloseLocked() {
    closed_ = true;
    waiting_ = std::string();
    sent_ = 0;
    changed_.notify_all();
  }

  // Does not block. Returns the full size if the reader is gone; the output is then closed.
  size_t WriteWhatFits(std::string_view text) {
    size_t written = 0;
    while (written < text.size()) {
      const std::string_view rest = text.substr(written);
      const ssize_t wrote = is_socket_
                                ? send(fd_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : write(fd_, rest.data(), rest.size());
      if (wrote >= 0) {
        written += static_cast<size_t>(wrote);
      } else if (errno == EAGAIN) {
        break;
      } else if (errno != EINTR) {
        CloseLocked();
        return text.size();
      }
    }
    return written;
  }

  void WriteWaiting() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (closed_) return;
      lock.unlock();
      pollfd writable{fd_, POLLOUT, 0};
      // With a timeout, to check periodically whether this has been closed.
      poll(&writable, 1, 100);
      lock.lock();
      if (closed_) return;
      const size_t written = WriteWhatFits(std::string_view(waiting_).substr(sent_));
      if (closed_) return;
      sent_ += written;
      if (sent_ < waiting_.size()) continue;
      waiting_ = std::string();
      sent_ = 0;
      changed_.notify_all();
    }
  }

  const bool is_socket_;
  const core::UniqueFd own_;
  const int fd_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  size_t sent_ = 0;  // bytes of waiting_
  bool closed_ = false;
  core::Thread writer_;
};

// Replies to one message; all replies share one output.
class StdioTransport::LineReply final : public Reply {
 public:
  explicit LineReply(std::shared_ptr<Output> output) : output_(std::move(output)) {}
  void Notify(std::string text) override { output_->Line(std::move(text)); }
  void Finish(Answer answer) override {
    if (!answer.text.empty()) output_->Line(std::move(answer.text));
  }

 private:
  const std::shared_ptr<Output> output_;
};

StdioTransport::StdioTransport(int input, int output, MessageHandler& handler)
    : input_(input), handler_(handler), output_(std::make_shared<Output>(output)) {}

StdioTransport::~StdioTransport() {
  constexpr std::chrono::seconds kFlushTimeout{1};
  output_->Flush(kFlushTimeout);
  output_->Close();
}

core::Result<StdioTransport::End> StdioTransport::Run(int stop_fd) {
  if (core::Result<void> started = output_->Start(); !started) return started.error();
  std::string buffer(kReadSize, '\0');
  for (;;) {
    pollfd watched[] = {{input_, POLLIN, 0}, {stop_fd, POLLIN, 0}, {output_->fd(), 0, 0}};
    if (poll(watched, 3, -1) < 0) {
      if (errno == EINTR) continue;
      return core::SystemError("wait for a message");
    }
    if (watched[1].revents) return End::kStopped;
    ssize_t got = 0;
    if (watched[0].revents) {
      got = read(input_, buffer.data(), buffer.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0 && errno != ECONNRESET) return core::SystemError("read a message");
    }
    if (got > 0) {
      Take(std::string_view(buffer).substr(0, static_cast<size_t>(got)));
      if (!output_->closed()) continue;
    }
    if (got <= 0 && !line_.empty() && !skipping_) HandLine(std::move(line_));
    if (got <= 0 && KindOf(input_) == S_IFREG && !output_->closed()) return End::kInput;
    handler_.End(Caller(), kConversation);
    return End::kPeer;
  }
}

void StdioTransport::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const std::string_view part = bytes.substr(0, newline);
    if (!skipping_ && line_.size() + part.size() > kMaxLine.count) {
      skipping_ = true;
      line_ = std::string();
      output_->Line(kTooLong);
    }
    if (!skipping_) line_ += part;
    if (newline == bytes.npos) return;
    if (!skipping_) HandLine(std::exchange(line_, {}));
    skipping_ = false;
    bytes.remove_prefix(newline + 1);
  }
}

void StdioTransport::HandLine(std::string line) {
  if (IsBlank(line)) return;
  IncomingMessage message;
  message.text = std::move(line);
  message.conversation = kConversation;
  handler_.Handle(std::move(message), std::make_shared<LineReply>(output_));
}

}  // namespace belljar::server::stdio
