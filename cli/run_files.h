// Files of `belljar run`: what --file puts into the workspace, and what --save-artifacts takes out.
#ifndef BELLJAR_CLI_RUN_FILES_H_
#define BELLJAR_CLI_RUN_FILES_H_

#include <string>
#include <vector>

#include "engine/core/outcome.h"
#include "engine/core/profile.h"
#include "engine/core/request.h"
#include "engine/core/result.h"

namespace belljar {

// Each of `given` is "SRC" or "SRC:DST"; DST that ends in '/' is the directory for it. A colon in
// the name of a file that is there belongs to the name. The error is the user's.
Result<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& given,
                                              const Profile& profile);

// Writes the content of each artifact below `directory`, which is made if it is not there. Nothing
// is written through a symbolic link below it; what is there already is left as it is, and an
// error, unless `force`, which puts a new file in its place. What can be saved is saved, also after
// an error: the first one is returned.
Result<void> SaveArtifacts(const std::vector<Artifact>& artifacts, const std::string& directory,
                           bool force);

// The lines for standard error: name, size and media type of each; empty without any. `saved_in` is
// where they have been saved; empty: nowhere.
std::string ArtifactsText(const Outcome& outcome, const std::string& saved_in);

}  // namespace belljar

#endif  // BELLJAR_CLI_RUN_FILES_H_
