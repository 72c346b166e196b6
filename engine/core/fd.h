// UniqueFd: owns one file descriptor. Every owned descriptor that crosses a function boundary is
// passed as a UniqueFd; a plain int parameter is borrowed.
#ifndef BELLJAR_ENGINE_CORE_FD_H_
#define BELLJAR_ENGINE_CORE_FD_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/result.h"

namespace belljar::core {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) { Note(); }
  UniqueFd(UniqueFd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), process_(other.process_) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
      process_ = other.process_;
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() {
    (void)Forget();
    return std::exchange(fd_, -1);
  }
  void Reset(int fd = -1);

 private:
  // Track what this process owns, for CloseInheritedDescriptors.
  void Note();
  bool Forget() const;  // false: no longer owned

  int fd_ = -1;
  unsigned process_ =
      0;  // in which it came to be owned: the number of forks since the first process
};

// In a child that fork made of a process that keeps using these descriptors: closes everything that
// UniqueFds own, so that the child does not keep the parent's resources alive. Afterwards the
// UniqueFds own nothing, and destroying one does not close a reused number. Takes no lock.
void CloseInheritedDescriptors();

// An anonymous file of exactly `size` bytes that no holder can shrink or grow. If a peer could
// truncate it, every reader of a mapping would get SIGBUS.
Result<UniqueFd> CreateSealedMemory(const char* name, size_t size);

// An anonymous read-only file that holds `content`.
Result<UniqueFd> CreateMemoryFile(const char* name, std::string_view content);

// Writes all of it, with as many writes as necessary; blocks on a slow reader. False sets errno.
bool WriteBytes(int fd, std::string_view bytes);

// Reads a whole regular file, memory file or /proc file of at most `limit` bytes. A larger file is
// an error (EFBIG); the content is never truncated.
Result<std::string> ReadAll(int fd, size_t limit);
Result<std::string> ReadFile(const std::string& path, size_t limit);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_FD_H_
