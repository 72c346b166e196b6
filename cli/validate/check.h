// FileChecker: one file, from opening it to its findings. The judging happens in a sealed worker of
// the file's own: a parser is attack surface.
#ifndef BELLJAR_CLI_VALIDATE_CHECK_H_
#define BELLJAR_CLI_VALIDATE_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/validate/files.h"
#include "cli/validate/report.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli::validate {

// What became of a file before anything is suppressed: `checked` has all findings.
struct Judgement {
  CheckedFile checked;
  std::vector<host::Comment> comments;  // when the checker was asked for them
};

struct CheckOptions {
  std::optional<std::vector<std::string>> allowed_imports;  // nullopt: all of the profile's
  bool wants_comments = false;
  int cancel_fd = -1;  // borrowed; becoming readable ends a check
};

class FileChecker {
 public:
  // Borrows `sandbox`.
  FileChecker(outside::Sandbox& sandbox, CheckOptions options)
      : sandbox_(sandbox), options_(std::move(options)) {}

  // Any thread, many at once. An error is our own failure, which the next file would meet again.
  core::Result<Judgement> Check(const Target& target) const;

 private:
  outside::Sandbox& sandbox_;
  const CheckOptions options_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_CHECK_H_
