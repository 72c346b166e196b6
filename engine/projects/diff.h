// A set of changes as text, in the form of git: `git apply` and `patch -p1` understand what is of
// text files.
#ifndef BELLJAR_ENGINE_PROJECTS_DIFF_H_
#define BELLJAR_ENGINE_PROJECTS_DIFF_H_

#include <string>

#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/projects/changes.h"

namespace belljar::projects {

// Larger files, and those that are not UTF-8, are only said to differ.
inline constexpr core::Bytes kMaxDiffed = core::Bytes::Mebi(1);
// Of the text; what is longer is cut after a file, and says so.
inline constexpr core::Bytes kMaxDiff = core::Bytes::Mebi(16);

// Reads the files as they are in the folder now. A file that the guest could not read (of another
// owner than the folder's, and not for everybody) is only said to differ.
std::string UnifiedDiff(const core::UniqueFd& folder, const ChangeSet& set);
std::string UnifiedDiff(const core::UniqueFd& folder, const Change& change);

}  // namespace belljar::projects

#endif  // BELLJAR_ENGINE_PROJECTS_DIFF_H_
