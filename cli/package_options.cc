#include "cli/package_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar {
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
  // Not by commas: they are part of versions.
  parser
      ->add_option("--package", arguments.packages,
                   "a package to install from an index, in a container, with what it needs: "
                   "requests, 'requests>=2.31,<3'; again for more")
      ->type_name("PACKAGE")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddText(parser, "--package-index", arguments.index, "URL",
          "where they come from, as pip takes it (default: $PIP_INDEX_URL)");
  AddList(parser, "--package-host", arguments.hosts, "HOST",
          "another host that the index's files come from (default: none)");
  AddList(parser, "--package-allow-private", arguments.allow_private, "NETWORK",
          "addresses of the index that are not public: 10.1.0.0/16, 127.0.0.1 (default: none)");
}

Result<std::optional<PackageWish>> ResolvePackages(const PackageArguments& arguments,
                                                   const std::string& profile) {
  if (arguments.packages.empty()) {
    if (const char* stray = Stray(arguments)) {
      return UsersError(std::string(stray) + " is about packages: name them with --package");
    }
    return std::optional<PackageWish>();
  }
  if (profile.find('/') != profile.npos || profile.ends_with(".toml")) {
    return UsersError(
        "--package goes with a profile of this installation, not with a file of your own");
  }
  Result<std::vector<PackageRequirement>> requirements = ParseRequirements(arguments.packages);
  if (!requirements) return requirements.error();
  PackageWish wish;
  wish.requirements = std::move(*requirements);
  wish.options.source = {
      .index = IndexOf(arguments),
      .hosts = arguments.hosts.value_or(std::vector<std::string>()),
      .allow_private = arguments.allow_private.value_or(std::vector<std::string>()),
      .resolve = {}};
  if (wish.options.source.index.empty()) {
    return UsersError("--package: from where? Name an index with --package-index URL, or in " +
                      std::string(kIndexVariable) + "; there is no usual one");
  }
  const Result<PackageIndex> index = PackageIndex::Parse(wish.options.source);
  if (!index) return UsersError(index.error().ToString());
  return std::optional<PackageWish>(std::move(wish));
}

Result<std::unique_ptr<Packages>> OpenPackages(const PackageWish& wish) {
  if (isatty(STDERR_FILENO)) {
    std::string names;
    for (const PackageRequirement& each : wish.requirements) names += " " + each.ToString();
    Say("belljar: packages:" + names + "\n");
  }
  return Packages::Open(wish.options);
}

}  // namespace belljar
