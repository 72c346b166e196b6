#include "engine/commands/output_buffer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace belljar::commands {

bool OutputBuffer::ReadFrom(int fd) {
  constexpr size_t kPiece = size_t{256} << 10;
  const size_t before = text_.size();
  text_.resize(before + kPiece);
  ssize_t got = 0;
  do {
    got = read(fd, text_.data() + before, kPiece);
  } while (got < 0 && errno == EINTR);
  const int error_number = errno;
  text_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (!waits_ && kept() > capacity_) Drop(kept() - capacity_);
  // EIO: of a terminal that no process has open any more.
  return got > 0 || (got < 0 && error_number == EAGAIN);
}

Piece OutputBuffer::From(uint64_t address, size_t max) const {
  const uint64_t from = std::clamp(address, begin(), end());
  const size_t at = skipped_ + static_cast<size_t>(from - begin());
  Piece piece{.bytes = text_.substr(at, max), .begin = from};
  piece.end = from + piece.bytes.size();
  piece.is_end = is_closed_ && piece.end == end();
  return piece;
}

void OutputBuffer::DropBefore(uint64_t address) {
  if (!waits_ || address <= begin()) return;
  Drop(static_cast<size_t>(std::min(address, end()) - begin()));
}

void OutputBuffer::DropAll() {
  capacity_ = 0;
  waits_ = false;
  dropped_ = end();
  skipped_ = 0;
  std::string().swap(text_);
}

// What is left is moved only once it is less than what has been dropped before it.
void OutputBuffer::Drop(size_t bytes) {
  skipped_ += bytes;
  dropped_ += bytes;
  if (skipped_ < text_.size() - skipped_) return;
  text_.erase(0, skipped_);
  skipped_ = 0;
}

}  // namespace belljar::commands
