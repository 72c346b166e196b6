// --package and related options: packages for a run, for commands or for an image.
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
  std::optional<std::string> registry;
  std::optional<std::vector<std::string>> hosts;
  std::optional<std::vector<std::string>> allow_private;
};

// Python's alone, for images, or npm's too.
enum class PackageKinds { kPython, kAll };
void AddPackageOptions(CLI::App* parser, PackageArguments& arguments, PackageKinds kinds);

struct PackageSelection {
  container::packages::PackagesOptions options;  // the caller sets the engine, if there is one
  std::vector<container::packages::PackageRequirement> requirements;
};

// nullopt: none requested. `profile` is the value of --profile. Errors are user errors.
core::Result<std::optional<PackageSelection>> ResolvePackages(const PackageArguments& arguments,
                                                              const std::string& profile);

// Opens `selection` and shows progress on a terminal.
core::Result<std::unique_ptr<container::packages::Packages>> OpenPackages(
    const PackageSelection& selection);

// Installs `selection` for programs with this profile, which has a place for them.
core::Result<void> ShowPackages(const PackageSelection& selection, int cancel_fd,
                                core::Profile& profile);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_PACKAGE_OPTIONS_H_
