// The secrets of bearer tokens: where they may lie, what they must look like. No message shows one.
#ifndef BELLJAR_SERVER_CONFIG_TOKENS_H_
#define BELLJAR_SERVER_CONFIG_TOKENS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/config/environment.h"
#include "server/config/toml_file.h"
#include "server/core/config.h"

namespace belljar::server::config {

inline constexpr size_t kMinSecret = 32;
inline constexpr char kDefaultToken[] = "default";

// A token, and where it was found: "file /etc/belljar/team-a.token".
struct LoadedToken {
  TokenConfig token;
  std::string from;
  Origin origin;
  std::string file;      // absolute; or empty
  std::string variable;  // or empty
};

// One newline at the end is dropped. Refused: fewer than kShortestSecret characters, anything but
// visible ASCII. `place` begins the message.
core::Result<std::string> CheckSecret(std::string secret, const std::string& place);

// Refused when others than owner and group may read or write the file; for the group, `warnings`
// gets a line.
core::Result<std::string> ReadTokenFile(const std::string& path, const std::string& place,
                                        std::vector<std::string>& warnings);

// The token that [[tokens]] describes, with its secret.
core::Result<LoadedToken> LoadToken(const TokenEntry& entry, const std::vector<Variable>& variables,
                                    std::vector<std::string>& warnings);

// No two of one name or one secret.
core::Result<void> CheckTokens(const std::vector<LoadedToken>& tokens);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_TOKENS_H_
