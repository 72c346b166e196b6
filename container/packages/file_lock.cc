#include "container/packages/file_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace belljar {
namespace {

// How often to look: flock itself can be given up by a signal only.
constexpr int kLook = 100;  // milliseconds

}  // namespace

Result<UniqueFd> LockFile(const std::string& path, const LockWait& wait) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return SystemError("open " + path);
  for (;;) {
    if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return SystemError("lock " + path);
    if (Clock::now() >= wait.deadline) {
      return SystemErrorOf(ETIMEDOUT, "wait for the packages",
                           "somebody else is installing the same; ask again later");
    }
    pollfd cancelled{.fd = wait.cancel_fd, .events = POLLIN, .revents = 0};
    if (poll(&cancelled, 1, std::min(kLook, PollTimeout(wait.deadline))) > 0) {
      return SystemErrorOf(ECANCELED, "wait for the packages");
    }
  }
}

}  // namespace belljar
