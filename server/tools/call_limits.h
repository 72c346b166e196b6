// What a call may use besides its profile: limits, modules and hosts, for one run or for a session.
#ifndef BELLJAR_SERVER_TOOLS_CALL_LIMITS_H_
#define BELLJAR_SERVER_TOOLS_CALL_LIMITS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/limits.h"
#include "server/core/caller.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

using HasFeature = bool (*)(const core::Profile&);
bool HasNetwork(const core::Profile& profile);
bool HasWorkspace(const core::Profile& profile);
// Whether an enabled profile has it.
bool Has(const Sandboxes& sandboxes, HasFeature has);

// Base64 adds a third, and the message also contains the code.
inline constexpr core::Bytes kMaxFileContent = core::Bytes::Mebi(12);

Parameter FilesParameter(std::string description);
Parameter TimeoutParameter(const Sandboxes& sandboxes);
Parameter MemoryParameter(const Sandboxes& sandboxes);
Parameter ImportsParameter();
Parameter DomainsParameter(const Sandboxes& sandboxes);

// Each adds to `problems` what is wrong with its arguments.
core::Limits TakeLimits(const Arguments& arguments, const EnabledProfile& profile,
                        std::vector<std::string>& problems);
// `is_complete`: there are no modules besides the profile's. Packages would add modules whose names
// are not known yet.
std::optional<ModuleList> TakeImports(const Arguments& arguments, const EnabledProfile& profile,
                                      outside::Policy policy, bool is_complete,
                                      std::vector<std::string>& problems);
// Domains are rejected where they could have no effect, since the caller relies on them. An empty
// list changes nothing, so it is accepted.
std::optional<std::vector<std::string>> TakeDomains(const Arguments& arguments,
                                                    const Sandboxes& sandboxes,
                                                    const Caller& caller,
                                                    const core::Profile& profile,
                                                    std::vector<std::string>& problems);

// "<argument>: profile <name> has no <what>; use one that has: …"
std::string LacksFeature(const char* argument, const char* what, const Sandboxes& sandboxes,
                         const Caller& caller, const core::Profile& profile, HasFeature has);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CALL_LIMITS_H_
