// Files of `belljar run` and `belljar repl`: --file copies into the workspace, --save-artifacts and
// --output out of it.
#ifndef BELLJAR_CLI_RUN_FILES_H_
#define BELLJAR_CLI_RUN_FILES_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::cli {

// Each of `given` is "SRC" or "SRC:DST"; a DST that ends in '/' is a directory. If a file whose
// name contains the colon exists, the colon belongs to the name. A folder stands for all files
// below it, and with a '/' at its end for these without its own name; what is hidden in it,
// bytecode and symbolic links are left out. Without a workspace only `takes_modules` takes
// anything: files, and in folders, that are modules (.py). Errors are the user's and begin with
// `option`, the option as written.
core::Result<std::vector<host::InputFile>> ReadInputFiles(const std::vector<std::string>& given,
                                                          const core::Profile& profile,
                                                          const std::string& option = "--file",
                                                          bool takes_modules = false);

// The text of the modules (.py) among what `given` stands for, as far as it can be read: what the
// program may import besides.
std::string TextOfModules(const std::vector<std::string>& given);

// The destination for artifacts. It is opened before the program runs, so that a mistyped name does
// not cost the user the results of a long run.
struct SaveDirectory {
  std::string name;  // as the user wrote it
  core::UniqueFd fd;
  bool force = false;  // overwrite existing files

  // Creates the directory if it does not exist. Errors are user errors and name the option.
  static core::Result<SaveDirectory> Open(std::string name, bool force,
                                          const std::string& option = "--save-artifacts");
};

// Writes the content of each artifact below the directory. Symbolic links below it are not
// followed. An existing file is an error and is left unchanged, unless `force`. The result has one
// entry per artifact: why it could not be saved, or nullopt.
std::vector<std::optional<core::Error>> SaveArtifacts(const std::vector<host::Artifact>& artifacts,
                                                      const SaveDirectory& directory);

// Where artifacts were saved, and the result of SaveArtifacts.
struct Saved {
  std::string directory;
  std::vector<std::optional<core::Error>> errors;

  const core::Error* first_error() const;
};

// The lines for standard error: name, size and media type of each; empty without any. `saved` is
// null if they were not saved: without --save-artifacts.
std::string ArtifactsText(const host::Outcome& outcome, const Saved* saved);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RUN_FILES_H_
