// Line: the host's or the guest's end of the two streams between them: a socket, pipes, or what a
// container engine attaches. It moves bytes and waits for them; what they mean is the readers'.
#ifndef BELLJAR_CONTAINER_WIRE_LINE_H_
#define BELLJAR_CONTAINER_WIRE_LINE_H_

#include <string>
#include <string_view>

#include "container/wire/frame.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"

namespace belljar {

struct Wait {
  Deadline deadline = Deadline::max();  // ETIMEDOUT
  int cancel_fd = -1;                   // borrowed; once it is readable: ECANCELED
};

// One thread may receive while another one sends. The process ignores SIGPIPE, as all of Belljar's
// programs do.
class Line {
 public:
  // Both become non-blocking. One descriptor for both directions: see OfSocket.
  static Result<Line> OfPipes(UniqueFd in, UniqueFd out);
  static Result<Line> OfSocket(UniqueFd socket);

  // What has arrived, at most 64 KiB; waits for the first of it. Empty: the peer has closed.
  Result<std::string> Receive(const Wait& wait) const;
  // EPIPE: the peer has closed.
  Result<void> Send(FrameKind kind, std::string_view payload, const Wait& wait) const;
  // All of `content` in content frames; an empty one is none at all.
  Result<void> SendContent(std::string_view content, const Wait& wait) const;

  // Readable when something has come, or the peer has closed.
  int fd() const { return in_.get(); }

 private:
  Line(UniqueFd in, UniqueFd out);

  UniqueFd in_;
  UniqueFd out_;
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_LINE_H_
