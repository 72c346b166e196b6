// Tar files in one canonical form: folders and regular files owned by root, sorted by path, dated
// 1970, not writable. Each list of entries has exactly one such file. So equal content has an equal
// digest, and the reader can require every byte to be as the writer would write it: nothing can be
// hidden, and no two unpackers can disagree about the content.
//
// Our own implementation, not libarchive's: docs/images.md, "Reproducible builds". The form is
// POSIX ustar, which everything reads.
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
  std::string path;  // relative, '/' between components, none at the end
  bool is_folder = false;
  bool is_program = false;  // executable
  uint64_t size = 0;        // of a file

  unsigned mode() const { return is_folder || is_program ? 0555 : 0444; }
};

// Why the entry is not allowed in such a tar; empty: it is.
std::string EntryFault(const TarEntry& entry);

struct TarSummary {
  std::string digest;  // SHA-256, in hexadecimal
  uint64_t size = 0;
};

// Writes to a descriptor, from its current position.
class TarWriter {
 public:
  explicit TarWriter(int fd) : fd_(fd) {}

  // Preconditions: entries are sorted by path, a folder comes before its content, and a file is
  // followed by all of its bytes, in any number of Append calls.
  core::Result<void> Begin(const TarEntry& entry);
  core::Result<void> Append(std::string_view bytes);
  core::Result<TarSummary> Finish();

 private:
  core::Result<void> Write(std::string_view bytes);
  core::Result<void> Pad();

  int fd_;
  host::Sha256Stream digest_;
  uint64_t written_ = 0;
  uint64_t missing_ = 0;  // of the current file
};

// Callbacks for a reader, called in order. An error of theirs ends the reading, and is returned.
struct TarVisitor {
  // `at`: the offset of its content in the file.
  std::function<core::Result<void>(const TarEntry&, uint64_t at)> entry;
  std::function<core::Result<void>(std::string_view)> bytes;  // the next piece of that entry
};

// Reads `size` bytes of `fd` from `offset`, whatever its position. An error with an errno is this
// machine's; without one it says how the file differs from what TarWriter writes.
core::Result<TarSummary> ReadTar(int fd, uint64_t offset, uint64_t size, const TarVisitor& visitor);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_TAR_H_
