// Which files a plan's paths make visible. Zygote, before it is sealed.
#ifndef BELLJAR_ENGINE_SEAL_VISIBLE_PATHS_H_
#define BELLJAR_ENGINE_SEAL_VISIBLE_PATHS_H_

#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::seal {

// The paths of a plan with `stdlib`, the interpreter's library, in place of "{stdlib}".
std::vector<core::PathRule> ResolvePaths(std::vector<core::PathRule> paths,
                                         const std::string& stdlib);

// The shown parts of each tree, without duplicates: rules may overlap.
std::vector<core::PathRule> ShownParts(const std::vector<core::PathRule>& paths);

// Landlock cannot exclude parts of a tree. A tree with excluded entries is therefore split into its
// other entries if any of the excluded ones exists. The tree's own folder can then no longer be
// listed.
core::Result<std::vector<core::PathRule>> TakenApart(const std::vector<core::PathRule>& paths);

// The paths of those that exist below the mount points of a workspace, which covers them. One that
// is inside another is covered by that one.
std::vector<std::string> CoveredByWorkspace(const std::vector<core::PathRule>& paths);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_VISIBLE_PATHS_H_
