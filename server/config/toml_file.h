// One TOML file of settings. Unknown keys at any depth, wrong types and broken syntax are refused
// with file and line; nothing is opened but the file itself.
#ifndef BELLJAR_SERVER_CONFIG_TOML_FILE_H_
#define BELLJAR_SERVER_CONFIG_TOML_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/config/settings.h"
#include "server/core/caller.h"

namespace belljar::server::config {

// One [[tokens]]: exactly one of `file` and `variable` says where its secret is.
struct TokenEntry {
  Caller caller;
  std::string file;      // as written
  std::string variable;  // of the environment
  Origin origin;         // its place ends in [[tokens]]
};

struct TomlFile {
  std::vector<Given> given;
  std::vector<TokenEntry> tokens;
};

// `path` is absolute.
core::Result<TomlFile> ReadTomlFile(const std::string& path);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_TOML_FILE_H_
