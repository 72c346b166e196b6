// Reads one TOML file of settings. Unknown keys at any depth, wrong types and syntax errors are
// rejected with file and line. Opens no other file.
#ifndef BELLJAR_SERVER_CONFIG_TOML_FILE_H_
#define BELLJAR_SERVER_CONFIG_TOML_FILE_H_

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/config/settings.h"
#include "server/core/caller.h"
#include "server/core/config.h"

namespace belljar::server::config {

// One [[tokens]] entry: exactly one of `file` and `variable` names the source of its secret.
struct TokenEntry {
  Caller caller;
  std::string file;      // as written
  std::string variable;  // of the environment
  Origin origin;         // its place ends in [[tokens]]
};

// One [[webhooks]] entry, likewise.
struct WebhookEntry {
  WebhookConfig webhook;  // without its secret
  std::string file;
  std::string variable;
  Origin origin;  // its place ends in [[webhooks]]
};

struct TomlFile {
  std::vector<Given> given;
  std::vector<TokenEntry> tokens;
  std::vector<WebhookEntry> webhooks;
};

// `path` is absolute.
core::Result<TomlFile> ReadTomlFile(const std::string& path);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_TOML_FILE_H_
