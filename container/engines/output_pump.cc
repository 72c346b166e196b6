#include "container/engines/output_pump.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "container/engines/attached_output.h"
#include "engine/core/socket.h"

namespace belljar::container::engines {
namespace {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;

constexpr size_t kReadSize = 64 << 10;
constexpr size_t kTail = 8 << 10;

}  // namespace

void StreamTail::Append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes.size() > kTail) bytes.remove_prefix(bytes.size() - kTail);
  const size_t total = text_.size() + bytes.size();
  if (total > kTail) text_.erase(0, total - kTail);
  text_ += bytes;
}

std::string StreamTail::Text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

// Lives as long as one of its operations is pending: until either end is closed.
class OutputPump::AttachedStream : public std::enable_shared_from_this<AttachedStream> {
 public:
  // Throws like Asio if descriptors or memory have run out.
  AttachedStream(asio::io_context& io, core::UniqueFd attached, core::UniqueFd output,
                 std::shared_ptr<StreamTail> errors)
      : attached_(io), output_(io), errors_(std::move(errors)) {
    attached_.assign(asio::local::stream_protocol(), attached.get());
    (void)attached.Release();
    output_.assign(asio::local::stream_protocol(), output.get());
    (void)output.Release();
  }

  void Start() {
    Read();
    WatchReader();
  }

 private:
  void Read() {
    attached_.async_read_some(
        asio::buffer(buffer_),
        [self = shared_from_this()](boost::system::error_code error, size_t size) {
          if (error) return self->Close();
          self->left_ = {self->buffer_.data(), size};
          self->Pass();
        });
  }

  void Pass() {
    for (;;) {
      const AttachedOutput::Piece piece = streams_.Take(left_);
      if (streams_.failed()) return Close();
      if (piece.stream == AttachedOutput::Stream::kNone) return Read();
      if (piece.stream == AttachedOutput::Stream::kStderr) {
        errors_->Append(piece.bytes);
        continue;
      }
      asio::async_write(output_, asio::buffer(piece.bytes.data(), piece.bytes.size()),
                        [self = shared_from_this()](boost::system::error_code error, size_t) {
                          if (error) return self->Close();
                          self->Pass();
                        });
      return;
    }
  }

  // Detects a closed reader immediately, not only at the container's next output, so that the
  // daemon releases the container's input too. A reader never writes.
  void WatchReader() {
    output_.async_wait(Socket::wait_read,
                       [self = shared_from_this()](boost::system::error_code) { self->Close(); });
  }

  void Close() {
    boost::system::error_code ignored;
    // Others may hold copies of the descriptor (StartedContainer::input).
    attached_.shutdown(Socket::shutdown_both, ignored);
    attached_.close(ignored);
    output_.close(ignored);
  }

  Socket attached_;
  Socket output_;
  const std::shared_ptr<StreamTail> errors_;
  AttachedOutput streams_;
  std::array<char, kReadSize> buffer_;
  std::string_view left_;  // part of the buffer
};

OutputPump::OutputPump() : work_(io_.get_executor()) {}

OutputPump::~OutputPump() {
  io_.stop();
  thread_.Join();
}

core::Result<void> OutputPump::EnsureThread() {
  const std::lock_guard lock(mutex_);
  if (is_running_) return {};
  core::Result<void> started =
      thread_.Start("forward the output of containers", [this] { io_.run(); });
  is_running_ = started.ok();
  return started;
}

core::Result<OutputPump::Streams> OutputPump::Add(core::UniqueFd attached) {
  if (core::Result<void> running = EnsureThread(); !running) return running.error();
  core::Result<std::pair<core::UniqueFd, core::UniqueFd>> pair =
      core::CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  auto errors = std::make_shared<StreamTail>();
  try {
    auto stream =
        std::make_shared<AttachedStream>(io_, std::move(attached), std::move(pair->second), errors);
    asio::post(io_, [stream = std::move(stream)] { stream->Start(); });
  } catch (const boost::system::system_error& error) {
    return core::SystemErrorOf(error.code().value(), "attach to a container");
  }
  return Streams{std::move(pair->first), std::move(errors)};
}

}  // namespace belljar::container::engines
