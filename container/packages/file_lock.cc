#include "container/packages/file_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace belljar::container::packages {
namespace {

// Polling interval: flock itself can only be interrupted by a signal.
constexpr int kPollInterval = 100;  // milliseconds

}  // namespace

core::Result<core::UniqueFd> LockFile(const std::string& path, const LockWait& wait) {
  core::UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return core::SystemError("open " + path);
  for (;;) {
    if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return core::SystemError("lock " + path);
    if (core::Clock::now() >= wait.deadline) {
      return core::SystemErrorOf(
          ETIMEDOUT, "wait for the packages",
          "another process is installing the same packages; try again later");
    }
    pollfd cancelled{.fd = wait.cancel_fd, .events = POLLIN, .revents = 0};
    if (poll(&cancelled, 1, std::min(kPollInterval, core::PollTimeout(wait.deadline))) > 0) {
      return core::SystemErrorOf(ECANCELED, "wait for the packages");
    }
  }
}

}  // namespace belljar::container::packages
