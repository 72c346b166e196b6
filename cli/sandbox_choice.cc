#include "cli/sandbox_choice.h"

#include "profiles/loader.h"

namespace belljar {

CLI::Option* AddSandboxOptions(CLI::App* parser, SandboxChoice& choice) {
  AddText(parser, "--profile", choice.profile, kProfileType,
          "what the program may use: a profile's name, several joined with +, or a file such as "
          "./own.toml (default: basic)");
  return AddChoice(
      parser, "--isolation", choice.isolation, {"strict", "standard"},
      "which layers must hold; strict: every one, or no run; standard: runs without namespaces "
      "and Landlock where this machine has none, and says so");
}

void AddImportsOption(CLI::App* parser, std::optional<std::vector<std::string>>& modules) {
  AddList(parser, "--allow-import", modules, kModuleType,
          "only these of the profile's modules; again or with commas for more, '' for none");
}

Result<SandboxOptions> ResolveSandbox(const SandboxChoice& choice,
                                      const ProfileCatalogue& catalogue) {
  Result<Profile> profile = catalogue.Choose(choice.profile.value_or("basic"));
  if (!profile) return profile.error();
  SandboxOptions options;
  options.profile = std::move(*profile);
  options.other_profiles = ModulesByProfile(catalogue.profiles(), options.profile.name);
  options.isolation =
      choice.isolation == "strict" ? IsolationMode::kStrict : IsolationMode::kStandard;
  options.spares = 1;
  return options;
}

}  // namespace belljar
