#include "cli/sandbox_choice.h"

#include "engine/profiles/loader.h"

namespace belljar::cli {

CLI::Option* AddSandboxOptions(CLI::App* parser, SandboxChoice& choice,
                               const char* default_profile) {
  AddText(parser, "--profile", choice.profile, kProfileType,
          std::string("profile: a name, several joined with +, or a file such as ./own.toml "
                      "(default: ") +
              default_profile + ")");
  return AddChoice(parser, "--isolation", choice.isolation, {"strict", "standard"},
                   "required layers; strict: all of them, or refuse to run; standard: run without "
                   "namespaces and Landlock where this machine lacks them, and report it");
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
