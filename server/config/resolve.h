// What settings mean together: profiles that exist and are enabled, limits within those of the
// profiles, an address that others can reach only with a token.
#ifndef BELLJAR_SERVER_CONFIG_RESOLVE_H_
#define BELLJAR_SERVER_CONFIG_RESOLVE_H_

#include <map>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/outside/profile_catalogue.h"
#include "server/config/settings.h"
#include "server/config/tokens.h"

namespace belljar::server::config {

// A configuration between being read and being judged.
struct Loading {
  Draft draft;
  std::map<std::string, Origin> origins;     // by key; one that is not there is a default
  std::map<std::string, std::string> notes;  // by key: what its value does not tell
  std::vector<LoadedToken> tokens;
  std::vector<std::string> warnings;

  Origin OriginOf(const std::string& key) const;
};

// Makes relative paths absolute, fills draft.profiles and draft.config.execution.profiles, and
// refuses what cannot be. An error is the operator's.
core::Result<void> Resolve(Loading& loading, const outside::ProfileCatalogue& catalogue);

// `path` as an absolute one: beside the file that `origin` names, else from the working directory.
std::string AbsolutePath(const std::string& path, const Origin& origin);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_RESOLVE_H_
