// --profile, --isolation and --policy: the sandbox that a command runs code in.
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

// --policy. --language is about programming languages, but takes the values that it had in 0.1.
struct PolicyChoice {
  std::string policy = "on";
  std::optional<std::string> language;
  const CLI::Option* given =
      nullptr;  // --policy, to distinguish its default from an explicit value
};

// Returns the option --isolation. `default_profile`: what help says of it.
CLI::Option* AddSandboxOptions(CLI::App* parser, SandboxChoice& choice,
                               const char* default_profile = "what is enabled and needed");
// That one alone.
CLI::Option* AddIsolationOption(CLI::App* parser, SandboxChoice& choice);
// --policy and --language. `contained`: what only the kernel layers contain with the policy off,
// "the program". `help`: of --language, whose values of 0.1 are still the policy's.
void AddPolicyAndLanguage(CLI::App* parser, PolicyChoice& choice, const std::string& contained,
                          const std::string& help);
// The language that it names; nullopt: none, or one of those values.
std::optional<std::string> NamedLanguage(const PolicyChoice& choice);
// Off if the option or the profile says so. An error is the user's.
core::Result<outside::Policy> ResolvePolicy(const PolicyChoice& choice,
                                            const core::Profile& profile);
// An error for --allow-import, which restricts a policy that is off.
core::Error NoImportsToRestrict(const core::Profile& profile);
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
