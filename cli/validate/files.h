// Finds the files to check: the named ones, and those below named directories.
//
// In a directory, these are the regular files that match the patterns of `include`, except in
// directories that are hidden, contain no project source (__pycache__, node_modules, a virtual
// environment) or are excluded by .gitignore, .belljarignore or `exclude`. Symbolic links are
// followed only within the named directory; each directory is visited once, so there are no loops.
// Named files are always checked.
#ifndef BELLJAR_CLI_VALIDATE_FILES_H_
#define BELLJAR_CLI_VALIDATE_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/validate/ignore_rules.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

// One file to check, or the reason why it cannot be checked.
struct Target {
  std::string path;          // to open
  std::string shown;         // relative to the working directory if below it
  std::string project_path;  // relative to the project folder if below it
  std::string error;         // why it could not be accessed
  bool is_standard_input = false;
  bool was_found = false;  // found below a directory: not a link, and opening must not follow one
};

// Patterns, and the absolute folder that they are relative to.
struct FolderPatterns {
  std::string folder;
  IgnoreRules rules;

  // Whether the last pattern that matches the absolute `path` is not negated with "!".
  bool Matches(const std::string& path, bool is_directory) const;
};

struct Search {
  std::vector<std::string> named;  // files and directories; "-" is standard input
  std::string standard_input_name = "<stdin>";
  std::string working_folder;  // absolute
  std::string project_folder;  // absolute
  FolderPatterns include;
  FolderPatterns exclude;
  // Off: only `exclude` skips files, and nothing found in the tree does.
  bool uses_ignore_files = true;
};

struct FoundFiles {
  std::vector<Target> targets;     // in the order given; below a directory by path
  std::vector<std::string> notes;  // for the user: for example, an ignore file that was not read
};

// `interrupted` is called periodically; true ends the search early.
FoundFiles FindFiles(const Search& search, const std::function<bool()>& interrupted);

// The names in a list, separated by NUL if it contains any, otherwise by newlines. `list` may be
// "-".
core::Result<std::vector<std::string>> ReadFileList(const std::string& list);

// `path` without "." and "..", relative to the absolute `folder` if below it. Purely lexical.
std::string RelativeTo(const std::string& folder, const std::string& path);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FILES_H_
