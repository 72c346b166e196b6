// The profile of a program if none is named: decided here for every way in, `belljar run` and
// `repl`, the Python package and its notebooks, MCP, REST and the compatible APIs.
//
//   ProgramNeeds needs{.source = source, .files = !files.empty()};
//   std::string name = ProfileFor(needs, {basic, {&data_science, &filesystem}, may_have});
//   // "import numpy": "data-science+filesystem"
//
// A program gets the base, and of what the operator enabled and its caller may have:
//
// - what has the modules, names or files that its text uses (wanted_profiles.h);
// - files, if it is given some, or uses packages, any of whose functions may take a path;
// - a network, if its caller names hosts, never because of its text;
// - if more code follows that is not known yet, in a session, everything but a network;
// - never a profile without the language policy: that is always named.
//
// So a plain program runs in the base, whose zygote is ready in milliseconds, and waits for no
// package; a session pays once, with its start (docs/performance-interfaces.md).
#ifndef BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_
#define BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::profiles {

// What is known of a program before it runs.
struct ProgramNeeds {
  std::string_view source;           // with the text of the modules that it is given
  std::vector<std::string> modules;  // that its caller expects: the only ones that it may import
  bool files = false;                // it is given files
  bool hosts = false;                // it is given hosts to reach
  bool continues = false;            // more code follows: a session
};

struct ProfileChoices {
  const core::Profile& base;
  std::vector<const core::Profile*> others;  // that the operator enabled, in their order
  // Whether the caller may have the profile or combination with this name. Empty: each.
  std::function<bool(const std::string& name)> may_have;
};

// The name of the base or of a combination. If the caller may not have all that is needed together,
// those of it that the caller may have, in their order.
std::string ProfileFor(const ProgramNeeds& needs, const ProfileChoices& choices);

// --- for the command and the Python package, whose user is the operator
// ---------------------------

inline constexpr char kUnnamedProfile[] = "basic";

// The value of a variable of this process's environment; null: not set.
using ReadVariable = std::function<const char*(const char* name)>;

// What the operator enabled, who is the user: by the server's variables (docs/configuration.md) or,
// if a profile adds only packages, by installing them. An error is the user's.
core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue,
                                                         const ReadVariable& read);
core::Result<std::vector<core::Profile>> EnabledProfiles(const ProfileCatalogue& catalogue);

// Whether the other profiles must be read for such a program: it may need one of them or a hint
// about one, or a variable enables one, existing or not.
bool NeedsOtherProfiles(const ProgramNeeds& needs);

// All of `enabled` may be had.
std::string ProfileFor(const ProgramNeeds& needs, const core::Profile& base,
                       const std::vector<core::Profile>& enabled);

// Adds to the hint of each finding how to request a profile that would allow it: `how` of its name,
// joined with the one that was `used`.
void NameProfiles(const std::string& used, const std::function<std::string(std::string)>& how,
                  host::Outcome& outcome);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_UNNAMED_PROFILE_H_
