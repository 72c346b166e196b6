#include "container/engines/attached_output.h"

#include <algorithm>
#include <cstring>

namespace belljar::container::engines {

AttachedOutput::Piece AttachedOutput::Take(std::string_view& input) {
  while (!failed_ && !input.empty()) {
    if (left_ > 0) {
      const size_t size = std::min<size_t>(left_, input.size());
      const Piece piece{stream_, input.substr(0, size)};
      input.remove_prefix(size);
      left_ -= static_cast<uint32_t>(size);
      return piece;
    }
    const size_t size = std::min(header_.size() - header_size_, input.size());
    memcpy(header_.data() + header_size_, input.data(), size);
    header_size_ += size;
    input.remove_prefix(size);
    if (header_size_ == header_.size()) ReadHeader();
  }
  return {};
}

void AttachedOutput::ReadHeader() {
  header_size_ = 0;
  const auto [stream, a, b, c, l3, l2, l1, l0] = header_;
  // 0 would be standard input, which is never sent back. Daemons end a stream with 3, an error of
  // their own; nothing follows it either.
  if ((stream != 1 && stream != 2) || (a | b | c) != 0) {
    failed_ = true;
    return;
  }
  stream_ = stream == 1 ? Stream::kStdout : Stream::kStderr;
  left_ = uint32_t{l3} << 24 | uint32_t{l2} << 16 | uint32_t{l1} << 8 | uint32_t{l0};
}

}  // namespace belljar::container::engines
