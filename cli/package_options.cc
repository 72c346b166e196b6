#include "cli/package_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/console.h"
#include "engine/core/text.h"
#include "engine/profiles/profile_names.h"

namespace belljar::cli {
namespace {

constexpr char kIndexVariable[] = "PIP_INDEX_URL";
constexpr char kRegistryVariable[] = "NPM_CONFIG_REGISTRY";

const char* Stray(const PackageArguments& arguments) {
  if (arguments.index) return "--package-index";
  if (arguments.registry) return "--npm-registry";
  if (arguments.hosts) return "--package-host";
  return arguments.allow_private ? "--package-allow-private" : nullptr;
}

std::string GivenOr(const std::optional<std::string>& given, const char* name) {
  if (given) return *given;
  const char* const variable = getenv(name);  // NOLINT(concurrency-mt-unsafe): none is set
  return variable ? variable : "";
}

}  // namespace

void AddPackageOptions(CLI::App* parser, PackageArguments& arguments, PackageKinds kinds) {
  const bool has_npm = kinds == PackageKinds::kAll;
  // Not split at commas: version specifiers contain them.
  AddRepeatable(parser, "--package", arguments.packages, "PACKAGE",
                has_npm
                    ? "package to install with its dependencies: requests, 'requests>=2.31,<3', "
                      "npm:left-pad, 'npm:left-pad@^1.3'; repeatable"
                    : "package to install from an index with its dependencies: requests, "
                      "'requests>=2.31,<3'; repeatable");
  AddText(parser, "--package-index", arguments.index, "URL",
          "package index URL, as for pip (default: $PIP_INDEX_URL)");
  if (has_npm) {
    AddText(parser, "--npm-registry", arguments.registry, "URL",
            "registry URL of npm's packages (default: $NPM_CONFIG_REGISTRY)");
  }
  AddList(parser, "--package-host", arguments.hosts, "HOST",
          "additional host that serves the index's files (default: none)");
  AddList(parser, "--package-allow-private", arguments.allow_private, "NETWORK",
          "non-public addresses that the index may have: 10.1.0.0/16, 127.0.0.1 (default: none)");
}

core::Result<std::optional<PackageSelection>> ResolvePackages(const PackageArguments& arguments,
                                                              const std::string& profile) {
  if (arguments.packages.empty()) {
    if (const char* stray = Stray(arguments)) {
      return UsersError(std::string(stray) + " requires --package");
    }
    return std::optional<PackageSelection>();
  }
  if (profiles::IsProfileFile(profile)) {
    return UsersError(
        "--package requires a profile of this installation, not a profile file of your own");
  }
  core::Result<std::vector<container::packages::PackageRequirement>> requirements =
      container::packages::ParseRequirements(arguments.packages);
  if (!requirements) return requirements.error();
  PackageSelection selection;
  selection.requirements = std::move(*requirements);
  selection.options.source = {
      .index = GivenOr(arguments.index, kIndexVariable),
      .npm_registry = GivenOr(arguments.registry, kRegistryVariable),
      .hosts = arguments.hosts.value_or(std::vector<std::string>()),
      .allow_private = arguments.allow_private.value_or(std::vector<std::string>()),
      .resolve = {}};
  const container::packages::PackageSource& source = selection.options.source;
  for (const container::packages::PackageRequirement& each : selection.requirements) {
    if ((each.is_npm() ? source.npm_registry : source.index).empty()) {
      return UsersError(each.is_npm()
                            ? "--package " + each.name +
                                  " needs a registry: set --npm-registry URL or " +
                                  kRegistryVariable + "; there is no default"
                            : std::string("--package needs an index: set --package-index URL or ") +
                                  kIndexVariable + "; there is no default");
    }
    const core::Result<container::packages::PackageIndex> index =
        each.is_npm() ? container::packages::PackageIndex::ParseRegistry(source)
                      : container::packages::PackageIndex::Parse(source);
    if (!index) return UsersError(index.error().ToString());
  }
  return std::optional<PackageSelection>(std::move(selection));
}

core::Result<std::unique_ptr<container::packages::Packages>> OpenPackages(
    const PackageSelection& selection) {
  if (isatty(STDERR_FILENO)) {
    std::string names;
    for (const container::packages::PackageRequirement& each : selection.requirements)
      names += " " + each.ToString();
    Say("belljar: packages:" + names + "\n");
  }
  return container::packages::Packages::Open(selection.options);
}

core::Result<void> ShowPackages(const PackageSelection& selection, int cancel_fd,
                                core::Profile& profile) {
  const core::Result<std::unique_ptr<container::packages::Packages>> packages =
      OpenPackages(selection);
  if (!packages) return packages.error();
  const core::Result<container::packages::PackageSets> installed =
      (*packages)->InstallForPrograms(selection.requirements, cancel_fd);
  if (!installed) return installed.error();
  container::packages::ShowPackages(*installed, profile);
  return {};
}

}  // namespace belljar::cli
