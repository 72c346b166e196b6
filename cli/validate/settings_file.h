// belljar.toml, or [tool.belljar.validate] of pyproject.toml: where it is and what it says.
//
// A file that is found, rather than named, was written by whoever wrote the code beside it. So it
// may choose among what this installation offers, but not bring a profile of its own, which says
// what the sandbox is made of; and one that a third user put above the code is passed over.
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
// belljar.toml, or pyproject.toml with a section for us. `notes` gets what was passed over.
core::Result<std::optional<SettingsFile>> FindSettingsFile(const std::string& folder,
                                                           std::vector<std::string>& notes);

// Fills `settings`. The error is the user's: file, line, column, and what to write instead.
// `formats` are the names that the key "format" may have.
core::Result<void> ReadSettings(const SettingsFile& file, const std::vector<std::string>& formats,
                                Settings& settings);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_SETTINGS_FILE_H_
