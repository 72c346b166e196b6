// --profile and --isolation: the sandbox that a command runs code in.
#ifndef BELLJAR_CLI_SANDBOX_CHOICE_H_
#define BELLJAR_CLI_SANDBOX_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/unnamed_profile.h"

namespace belljar::cli {

struct SandboxChoice {
  std::optional<std::string> profile;
  std::string isolation = "strict";
};

// Returns the option --isolation. `default_profile`: what help says of it.
CLI::Option* AddSandboxOptions(CLI::App* parser, SandboxChoice& choice,
                               const char* default_profile = "what is enabled and needed");
void AddImportsOption(CLI::App* parser, std::optional<std::vector<std::string>>& modules);

// Options for a sandbox in which this process runs few programs. Errors are user errors.
core::Result<outside::SandboxOptions> ResolveSandbox(const SandboxChoice& choice,
                                                     const profiles::ProfileCatalogue& catalogue);

// In place of `sandbox`, which is that of no named profile: the one for a program with these needs
// (engine/profiles/unnamed_profile.h). Errors are user errors.
core::Result<void> ChooseUnnamed(const SandboxChoice& choice, const profiles::ProgramNeeds& needs,
                                 const profiles::ProfileCatalogue& catalogue,
                                 outside::SandboxOptions& sandbox);

// Adds to the hints of findings how to request a profile that would allow what was refused.
void NameProfiles(const std::string& used, host::Outcome& outcome);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SANDBOX_CHOICE_H_
