// FileChecker: checks one file, from opening it to its findings. Each file is parsed in a sealed
// worker of its own: a parser is attack surface.
#ifndef BELLJAR_CLI_VALIDATE_CHECK_H_
#define BELLJAR_CLI_VALIDATE_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/validate/files.h"
#include "cli/validate/project_modules.h"
#include "cli/validate/report.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli::validate {

// The result for a file before suppression: `checked` has all findings.
struct Judgement {
  CheckedFile checked;
  std::vector<host::Comment> comments;  // if requested
  // If requested: what the file imports and no profile has, outermost names.
  std::vector<std::string> missing_packages;
};

struct CheckOptions {
  std::optional<std::vector<std::string>> allowed_imports;  // nullopt: all of the profile's
  bool wants_comments = false;
  bool wants_needs = false;
  int cancel_fd = -1;  // borrowed; ends a check when readable
};

class FileChecker {
 public:
  // Borrows `sandbox` and `project`.
  FileChecker(outside::Sandbox& sandbox, const ProjectModules& project, CheckOptions options)
      : sandbox_(sandbox), project_(project), options_(std::move(options)) {}

  // Any thread, concurrently. An error is Belljar's own failure, which would recur for the next
  // file.
  core::Result<Judgement> Check(const Target& target) const;

 private:
  outside::Sandbox& sandbox_;
  const ProjectModules& project_;
  const CheckOptions options_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_CHECK_H_
