// --language: which language a program is in, if not Python.
#ifndef BELLJAR_CLI_LANGUAGE_CHOICE_H_
#define BELLJAR_CLI_LANGUAGE_CHOICE_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::cli {

// By name, or by the program's file or first line. nullopt: Python. Errors are user errors, such as
// that the language is not installed.
core::Result<std::optional<core::Profile>> ChooseLanguage(
    const std::optional<std::string>& name, std::string_view file, std::string_view source,
    const installation::Installation& installation);

// The same for a session, by name only: the language must have some. Errors are user errors.
core::Result<std::optional<core::Profile>> ChooseSessionLanguage(
    const std::string& name, const installation::Installation& installation);

// The language with what it takes from a profile, a network: that of `chosen`, the profile that
// `profile_option` names, or without such a name that of profile network, if `names_hosts`. Errors
// are user errors.
core::Result<core::Profile> WithChosenNetwork(core::Profile language, const core::Profile& chosen,
                                              const std::optional<std::string>& profile_option,
                                              bool names_hosts,
                                              const profiles::ProfileCatalogue& catalogue);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_LANGUAGE_CHOICE_H_
