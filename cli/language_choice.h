// --language: which language a program is in, if not Python.
#ifndef BELLJAR_CLI_LANGUAGE_CHOICE_H_
#define BELLJAR_CLI_LANGUAGE_CHOICE_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"

namespace belljar::cli {

// By name, or by the program's file or first line. nullopt: Python. Errors are user errors, such as
// that the language is not installed.
core::Result<std::optional<core::Profile>> ChooseLanguage(
    const std::optional<std::string>& name, std::string_view file, std::string_view source,
    const installation::Installation& installation);

// The same for a session, by name only: the language must have some. Errors are user errors.
core::Result<std::optional<core::Profile>> ChooseSessionLanguage(
    const std::string& name, const installation::Installation& installation);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_LANGUAGE_CHOICE_H_
