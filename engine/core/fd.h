// UniqueFd: the owner of one file descriptor. Every descriptor that crosses a function boundary and
// is owned travels in one of these; a plain int parameter is borrowed.
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
  // All that is owned in this process, for CloseInheritedDescriptors.
  void Note();
  bool Forget() const;  // false: it is not owned any more

  int fd_ = -1;
  unsigned process_ = 0;  // in which it came to be owned, counted from the first by forks
};

// In a child that fork made of a process that goes on with these descriptors: closes what UniqueFds
// own, so that the child keeps nothing alive that is the parent's. They own nothing afterwards: one
// that is still destroyed closes no number that has become another file's. Takes no lock.
void CloseInheritedDescriptors();

// An anonymous file of exactly `size` bytes that no holder can shrink or grow: a peer that
// truncated it would make every reader of a mapping take SIGBUS.
Result<UniqueFd> CreateSealedMemory(const char* name, size_t size);

// An anonymous read-only file that holds `content`.
Result<UniqueFd> CreateMemoryFile(const char* name, std::string_view content);

// All of it, with as many writes as it takes, waiting where the reader is slow. False sets errno.
bool WriteBytes(int fd, std::string_view bytes);

// The whole of a regular file, a memory file or a /proc file, but no more than `limit` bytes: past
// it the answer is an error (EFBIG), never a part.
Result<std::string> ReadAll(int fd, size_t limit);
Result<std::string> ReadFile(const std::string& path, size_t limit);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_FD_H_
