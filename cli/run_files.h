// Files of `belljar run`: what --file puts into the workspace, and what --save-artifacts takes out.
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

// Each of `given` is "SRC" or "SRC:DST"; DST that ends in '/' is the directory for it. A colon in
// the name of a file that is there belongs to the name. The error is the user's.
core::Result<std::vector<host::InputFile>> ReadInputFiles(const std::vector<std::string>& given,
                                                          const core::Profile& profile);

// Where the user wants artifacts to be. It is opened before the program runs: whoever waited for
// one shall not lose what it made to a name that was mistyped.
struct SaveDirectory {
  std::string name;  // as the user wrote it
  core::UniqueFd fd;
  bool force = false;  // a new file takes the place of what is there

  // Makes the directory if it is not there. The error is the user's.
  static core::Result<SaveDirectory> Open(std::string name, bool force);
};

// Writes the content of each artifact below the directory. Nothing is written through a symbolic
// link below it; what is there already is left as it is, and an error, unless `force`. One for each
// artifact: why it could not be saved, or nothing.
std::vector<std::optional<core::Error>> SaveArtifacts(const std::vector<host::Artifact>& artifacts,
                                                      const SaveDirectory& directory);

// What has become of artifacts: where they are, and what SaveArtifacts said.
struct Saved {
  std::string directory;
  std::vector<std::optional<core::Error>> errors;

  const core::Error* first_error() const;
};

// The lines for standard error: name, size and media type of each; empty without any. `saved` is
// null where nobody asked for them.
std::string ArtifactsText(const host::Outcome& outcome, const Saved* saved);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RUN_FILES_H_
