#include "cli/sandbox_choice.h"

#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "engine/profiles/loader.h"

namespace belljar::cli {

CLI::Option* AddSandboxOptions(CLI::App* parser, SandboxChoice& choice,
                               const char* default_profile) {
  AddText(parser, "--profile", choice.profile, kProfileType,
          std::string("profile: a name, several joined with +, or a file such as ./own.toml "
                      "(default: ") +
              default_profile + ")");
  return AddIsolationOption(parser, choice);
}

CLI::Option* AddIsolationOption(CLI::App* parser, SandboxChoice& choice) {
  return AddChoice(parser, "--isolation", choice.isolation, {"strict", "standard"},
                   "required layers; strict: all of them, or refuse to run; standard: run without "
                   "namespaces and Landlock where this machine lacks them, and report it");
}

namespace {

// --policy as it was spelt in 0.1.
std::optional<std::string> FormerPolicy(const PolicyChoice& choice) {
  if (choice.language == "full") return "off";
  if (choice.language == "restricted") return "on";
  return std::nullopt;
}

}  // namespace

void AddPolicyAndLanguage(CLI::App* parser, PolicyChoice& choice, const std::string& contained,
                          const std::string& help) {
  AddText(parser, "--language", choice.language, "NAME", help);
  choice.given =
      AddChoice(parser, "--policy", choice.policy, {"on", "off"},
                "language policy; off: disabled, the kernel layers alone contain " + contained);
}

std::optional<std::string> NamedLanguage(const PolicyChoice& choice) {
  return FormerPolicy(choice) ? std::nullopt : choice.language;
}

core::Result<outside::Policy> ResolvePolicy(const PolicyChoice& choice,
                                            const core::Profile& profile) {
  const std::optional<std::string> former = FormerPolicy(choice);
  if (former && choice.given->count() > 0 && choice.policy != *former) {
    return UsersError("--policy " + choice.policy + " and --language " + *choice.language +
                      " contradict each other; omit --language");
  }
  const bool is_off = former.value_or(choice.policy) == "off";
  return outside::PolicyOf(profile, is_off ? outside::Policy::kOff : outside::Policy::kOn);
}

core::Error NoImportsToRestrict(const core::Profile& profile) {
  return UsersError("--allow-import has no effect with " +
                    (profile.without_policy ? "--profile " + profile.name : "--policy off") +
                    ": without the language policy, a program may import any module");
}

void AddImportsOption(CLI::App* parser, std::optional<std::vector<std::string>>& modules) {
  AddList(
      parser, "--allow-import", modules, kModuleType,
      "restrict imports to these modules of the profile; comma-separated or repeated, '' for none");
}

core::Result<outside::SandboxOptions> ResolveSandbox(const SandboxChoice& choice,
                                                     const profiles::ProfileCatalogue& catalogue) {
  core::Result<core::Profile> profile =
      catalogue.Choose(choice.profile.value_or(profiles::kUnnamedProfile));
  if (!profile) return profile.error();
  outside::SandboxOptions options;
  options.profile = std::move(*profile);
  options.other_profiles = profiles::ModulesByProfile(catalogue.profiles(), options.profile.name);
  options.isolation = choice.isolation == "strict" ? outside::IsolationMode::kStrict
                                                   : outside::IsolationMode::kStandard;
  options.spares = 1;
  return options;
}

core::Result<void> ChooseUnnamed(const SandboxChoice& choice, const profiles::ProgramNeeds& needs,
                                 const profiles::ProfileCatalogue& catalogue,
                                 outside::SandboxOptions& sandbox) {
  const core::Result<std::vector<core::Profile>> enabled = profiles::EnabledProfiles(catalogue);
  if (!enabled) return enabled.error();
  SandboxChoice chosen = choice;
  chosen.profile = profiles::ProfileFor(needs, sandbox.profile, *enabled);
  if (*chosen.profile == sandbox.profile.name) return {};
  core::Result<outside::SandboxOptions> resolved = ResolveSandbox(chosen, catalogue);
  if (!resolved) return resolved.error();
  sandbox = std::move(*resolved);
  return {};
}

void NameProfiles(const std::string& used, host::Outcome& outcome) {
  profiles::NameProfiles(
      used, [](const std::string& name) { return "Add --profile " + name + "."; }, outcome);
}

}  // namespace belljar::cli
