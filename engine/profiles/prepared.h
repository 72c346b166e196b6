// What `belljar languages --prepare` has made for a language (core::Preparation), and where it is:
//
//   ~/.cache/belljar/languages/java-6b0c…-javac.jsa     of this user; not for root
//   /var/cache/belljar/languages/java-6b0c…-javac.jsa   of root, for everybody
//
// The number stands for all that it was made from, so that what belongs to another version is never
// found. Interpreters map such a file without checking it. So neither the file nor any folder
// on the way to it may be writable by others than root and this user, and a program sees it
// read-only.
#ifndef BELLJAR_ENGINE_PROFILES_PREPARED_H_
#define BELLJAR_ENGINE_PROFILES_PREPARED_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::profiles {

// Where programs see it, whoever made it and wherever their home is.
inline constexpr char kPreparedFolder[] = "/var/lib/belljar/prepared";

// The folders in which it is looked for, the one to write to first.
std::vector<std::string> PreparedFolders();

// The name of the file, without a folder. An error: a file that it is made from is not there.
// Precondition: the language is Installed (languages.h) and has a preparation.
core::Result<std::string> PreparedName(const core::Profile& installed);

// Whether `name` is that of a file for the same language, of any version.
bool IsPreparedFor(const core::Profile& installed, const std::string& name);

// The real path of the file; nullopt: there is none to be trusted. The same precondition.
std::optional<std::string> FindPrepared(const core::Profile& installed);

// An error says who else can write to the file or folder, or to one above it. `path` has no links.
core::Result<void> CheckOnlyOursWrite(const std::string& path);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_PREPARED_H_
