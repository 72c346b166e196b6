// Validates settings in combination: profiles exist and are enabled, limits are within those of the
// profiles, and an address that other machines can reach requires a token.
#ifndef BELLJAR_SERVER_CONFIG_RESOLVE_H_
#define BELLJAR_SERVER_CONFIG_RESOLVE_H_

#include <map>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/profiles/profile_catalogue.h"
#include "server/config/settings.h"
#include "server/config/tokens.h"
#include "server/config/webhooks.h"

namespace belljar::server::config {

// A configuration that has been read but not yet validated.
struct Loading {
  Draft draft;
  std::map<std::string, Origin> origins;     // by key; missing keys have defaults
  std::map<std::string, std::string> notes;  // by key: additional information
  std::vector<LoadedToken> tokens;
  std::vector<LoadedWebhook> webhooks;
  std::vector<std::string> warnings;

  Origin OriginOf(const std::string& key) const;
};

// Makes relative paths absolute, fills draft.profiles and draft.config.execution.profiles, and
// rejects invalid combinations. Errors are operator errors.
core::Result<void> Resolve(Loading& loading, const profiles::ProfileCatalogue& catalogue);

// Makes `path` absolute: relative to the folder of the file in `origin`, else to the working
// directory.
std::string AbsolutePath(const std::string& path, const Origin& origin);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_RESOLVE_H_
