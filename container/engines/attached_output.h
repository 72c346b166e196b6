// The output of an attached container, multiplexed by the Engine API: pieces of standard output and
// standard error, each after eight bytes {stream, 0, 0, 0, length of four bytes, big-endian}.
#ifndef BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_
#define BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace belljar::container::engines {

// Separates the streams. Buffers only the bytes of a header.
class AttachedOutput {
 public:
  enum class Stream { kNone, kStdout, kStderr };
  struct Piece {
    Stream stream = Stream::kNone;  // kNone: `input` was consumed without a piece
    std::string_view bytes;         // within `input`
  };

  // Takes the next piece from the front of `input`. kNone: all of it is consumed, or failed().
  Piece Take(std::string_view& input);

  // The input does not have that format; nothing more can be parsed.
  bool failed() const { return failed_; }

 private:
  void ReadHeader();

  std::array<unsigned char, 8> header_{};
  size_t header_size_ = 0;
  uint32_t left_ = 0;  // of the current piece
  Stream stream_ = Stream::kNone;
  bool failed_ = false;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_
