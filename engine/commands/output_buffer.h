// OutputBuffer: what is kept of a stream that somebody may read later. Bytes have addresses: their
// number since the start of the stream.
#ifndef BELLJAR_ENGINE_COMMANDS_OUTPUT_BUFFER_H_
#define BELLJAR_ENGINE_COMMANDS_OUTPUT_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace belljar::commands {

struct StreamExtent {
  uint64_t begin = 0;  // what is before it has been dropped
  uint64_t end = 0;
  bool is_closed = false;  // nothing more comes
};

struct Piece {
  std::string bytes;
  uint64_t begin = 0;  // later than was asked for: what is between has been dropped
  uint64_t end = 0;
  bool is_end = false;
};

class OutputBuffer {
 public:
  // `waits`: nothing is dropped but by DropBefore.
  OutputBuffer(size_t capacity, bool waits) : capacity_(capacity), waits_(waits) {}

  bool IsFull() const { return waits_ && kept() >= capacity_; }
  // It is full of what nobody has read, and what comes is at the cost of that.
  bool IsDropping() const { return !waits_ && kept() >= capacity_; }
  // Reads what a descriptor has, once. False: it has come to its end.
  bool ReadFrom(int fd);
  void Close() { is_closed_ = true; }

  bool HasFrom(uint64_t address) const { return address < end() || is_closed_; }
  Piece From(uint64_t address, size_t max) const;
  void DropBefore(uint64_t address);  // if it waits
  // Nothing is kept from now on, and nothing waits.
  void DropAll();

  StreamExtent extent() const { return {begin(), end(), is_closed_}; }

 private:
  uint64_t begin() const { return dropped_; }
  uint64_t end() const { return dropped_ + kept(); }
  size_t kept() const { return text_.size() - skipped_; }
  void Drop(size_t bytes);

  size_t capacity_;
  bool waits_;
  std::string text_;
  size_t skipped_ = 0;  // of text_: dropped, but not moved away yet
  uint64_t dropped_ = 0;
  bool is_closed_ = false;
};

}  // namespace belljar::commands

#endif  // BELLJAR_ENGINE_COMMANDS_OUTPUT_BUFFER_H_
