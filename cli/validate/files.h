// Which files are to be judged: what was named, and what is found below directories.
//
// Of a directory: regular files that match the patterns of `include`, in all directories but those
// that are hidden, hold no source of the project (__pycache__, node_modules, a virtual environment)
// or are left out by .gitignore, .belljarignore or `exclude`. Symbolic links are followed within
// the directory that was named and never out of it; each directory is visited once, so there are no
// loops. What was named itself is always judged.
#ifndef BELLJAR_CLI_VALIDATE_FILES_H_
#define BELLJAR_CLI_VALIDATE_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/validate/ignore_rules.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

// One file that is to be judged, or the reason why it cannot be.
struct Target {
  std::string path;          // to open
  std::string shown;         // relative to the working directory where it is below it
  std::string project_path;  // relative to the project's folder where it is below it
  std::string error;         // a file or directory that could not be looked at
  bool is_standard_input = false;
  bool was_found = false;  // below a directory: it is no link, and opening must not follow one
};

// Patterns and the absolute folder that they are relative to.
struct FolderPatterns {
  std::string folder;
  IgnoreRules rules;

  // Whether the last pattern that matches `path`, which is absolute, is not one with "!".
  bool Matches(const std::string& path, bool is_directory) const;
};

struct Search {
  std::vector<std::string> named;  // files and directories; "-" is standard input
  std::string standard_input_name = "<stdin>";
  std::string working_folder;  // absolute
  std::string project_folder;  // absolute
  FolderPatterns include;
  FolderPatterns exclude;
  // Off: nothing of the tree decides what is judged, and everything but `exclude` is.
  bool uses_ignore_files = true;
};

struct FoundFiles {
  std::vector<Target> targets;     // in the order of the names, below a directory by path
  std::vector<std::string> notes;  // what people should know: an ignore file that was not read
};

// `interrupted` is asked now and then; true ends the search early.
FoundFiles FindFiles(const Search& search, const std::function<bool()>& interrupted);

// The names in a list: separated by NUL if there is one, and by newlines if not. `list` may be "-".
core::Result<std::vector<std::string>> ReadFileList(const std::string& list);

// `path` without "." and "..", relative to `folder` (absolute) where it is below it. Lexical.
std::string RelativeTo(const std::string& folder, const std::string& path);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_FILES_H_
