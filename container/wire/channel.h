// Channel: the host's or the guest's end of the two streams between them: a socket, pipes, or what
// a container engine attaches. It moves bytes and waits for them; the readers interpret them.
#ifndef BELLJAR_CONTAINER_WIRE_CHANNEL_H_
#define BELLJAR_CONTAINER_WIRE_CHANNEL_H_

#include <poll.h>
#include <sys/uio.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/waiting/wait.h"

namespace belljar::container::wire {

// One thread may receive while others send: frames are not interleaved. The process ignores
// SIGPIPE, as all of Belljar's programs do.
class Channel {
 public:
  // Both become non-blocking. For one descriptor in both directions, use OfSocket.
  static core::Result<Channel> OfPipes(core::UniqueFd in, core::UniqueFd out);
  static core::Result<Channel> OfSocket(core::UniqueFd socket);

  // Received bytes, at most 64 KiB; waits for the first. Empty: the peer has closed.
  core::Result<std::string> Receive(const waiting::Wait& wait) const;
  // The same without waiting; nullopt: nothing has arrived.
  core::Result<std::optional<std::string>> ReceiveNow() const;
  // EPIPE: the peer has closed.
  core::Result<void> Send(FrameKind kind, std::string_view payload,
                          const waiting::Wait& wait) const;
  // Sends `content` in content frames; none if it is empty.
  core::Result<void> SendContent(std::string_view content, const waiting::Wait& wait) const;

  // Sends encoded frames.
  core::Result<void> SendFrames(std::string_view frames, const waiting::Wait& wait) const;
  // Returns how many bytes could be sent without waiting. Only if there is no other sender.
  core::Result<size_t> SendNow(std::string_view frames) const;

  // Readable when data has arrived, or the peer has closed.
  int fd() const { return in_.get(); }
  // Writable when data can be sent.
  int out_fd() const { return out_.get(); }

 private:
  Channel(core::UniqueFd in, core::UniqueFd out);
  core::Result<void> SendAll(std::span<iovec> parts, const waiting::Wait& wait) const;

  core::UniqueFd in_;
  core::UniqueFd out_;
  std::unique_ptr<std::mutex> sending_ = std::make_unique<std::mutex>();
};

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_CHANNEL_H_
