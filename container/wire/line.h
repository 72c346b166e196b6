// Line: the host's or the guest's end of the two streams between them: a socket, pipes, or what a
// container engine attaches. It moves bytes and waits for them; what they mean is the readers'.
#ifndef BELLJAR_CONTAINER_WIRE_LINE_H_
#define BELLJAR_CONTAINER_WIRE_LINE_H_

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
#include "engine/outside/interrupt_check.h"

namespace belljar {

struct Wait {
  Deadline deadline = Deadline::max();  // ETIMEDOUT
  int cancel_fd = -1;                   // borrowed; once it is readable: ECANCELED
  // Borrowed; null: nobody is asked. Once it says so: ECANCELED. Of the thread that waits.
  InterruptCheck* interrupts = nullptr;
};

// Until one of `watched` has something; errors as Wait has them. Precondition: the first of
// `watched` is the cancellation. One that is -1 is left out.
Result<void> WaitForAny(std::span<pollfd> watched, const Wait& wait);

// One thread may receive while others send: frames do not mix. The process ignores SIGPIPE, as all
// of Belljar's programs do.
class Line {
 public:
  // Both become non-blocking. One descriptor for both directions: see OfSocket.
  static Result<Line> OfPipes(UniqueFd in, UniqueFd out);
  static Result<Line> OfSocket(UniqueFd socket);

  // What has arrived, at most 64 KiB; waits for the first of it. Empty: the peer has closed.
  Result<std::string> Receive(const Wait& wait) const;
  // The same without waiting; nullopt: nothing has.
  Result<std::optional<std::string>> ReceiveNow() const;
  // EPIPE: the peer has closed.
  Result<void> Send(FrameKind kind, std::string_view payload, const Wait& wait) const;
  // All of `content` in content frames; an empty one is none at all.
  Result<void> SendContent(std::string_view content, const Wait& wait) const;

  // Frames as they stand in bytes.
  Result<void> SendFrames(std::string_view frames, const Wait& wait) const;
  // How many bytes of them it takes without waiting. For one that has no other sender.
  Result<size_t> SendNow(std::string_view frames) const;

  // Readable when something has come, or the peer has closed.
  int fd() const { return in_.get(); }
  // Writable when something can be sent.
  int out_fd() const { return out_.get(); }

 private:
  Line(UniqueFd in, UniqueFd out);
  Result<void> SendAll(std::span<iovec> parts, const Wait& wait) const;

  UniqueFd in_;
  UniqueFd out_;
  std::unique_ptr<std::mutex> sending_ = std::make_unique<std::mutex>();
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_LINE_H_
