// What comes out of an attached container, as the Engine API mixes it: pieces of standard output
// and standard error, each behind eight bytes {stream, 0, 0, 0, length of four bytes, big-endian}.
#ifndef BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_
#define BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace belljar::container::engines {

// Tells the streams apart. Holds no bytes but those of a header.
class AttachedOutput {
 public:
  enum class Stream { kNone, kStdout, kStderr };
  struct Piece {
    Stream stream = Stream::kNone;  // kNone: `input` was used up without one
    std::string_view bytes;         // within `input`
  };

  // Takes the next piece off the front of `input`. kNone: all of it is used up, or failed().
  Piece Take(std::string_view& input);

  // What came is not that format. Nothing more can be told apart.
  bool failed() const { return failed_; }

 private:
  void ReadHeader();

  std::array<unsigned char, 8> header_{};
  size_t header_size_ = 0;
  uint32_t left_ = 0;  // of the piece that is under way
  Stream stream_ = Stream::kNone;
  bool failed_ = false;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_ATTACHED_OUTPUT_H_
