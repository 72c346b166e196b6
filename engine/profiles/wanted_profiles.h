// What the text of a program uses of the profiles, for programs that name none
// (unnamed_profile.h).
//
// The text is only searched, in time proportional to its size, never parsed, and a wrong guess does
// no harm: it can only choose among profiles that the operator has enabled and this caller may name
// anyway, and the policy and the kernel layers of the chosen profile hold as if it had been named.
// Names in a docstring cost the start of a zygote; names computed at run time end in a refusal that
// says which profile to name.
#ifndef BELLJAR_ENGINE_PROFILES_WANTED_PROFILES_H_
#define BELLJAR_ENGINE_PROFILES_WANTED_PROFILES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/profile.h"

namespace belljar::profiles {

// What the text of a program seems to import, each once.
struct ImportedNames {
  std::vector<std::string> modules;  // "numpy.linalg"
  std::vector<std::string> names;    // "os.listdir", from `from os import listdir`; "os.*"
  // Other names of modules: {"o", "os"}, from `import os as o`.
  std::vector<std::pair<std::string, std::string>> aliases;
};
ImportedNames FindImports(std::string_view source);

// Whether IsWanted() can be true, or a hint can name another profile: the program's text has an
// import, or opens files.
bool MayWantOthers(std::string_view source);

// Whether the program uses something that `other` has and `base` lacks: a module, a name of a
// module, open().
bool IsWanted(const core::Profile& other, const core::Profile& base, std::string_view source,
              const ImportedNames& imports);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_WANTED_PROFILES_H_
