#include "container/packages/package_profile.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/profiles/loader.h"

namespace belljar::container::packages {
namespace {

// For the tree's digest. The author of a package chooses its bytes, and could search for a tree
// whose digest has a given beginning. 128 bits make that infeasible, and fit into a tag (128
// characters).
constexpr size_t kDigits = 32;
constexpr char kBetween[] = "-packages-";

// A TOML list of names that need no escaping (IsModuleName).
std::string ListOf(const auto& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return "[" + list + "]";
}

core::Result<void> WriteText(const std::string& path, const std::string& text) {
  std::string scratch = path + ".XXXXXX";
  const core::UniqueFd fd(mkostemp(scratch.data(), O_CLOEXEC));
  if (!fd) return core::SystemError("make " + path);
  const ssize_t written = write(fd.get(), text.data(), text.size());
  const bool is_whole = written == static_cast<ssize_t>(text.size());
  if (is_whole && rename(scratch.c_str(), path.c_str()) == 0) return {};
  const core::Error error =
      core::SystemErrorOf(is_whole || written < 0 ? errno : ENOSPC, "make " + path);
  unlink(scratch.c_str());
  return error;
}

}  // namespace

std::string PackageProfileName(const std::string& base, const PackageLock& lock) {
  std::string name = base + kBetween + lock.tree.sha256.substr(0, kDigits);
  // A plus sign would combine several profiles.
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
}

std::string BaseOfPackageProfile(const std::string& name) {
  const size_t at = name.rfind(kBetween);
  if (at == name.npos) return "";
  const std::string_view digits = std::string_view(name).substr(at + sizeof kBetween - 1);
  if (!core::IsHex(digits, kDigits)) return "";
  std::string base = name.substr(0, at);
  std::replace(base.begin(), base.end(), '_', '+');
  return base;
}

std::string PackageProfileText(const core::Profile& base, const PackageLock& lock) {
  std::set<std::string, std::less<>> known;
  for (const core::ModuleExports& module : base.modules)
    known.emplace(core::TopLevelName(module.name));
  std::set<std::string> open;
  std::vector<std::string> modules;
  for (const std::string& module : lock.tree.modules) {
    if (known.contains(core::TopLevelName(module))) continue;
    open.emplace(core::TopLevelName(module));
    modules.push_back(module);
  }
  return "# Generated for one set of packages; do not edit.\n"
         "schema = 1\n"
         "name = \"" +
         PackageProfileName(base.name, lock) +
         "\"\n"
         "extends = \"" +
         base.name +
         "\"\n"
         "summary = \"Installed packages on top of " +
         base.name +
         ".\"\n"
         "attack_surface = [\"Packages of an index, which nobody has reviewed: their actions are "
         "contained by the kernel's layers and the container, not by the language policy.\"]\n\n"
         "[modules]\n\n"
         "[imports]\n"
         "why = \"the requested packages and their dependencies\"\n"
         "internal = []\n"
         "open = " +
         ListOf(open) +
         "\n\n"
         "[packages." +
         kInstalledSet +
         "]\n"
         "why = \"installed into an image of their own\"\n"
         "modules = " +
         ListOf(modules) + "\n";
}

core::Result<PackageProfile> MakePackageProfile(const core::Profile& base, const PackageLock& lock,
                                                const std::string& folder,
                                                const std::string& profiles) {
  PackageProfile made;
  made.file = folder + "/" + PackageProfileName(base.name, lock) + ".toml";
  if (core::Result<void> done = WriteText(made.file, PackageProfileText(base, lock)); !done) {
    return done.error();
  }
  core::Result<core::Profile> profile = profiles::LoadProfile(made.file, profiles);
  if (!profile) return profile.error();
  made.profile = std::move(*profile);
  return made;
}

}  // namespace belljar::container::packages
