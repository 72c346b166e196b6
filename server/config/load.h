// The configuration of the server, from everything that an operator can say it with: one TOML file,
// the environment and flags, each stronger than the one before.
//
//   ConfigSources sources;
//   sources.environment = …;                        // environ
//   sources.flags = {{"--timeout", {"5"}}};
//   Result<LoadedConfig> loaded = LoadConfig(sources, catalogue);
//   if (!loaded) return UsageError("serve", loaded.error().ToString());   // the operator's
//   for (const std::string& warning : loaded->warnings) …
//
// Called once, at start, by `belljar serve` and `belljar config`. Reads the files that it is told
// of; opens nothing else, changes nothing.
#ifndef BELLJAR_SERVER_CONFIG_LOAD_H_
#define BELLJAR_SERVER_CONFIG_LOAD_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/outside/profile_catalogue.h"
#include "server/core/config.h"

namespace belljar::server::config {

struct ConfigSources {
  std::optional<std::string> file;       // --config
  std::optional<std::string> env_file;   // --env-file
  std::vector<std::string> environment;  // NAME=VALUE, as in environ
  std::map<std::string, std::vector<std::string>>
      flags;                   // "--timeout" -> {"5"}; a switch: {"true"}
  bool only_defaults = false;  // nothing above is read
};

// One effective setting, for people and for scripts.
struct SettingValue {
  std::string key;      // "execution.timeout"
  std::string value;    // "30s"; or what holds in its place: "the profile's"
  std::string literal;  // the same as TOML, which is JSON too; empty: it has no value
  std::string source;   // "default", "file /path:12", "environment SANDBOX_TIMEOUT", "flag …"
  std::string note;     // what the value does not tell: "not in this version"; or empty
  bool is_default = true;
};

// A token without its secret.
struct TokenValue {
  Caller caller;
  std::string from;       // "file /path", "environment NAME"
  std::string source;     // what said so: "file /path:12", "flag --token-file"
  std::string file;       // of a [[tokens]] of the file; or empty
  std::string variable;   // the same
  bool is_entry = false;  // whether it is one of [[tokens]]
};

struct LoadedConfig {
  ServerConfig config;
  std::string file;                    // the TOML that was read; empty: none
  std::vector<SettingValue> settings;  // in the order of the table
  std::vector<TokenValue> tokens;
  std::vector<std::string> warnings;  // one line each
};

// An error is the operator's: it names file and line, variable or flag, and what to write.
core::Result<LoadedConfig> LoadConfig(const ConfigSources& sources,
                                      const outside::ProfileCatalogue& catalogue);

// A complete TOML file with a comment for each setting: what is set is written out, and what is not
// stands as a comment. It loads to the same configuration.
std::string ConfigAsToml(const LoadedConfig& loaded);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_LOAD_H_
