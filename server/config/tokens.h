// The secrets of bearer tokens: where they may be stored and what they must look like. No message
// shows a secret.
#ifndef BELLJAR_SERVER_CONFIG_TOKENS_H_
#define BELLJAR_SERVER_CONFIG_TOKENS_H_

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/config/environment.h"
#include "server/config/toml_file.h"
#include "server/core/config.h"

namespace belljar::server::config {

inline constexpr size_t kMinSecret = 32;
inline constexpr char kDefaultToken[] = "default";

// A token and its source: "file /etc/belljar/team-a.token".
struct LoadedToken {
  TokenConfig token;
  std::string from;
  Origin origin;
  std::string file;      // absolute; or empty
  std::string variable;  // or empty
};

// Names of entries: letters, digits, dots, dashes, underscores.
inline constexpr size_t kMaxEntryName = 64;
bool IsEntryName(const std::string& name);

// The secret of an entry, from its file or its variable.
struct EntrySecret {
  std::string secret;
  std::string from;  // "file /etc/belljar/hook.secret"
  std::string file;  // absolute; or empty
};
core::Result<EntrySecret> LoadSecret(const std::string& file, const std::string& variable,
                                     const Origin& origin, const std::string& place,
                                     const std::vector<Variable>& variables,
                                     std::vector<std::string>& warnings);

// Drops one trailing newline. Rejects secrets with fewer than kMinSecret characters or with
// anything but visible ASCII. Messages begin with `place`.
core::Result<std::string> CheckSecret(std::string secret, const std::string& place);

// Rejects files that are readable or writable by others; adds a warning if the group has access.
core::Result<std::string> ReadTokenFile(const std::string& path, const std::string& place,
                                        std::vector<std::string>& warnings);

// The token described by a [[tokens]] entry, with its secret.
core::Result<LoadedToken> LoadToken(const TokenEntry& entry, const std::vector<Variable>& variables,
                                    std::vector<std::string>& warnings);

// Rejects duplicate names and duplicate secrets.
core::Result<void> CheckTokens(const std::vector<LoadedToken>& tokens);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_TOKENS_H_
