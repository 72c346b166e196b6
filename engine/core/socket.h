// The Unix sockets between host, zygote and worker: whole messages, descriptors beside them, and a
// deadline on everything the host waits for, since the peer may be hostile or dead.
#ifndef BELLJAR_ENGINE_CORE_SOCKET_H_
#define BELLJAR_ENGINE_CORE_SOCKET_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::core {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// `type` is SOCK_STREAM or SOCK_SEQPACKET; both ends are close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> CreateSocketPair(int type);

// Milliseconds until `deadline` as poll(2) wants them: rounded up, never negative.
int PollTimeout(Deadline deadline);

// Blocks until `fd` is readable, has hung up, or the deadline has passed (ETIMEDOUT).
Result<void> WaitReadable(int fd, Deadline deadline);

// One SEQPACKET message with up to kMaxDescriptors descriptors. The peer being gone is EPIPE.
inline constexpr size_t kMaxDescriptors = 4;
Result<void> SendMessage(int fd, std::string_view bytes, std::span<const int> descriptors = {});

struct Message {
  std::string bytes;
  std::vector<UniqueFd> descriptors;
};
// One SEQPACKET message of at most `limit` bytes; a longer one, or one with more descriptors, is an
// error and its descriptors are closed. An empty result message means that the peer has closed.
Result<Message> ReceiveMessage(int fd, size_t limit);

// All of `parts` into a stream, or an error. Does not raise SIGPIPE.
Result<void> SendAll(int fd, std::span<const std::string_view> parts, Deadline deadline);

// The process that has sent what waits to be read, as the kernel vouches for it. Precondition:
// NoteSenders before it was sent. Nothing is taken; EOF is ECONNRESET.
Result<void> NoteSenders(int fd);
Result<pid_t> SenderOfNext(int fd);

// Exactly `size` bytes from a stream; EOF before them is ECONNRESET.
Result<void> ReceiveExactly(int fd, void* buffer, size_t size);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_SOCKET_H_
