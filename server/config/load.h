// Loads the server configuration from one TOML file, the environment and flags, in increasing order
// of precedence.
//
//   ConfigSources sources;
//   sources.environment = …;                        // environ
//   sources.flags = {{"--timeout", {"5"}}};
//   Result<LoadedConfig> loaded = LoadConfig(sources, catalogue);
//   if (!loaded) return UsageError("serve", loaded.error().ToString());   // operator error
//   for (const std::string& warning : loaded->warnings) …
//
// Called once at startup by `belljar serve` and `belljar config`. Reads only the configuration
// files; has no other side effects.
#ifndef BELLJAR_SERVER_CONFIG_LOAD_H_
#define BELLJAR_SERVER_CONFIG_LOAD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/profiles/profile_catalogue.h"
#include "server/core/config.h"

namespace belljar::server::config {

struct ConfigSources {
  std::optional<std::string> file;       // --config
  std::optional<std::string> env_file;   // --env-file
  std::vector<std::string> environment;  // NAME=VALUE, as in environ
  std::map<std::string, std::vector<std::string>>
      flags;                   // "--timeout" -> {"5"}; a switch: {"true"}
  bool only_defaults = false;  // ignore all of the above
};

// One effective setting, for humans and scripts.
struct SettingValue {
  std::string key;      // "execution.timeout"
  std::string value;    // "30s"; if unset, the effective default: "the profile's"
  std::string literal;  // the same as a TOML and JSON literal; empty: no value
  std::string source;   // "default", "file /path:12", "environment SANDBOX_TIMEOUT", "flag …"
  std::string note;     // additional information: "not in this version"; or empty
  bool is_default = true;
};

// A token without its secret.
struct TokenValue {
  Caller caller;
  std::string from;       // "file /path", "environment NAME"
  std::string source;     // where it was configured: "file /path:12", "flag --token-file"
  std::string file;       // of a [[tokens]] entry; or empty
  std::string variable;   // the same
  bool is_entry = false;  // whether it is a [[tokens]] entry
};

// A webhook without its secret.
struct WebhookValue {
  WebhookConfig webhook;  // its secret is empty
  std::string from;       // of the secret: "file /path", "environment NAME"
  std::string source;     // where it was configured: "file /path:12"
  std::string file;       // of the secret; or empty
  std::string variable;   // the same
};

struct LoadedConfig {
  ServerConfig config;
  std::string file;                    // the TOML that was read; empty: none
  std::vector<SettingValue> settings;  // in the order of the table
  std::vector<TokenValue> tokens;
  std::vector<WebhookValue> webhooks;
  std::vector<std::string> warnings;  // one line each
};

// Errors are operator errors: they name the file and line, the variable or the flag, and the fix.
core::Result<LoadedConfig> LoadConfig(const ConfigSources& sources,
                                      const profiles::ProfileCatalogue& catalogue);

// A complete TOML file that describes each setting; settings that are not set are commented out. It
// loads to the same configuration.
std::string ConfigAsToml(const LoadedConfig& loaded);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_LOAD_H_
