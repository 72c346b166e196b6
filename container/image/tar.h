// Tar files of one form: folders and plain files of root's, in order of their paths, dated 1970,
// nobody's to write. Each list of entries has exactly one such file, so that what is the same has
// the same digest, and the reader can ask that every byte is as the writer puts it: none is left in
// which something could be hidden, and no two programs that unpack it can disagree on what is
// there.
//
// Ours, not a library's: a digest would depend on its version, and what unpacks tars of all kinds
// brings parsers of all kinds. The form is POSIX ustar, which everything reads.
#ifndef BELLJAR_CONTAINER_IMAGE_TAR_H_
#define BELLJAR_CONTAINER_IMAGE_TAR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/core/result.h"
#include "engine/host/digest.h"

namespace belljar::container::image {

struct TarEntry {
  std::string path;  // relative, '/' between its parts, none at its end
  bool is_folder = false;
  bool is_program = false;  // may be executed
  uint64_t size = 0;        // of a file

  unsigned mode() const { return is_folder || is_program ? 0555 : 0444; }
};

// What is wrong with the entry as one of such a tar; empty: nothing.
std::string EntryFault(const TarEntry& entry);

struct TarSummary {
  std::string digest;  // SHA-256, in hexadecimal
  uint64_t size = 0;
};

// Writes to a descriptor, from where that stands.
class TarWriter {
 public:
  explicit TarWriter(int fd) : fd_(fd) {}

  // Preconditions: entries come in order of their paths, a folder before what is in it, and of a
  // file then all of its bytes, by any number of Append.
  core::Result<void> Begin(const TarEntry& entry);
  core::Result<void> Append(std::string_view bytes);
  core::Result<TarSummary> Finish();

 private:
  core::Result<void> Write(std::string_view bytes);
  core::Result<void> Pad();

  int fd_;
  host::Sha256Stream digest_;
  uint64_t written_ = 0;
  uint64_t missing_ = 0;  // of the file that was begun
};

// What a reader is told, in order. An error of theirs ends the reading, and is its error.
struct TarVisitor {
  // `at`: where in the file its bytes are.
  std::function<core::Result<void>(const TarEntry&, uint64_t at)> entry;
  std::function<core::Result<void>(std::string_view)> bytes;  // the next piece of that entry
};

// Reads the `size` bytes of `fd` from `offset`, whatever its position. An error with an errno is
// this machine's; without one it says what of the file is not as TarWriter writes it.
core::Result<TarSummary> ReadTar(int fd, uint64_t offset, uint64_t size, const TarVisitor& visitor);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_TAR_H_
