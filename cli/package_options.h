// --package and what goes with it: packages that a run in a container, or an image, is given.
#ifndef BELLJAR_CLI_PACKAGE_OPTIONS_H_
#define BELLJAR_CLI_PACKAGE_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.h"
#include "container/packages/packages.h"
#include "engine/core/result.h"

namespace belljar::cli {

struct PackageArguments {
  std::vector<std::string> packages;
  std::optional<std::string> index;
  std::optional<std::vector<std::string>> hosts;
  std::optional<std::vector<std::string>> allow_private;
};

void AddPackageOptions(CLI::App* parser, PackageArguments& arguments);

struct PackageSelection {
  container::packages::PackagesOptions options;  // its engine is the caller's to say
  std::vector<container::packages::PackageRequirement> requirements;
};

// nullopt: none were asked for. `profile` as --profile has it. An error is the user's.
core::Result<std::optional<PackageSelection>> ResolvePackages(const PackageArguments& arguments,
                                                              const std::string& profile);

// Opens `selection` and says on a terminal what is being waited for.
core::Result<std::unique_ptr<container::packages::Packages>> OpenPackages(
    const PackageSelection& selection);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PACKAGE_OPTIONS_H_
