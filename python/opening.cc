#include "python/opening.h"

#include <algorithm>
#include <utility>

#include "container/packages/packages.h"
#include "engine/core/text.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/loader.h"
#include "engine/profiles/model_text.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/profiles/profile_facts.h"
#include "engine/profiles/profile_names.h"
#include "engine/profiles/unnamed_profile.h"

namespace belljar::python {
namespace {

core::Error CallersError(std::string message) { return core::MakeError(std::move(message), ""); }

core::Result<void> ChooseNetwork(const OpenRequest& open_request, Choice& choice) {
  const bool given = !open_request.allowed_domains.empty() || !open_request.allow_private.empty();
  const core::Profile& profile = choice.sandbox.profile;
  if (!profile.egress) {
    if (!given) return {};
    return CallersError("allow_domains and allow_private: profile " + profile.name +
                        " has no network; they require profile=\"network\"");
  }
  choice.sandbox.network.allowed_domains = open_request.allowed_domains;
  choice.sandbox.network.allow_private = open_request.allow_private;
  const core::Result<egress::EgressRules> rules = egress::EgressRules::Make(choice.sandbox.network);
  return rules ? core::Result<void>() : CallersError("allow_domains: " + rules.error().ToString());
}

core::Result<void> ChoosePackages(const OpenRequest& open_request, Choice& choice) {
  choice.source = open_request.source;
  if (open_request.packages.empty()) return {};
  const core::Profile& profile = choice.sandbox.profile;
  if (open_request.container) {
    if (profiles::IsProfileFile(open_request.profile)) {
      return CallersError(
          "packages: they require a profile of this installation, not a file of your own");
    }
    if (!open_request.container->selection.image.empty())
      return CallersError("packages: they build their own image: omit image");
  }
  core::Result<std::vector<container::packages::PackageRequirement>> requirements =
      container::packages::ParseRequirements(open_request.packages);
  if (!requirements) return CallersError("packages: " + requirements.error().ToString());
  if (core::Result<void> checked = container::packages::CheckPlace(
          profile, *requirements, open_request.container.has_value());
      !checked) {
    return CallersError(checked.error().ToString());
  }
  if (core::Result<void> checked = CheckSource(open_request.source, *requirements); !checked)
    return checked;
  choice.packages = std::move(*requirements);
  return {};
}

core::Result<void> ChooseContainer(const OpenRequest& open_request, Choice& choice) {
  if (!open_request.container) return {};
  constexpr container::backend::SelectionNames kArguments = {
      .engine = "container: engine=",
      .socket = "socket",
      .runtime = "runtime=",
      .require_gvisor = "container: require_gvisor"};
  const container::backend::ContainerSelection& selection = open_request.container->selection;
  if (core::Result<void> checked = container::backend::CheckTogether(selection, kArguments);
      !checked)
    return checked;
  choice.container =
      container::backend::ContainerOptions{.selection = selection, .memory = {}, .instance = ""};
  if (open_request.spares) choice.container->spares = *open_request.spares;
  // The container takes the place of namespaces.
  choice.sandbox.isolation = outside::IsolationMode::kStandard;
  return {};
}

// Installs the packages for the profile's programs; in containers into the profile, and loads the
// image into the engine.
core::Result<void> InstallPackages(Choice& choice, int cancel_fd, Opened& opened) {
  if (choice.packages.empty()) return {};
  container::packages::PackagesOptions options;
  options.installation = choice.sandbox.installation;
  options.source = choice.source;
  if (choice.container) options.selection = choice.container->selection;
  const core::Result<std::unique_ptr<container::packages::Packages>> packages =
      container::packages::Packages::Open(std::move(options));
  if (!packages) return packages.error();
  if (!choice.container) {
    core::Result<container::packages::PackageSets> installed =
        (*packages)->InstallForPrograms(choice.packages, cancel_fd);
    if (!installed) return installed.error();
    container::packages::ShowPackages(*installed, choice.sandbox.profile);
    opened.packages = {std::move(choice.packages), std::move(*installed)};
    return {};
  }
  core::Result<container::packages::PreparedPackages> prepared =
      (*packages)->Prepare(choice.sandbox.profile, choice.packages, cancel_fd);
  if (!prepared) return prepared.error();
  choice.sandbox.profile = std::move(prepared->profile);
  choice.container->selection = std::move(prepared->selection);
  opened.packages = {std::move(choice.packages), {{std::move(prepared->lock), ""}}};
  return {};
}

// The profile of a language, with the network of `profile` if that has one.
core::Result<core::Profile> OtherLanguage(const OpenRequest& open_request,
                                          const installation::Installation& installation,
                                          const core::Profile& profile) {
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(installation);
  if (!catalogue) return catalogue.error();
  core::Result<std::optional<core::Profile>> language =
      catalogue->FindInstalled(open_request.language);
  if (!language) return CallersError("language: " + language.error().ToString());
  if (!*language) return profile;
  const std::string& title = (*language)->program->title;
  if (!open_request.profile.empty() && !profile.egress) {
    return CallersError("profile: " + profile.name + " is for Python; " + title +
                        " programs have files anyway, and \"network\" gives them a network");
  }
  return profile.egress ? profiles::WithNetwork(std::move(**language), profile)
                        : std::move(**language);
}

std::string OfferOf(const outside::SandboxOptions& sandbox) {
  const core::Profile& profile = sandbox.profile;
  if (profile.program) return profile.program->title + "; files are in " + core::kWorkspacePath;
  const bool is_full = sandbox.policy == outside::Policy::kOff;
  const auto missing = sandbox.installation->Missing(profile);
  std::vector<std::string> library;
  for (std::string& module : profiles::ModuleNames(profile)) {
    const auto is_of_set = [&](const core::PackageSet& set) {
      return core::Contains(set.modules, core::TopLevelName(module));
    };
    if (!std::ranges::any_of(profile.packages, is_of_set)) library.push_back(std::move(module));
  }
  std::string text = profiles::OfferText(profile, is_full, profiles::PackagesOf(profile, missing),
                                         is_full ? "" : profiles::LibraryText(library));
  if (profile.workspace) text += std::string("; files are in ") + core::kWorkspacePath;
  return text;
}

}  // namespace

core::Result<void> CheckSource(
    const container::packages::PackageSource& source,
    const std::vector<container::packages::PackageRequirement>& requirements) {
  using container::packages::PackageIndex;
  for (const container::packages::PackageRequirement& each : requirements) {
    const bool is_npm = each.is_npm();
    const char* const name = is_npm ? "npm_registry" : "package_index";
    if ((is_npm ? source.npm_registry : source.index).empty()) {
      return CallersError(std::string(name) + ": there is none: set it, or " +
                          (is_npm ? "NPM_CONFIG_REGISTRY" : "PIP_INDEX_URL") +
                          "; there is no default");
    }
    const core::Result<PackageIndex> index =
        is_npm ? PackageIndex::ParseRegistry(source) : PackageIndex::Parse(source);
    if (!index) return CallersError(std::string(name) + ": " + index.error().ToString());
  }
  return {};
}

core::Result<Choice> Choose(const profiles::ProfileCatalogue& catalogue,
                            const OpenRequest& open_request) {
  const bool is_named = !open_request.profile.empty();
  core::Result<core::Profile> profile =
      catalogue.Choose(is_named ? open_request.profile : profiles::kUnnamedProfile);
  if (!profile) return CallersError("profile: " + profile.error().ToString());
  Choice choice;
  // A combination may have no image for a container.
  if (!is_named && !open_request.container) {
    core::Result<std::vector<core::Profile>> enabled = profiles::EnabledProfiles(catalogue);
    if (!enabled) return CallersError(enabled.error().ToString());
    choice.enabled = std::move(*enabled);
    // The base of all its programs: with a network, if hosts are given, and with the modules that
    // they may import.
    const bool hosts = !open_request.allowed_domains.empty() || !open_request.allow_private.empty();
    const std::string base = profiles::ProfileFor({.modules = open_request.modules, .hosts = hosts},
                                                  *profile, choice.enabled);
    if (base != profile->name) profile = catalogue.Choose(base);
    if (!profile) return CallersError(profile.error().ToString());
  }
  if (!open_request.language.empty()) {
    core::Result<core::Profile> language =
        OtherLanguage(open_request, catalogue.installation(), *profile);
    if (!language) return language.error();
    profile = std::move(*language);
    choice.enabled.clear();
  }
  choice.sandbox.hides_children = true;
  choice.sandbox.installation = catalogue.installation();
  choice.facts = profiles::ProfileToJson(*profile, catalogue.installation());
  choice.sandbox.profile = std::move(*profile);
  choice.sandbox.other_profiles =
      profiles::ModulesByProfile(catalogue.profiles(), choice.sandbox.profile.name);
  choice.sandbox.isolation = open_request.allows_missing_layers ? outside::IsolationMode::kStandard
                                                                : outside::IsolationMode::kStrict;
  if (open_request.without_policy) choice.sandbox.policy = outside::Policy::kOff;
  choice.sandbox.policy = outside::PolicyOf(choice.sandbox);
  choice.offer = OfferOf(choice.sandbox);
  if (open_request.spares) choice.sandbox.spares = *open_request.spares;
  for (const auto take : {ChooseNetwork, ChooseContainer, ChoosePackages}) {
    if (core::Result<void> taken = take(open_request, choice); !taken) return taken.error();
  }
  return choice;
}

core::Result<void> CheckSessions(const Opened& opened) {
  const std::optional<core::ProgramRule>& program = opened.profile.program;
  if (!program || program->has_sessions()) return {};
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(opened.installation);
  return catalogue ? catalogue->NeedSessions(opened.profile) : catalogue.error();
}

core::Result<Opened> Open(Choice choice, int cancel_fd) {
  Opened opened;
  if (core::Result<void> had = InstallPackages(choice, cancel_fd, opened); !had) return had.error();
  opened.profile = choice.sandbox.profile;
  opened.installation = *choice.sandbox.installation;
  opened.isolation = choice.sandbox.isolation;
  opened.policy = choice.sandbox.policy;
  opened.facts = std::move(choice.facts);
  opened.offer = std::move(choice.offer);
  opened.enabled = std::move(choice.enabled);
  opened.source = std::move(choice.source);
  opened.is_container = choice.container.has_value();
  if (opened.profile.egress) {
    core::Result<egress::EgressRules> rules = egress::EgressRules::Make(choice.sandbox.network);
    if (!rules) return rules.error();
    opened.rules = std::move(*rules);
  }
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      choice.container ? container::backend::OpenContainerSandbox(std::move(choice.sandbox),
                                                                  std::move(*choice.container))
                       : outside::Sandbox::Open(std::move(choice.sandbox));
  if (!sandbox) return sandbox.error();
  opened.sandbox = std::move(*sandbox);
  return opened;
}

}  // namespace belljar::python
