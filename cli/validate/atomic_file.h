// AtomicFile: a file that is there with all of its content, or as it was before.
#ifndef BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
#define BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_

#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::validate {

class AtomicFile {
 public:
  // What is no plain file, such as /dev/stderr or a FIFO, is written to directly.
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Takes back what was not committed.
  ~AtomicFile();

  Result<void> Write(std::string_view text);
  // Puts it in place.
  Result<void> Commit();

 private:
  AtomicFile() = default;

  UniqueFd fd_;
  std::string path_;
  std::string scratch_;  // beside `path_`; empty: written to directly
};

}  // namespace belljar::validate

#endif  // BELLJAR_CLI_VALIDATE_ATOMIC_FILE_H_
