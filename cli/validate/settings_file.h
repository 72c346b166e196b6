// Finds and reads belljar.toml, or [tool.belljar.validate] in pyproject.toml.
//
// A file that is found, rather than named, was written by the authors of the code. So it may name a
// profile of this installation, but not a profile file, which defines the sandbox. A file above the
// code that belongs to a third user is skipped.
#ifndef BELLJAR_CLI_VALIDATE_SETTINGS_FILE_H_
#define BELLJAR_CLI_VALIDATE_SETTINGS_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/validate/settings.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

struct SettingsFile {
  std::string path;  // absolute
  bool was_named = false;
};

// From `folder` (absolute) upwards to the root of its repository or file system: the first
// belljar.toml, or pyproject.toml with a section for us. `notes` receives messages about skipped
// files.
core::Result<std::optional<SettingsFile>> FindSettingsFile(const std::string& folder,
                                                           std::vector<std::string>& notes);

// Fills `settings`. Errors are user errors with file, line, column and what to write instead.
// `formats` are the possible values of the key "format".
core::Result<void> ReadSettings(const SettingsFile& file, const std::vector<std::string>& formats,
                                Settings& settings);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SETTINGS_FILE_H_
