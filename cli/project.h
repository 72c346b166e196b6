// The project that `belljar run DIR` and `belljar run -m NAME` run: its program and its files.
#ifndef BELLJAR_CLI_PROJECT_H_
#define BELLJAR_CLI_PROJECT_H_

#include <optional>
#include <string>

#include "engine/core/result.h"

namespace belljar::cli {

struct Project {
  std::string program;                // the file that runs
  std::optional<std::string> folder;  // of its files, in the form of --file
};

// As Python runs a folder: its `__main__.py`. Errors are the user's.
core::Result<Project> ProjectIn(const std::string& folder);

// As `python -m` runs a module or package below the current directory.
core::Result<Project> ProjectOf(const std::string& module);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PROJECT_H_
