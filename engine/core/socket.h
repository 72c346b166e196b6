// The Unix sockets between host, zygote and worker: whole messages, attached descriptors, and a
// deadline on every wait of the host, since the peer may be hostile or dead.
#ifndef BELLJAR_ENGINE_CORE_SOCKET_H_
#define BELLJAR_ENGINE_CORE_SOCKET_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <boost/container/static_vector.hpp>
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

// Milliseconds until `deadline` for poll(2): rounded up, never negative.
int PollTimeout(Deadline deadline);

// Blocks until `fd` is readable or has hung up. ETIMEDOUT after the deadline.
Result<void> WaitReadable(int fd, Deadline deadline);

// Sends one SEQPACKET message with up to kMaxDescriptors descriptors. EPIPE: the peer is gone.
inline constexpr size_t kMaxDescriptors = 4;
Result<void> SendMessage(int fd, std::string_view bytes, std::span<const int> descriptors = {});

using Descriptors = boost::container::static_vector<UniqueFd, kMaxDescriptors + 8>;
struct Message {
  std::string bytes;
  // In place: the init of a session has no system call with which to get memory. As many as there
  // is room for where a message is received.
  Descriptors descriptors;
};
// Receives one SEQPACKET message of at most `limit` bytes. A longer one, or one with more
// descriptors, is an error, and its descriptors are closed. An empty message means that the peer
// has closed.
Result<Message> ReceiveMessage(int fd, size_t limit);

// Sends all of `parts` into a stream. Does not raise SIGPIPE.
Result<void> SendAll(int fd, std::span<const std::string_view> parts, Deadline deadline);

// The process that sent the next unread message, as attested by the kernel. Precondition:
// NoteSenders was called before it was sent. Consumes nothing; EOF is ECONNRESET.
Result<void> NoteSenders(int fd);
Result<pid_t> SenderOfNext(int fd);

// Receives exactly `size` bytes from a stream. EOF before that is ECONNRESET.
Result<void> ReceiveExactly(int fd, void* buffer, size_t size);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_SOCKET_H_
