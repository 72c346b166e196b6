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

const char* Stray(const PackageArguments& arguments) {
  if (arguments.index) return "--package-index";
  if (arguments.hosts) return "--package-host";
  return arguments.allow_private ? "--package-allow-private" : nullptr;
}

std::string IndexOf(const PackageArguments& arguments) {
  if (arguments.index) return *arguments.index;
  const char* const variable = getenv(kIndexVariable);
  return variable ? variable : "";
}

}  // namespace

void AddPackageOptions(CLI::App* parser, PackageArguments& arguments) {
  // Not split at commas: version specifiers contain them.
  AddRepeatable(parser, "--package", arguments.packages, "PACKAGE",
                "package to install from an index with its dependencies, in a container: "
                "requests, 'requests>=2.31,<3'; repeatable");
  AddText(parser, "--package-index", arguments.index, "URL",
          "package index URL, as for pip (default: $PIP_INDEX_URL)");
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
      .index = IndexOf(arguments),
      .hosts = arguments.hosts.value_or(std::vector<std::string>()),
      .allow_private = arguments.allow_private.value_or(std::vector<std::string>()),
      .resolve = {}};
  if (selection.options.source.index.empty()) {
    return UsersError("--package needs an index: set --package-index URL or " +
                      std::string(kIndexVariable) + "; there is no default");
  }
  const core::Result<container::packages::PackageIndex> index =
      container::packages::PackageIndex::Parse(selection.options.source);
  if (!index) return UsersError(index.error().ToString());
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

}  // namespace belljar::cli
