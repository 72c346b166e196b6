// --package and related options: packages for a run in a container or for an image.
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
  container::packages::PackagesOptions options;  // the caller sets the engine
  std::vector<container::packages::PackageRequirement> requirements;
};

// nullopt: none requested. `profile` is the value of --profile. Errors are user errors.
core::Result<std::optional<PackageSelection>> ResolvePackages(const PackageArguments& arguments,
                                                              const std::string& profile);

// Opens `selection` and shows progress on a terminal.
core::Result<std::unique_ptr<container::packages::Packages>> OpenPackages(
    const PackageSelection& selection);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PACKAGE_OPTIONS_H_
