// --package and what goes with it: packages that a run in a container, or an image, is given.
#ifndef BELLJAR_CLI_PACKAGE_OPTIONS_H_
#define BELLJAR_CLI_PACKAGE_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.h"
#include "container/packages/packages.h"
#include "engine/core/result.h"

namespace belljar {

struct PackageArguments {
  std::vector<std::string> packages;
  std::optional<std::string> index;
  std::optional<std::vector<std::string>> hosts;
  std::optional<std::vector<std::string>> allow_private;
};

void AddPackageOptions(CLI::App* parser, PackageArguments& arguments);

struct PackageWish {
  PackagesOptions options;  // its engine is the caller's to say
  std::vector<PackageRequirement> requirements;
};

// nullopt: none were asked for. `profile` as --profile has it. An error is the user's.
Result<std::optional<PackageWish>> ResolvePackages(const PackageArguments& arguments,
                                                   const std::string& profile);

// Opens `wish` and says on a terminal what is being waited for.
Result<std::unique_ptr<Packages>> OpenPackages(const PackageWish& wish);

}  // namespace belljar

#endif  // BELLJAR_CLI_PACKAGE_OPTIONS_H_
