#include "engine/core/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace belljar::core {
namespace {

// One bit per descriptor number, in lock-free words: a forked child may read them in whatever state
// the parent's threads left them. Numbers beyond these are only closed by their owners.
constexpr size_t kBits = 64;
constexpr size_t kNoted = 1 << 16;
std::array<std::atomic<uint64_t>, kNoted / kBits> g_owned{};

// Changed in a forked child before it has a second thread.
unsigned g_process = 0;

bool IsNoted(int fd) { return fd >= 0 && static_cast<size_t>(fd) < kNoted; }
uint64_t BitOf(int fd) { return uint64_t{1} << (static_cast<size_t>(fd) % kBits); }
std::atomic<uint64_t>& WordOf(int fd) { return g_owned[static_cast<size_t>(fd) / kBits]; }

// 0: not known before it is read, as of files in /proc.
size_t KnownSize(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size)
                                                            : 0;
}

}  // namespace

void UniqueFd::Note() {
  process_ = g_process;
  if (IsNoted(fd_)) WordOf(fd_).fetch_or(BitOf(fd_), std::memory_order_relaxed);
}

bool UniqueFd::Forget() const {
  // The number may have another owner by now.
  if (process_ != g_process) return !IsNoted(fd_);
  if (!IsNoted(fd_)) return true;
  return (WordOf(fd_).fetch_and(~BitOf(fd_), std::memory_order_relaxed) & BitOf(fd_)) != 0;
}

void UniqueFd::Reset(int fd) {
  // Cleared first: after close the number may be reused. Linux closes the descriptor even if
  // close() reports EINTR, so it must not be retried.
  if (fd_ >= 0 && Forget()) close(fd_);
  fd_ = fd;
  Note();
}

void CloseInheritedDescriptors() {
  ++g_process;
  for (size_t word = 0; word < g_owned.size(); ++word) {
    for (uint64_t owned = g_owned[word].exchange(0); owned != 0; owned &= owned - 1) {
      close(static_cast<int>(word * kBits) + std::countr_zero(owned));
    }
  }
}

Result<UniqueFd> CreateSealedMemory(const char* name, size_t size) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return SystemError("create shared memory");
  if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return SystemError("size shared memory");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return SystemError("seal shared memory");
  }
  return fd;
}

Result<UniqueFd> CreateMemoryFile(const char* name, std::string_view content) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return SystemError("create memory file");
  if (!WriteBytes(fd.get(), content)) return SystemError("write memory file");
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return SystemError("rewind memory file");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    return SystemError("seal memory file");
  }
  return fd;
}

bool WriteBytes(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{fd, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Result<std::string> ReadAll(int fd, size_t limit) {
  // One byte over the limit distinguishes a file of exactly `limit` bytes from a longer one.
  std::string content(std::min(std::max<size_t>(KnownSize(fd) + 1, 4096), limit + 1), '\0');
  size_t used = 0;
  for (;;) {
    if (used == content.size()) content.resize(std::min(2 * used, limit + 1));
    const ssize_t got = read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read");
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > limit) {
      return SystemErrorOf(EFBIG, "read", "more than " + std::to_string(limit) + " bytes");
    }
  }
  content.resize(used);
  return content;
}

Result<std::string> ReadFile(const std::string& path, size_t limit) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return SystemError("open " + path);
  Result<std::string> content = ReadAll(fd.get(), limit);
  if (!content) {
    return SystemErrorOf(content.error().error_number, "read " + path, content.error().detail);
  }
  return content;
}

}  // namespace belljar::core
