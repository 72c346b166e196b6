// AtomicFile: a file that is there with all of its content, or as it was before.
#ifndef BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
#define BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_

#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

class AtomicFile {
 public:
  // What is no plain file, such as /dev/stderr or a FIFO, is written to directly.
  static core::Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Takes back what was not committed.
  ~AtomicFile();

  core::Result<void> Write(std::string_view text);
  // Puts it in place.
  core::Result<void> Commit();

 private:
  AtomicFile() = default;

  core::UniqueFd fd_;
  std::string path_;
  std::string scratch_;  // beside `path_`; empty: written to directly
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
