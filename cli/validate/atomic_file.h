// AtomicFile: writes a file completely, or leaves it unchanged.
#ifndef BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
#define BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_

#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

class AtomicFile {
 public:
  // Special files, such as /dev/stderr or a FIFO, are written to directly.
  static core::Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Discards uncommitted content.
  ~AtomicFile();

  core::Result<void> Write(std::string_view text);
  // Moves the new content into place.
  core::Result<void> Commit();

 private:
  AtomicFile() = default;

  core::UniqueFd fd_;
  std::string path_;
  std::string scratch_;  // in the folder of `path_`; empty: written to directly
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
