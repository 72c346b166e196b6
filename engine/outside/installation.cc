#include "engine/outside/installation.h"

#include <algorithm>
#include <filesystem>

#include "engine/core/text.h"

namespace belljar {

namespace fs = std::filesystem;

namespace {

std::string ShellQuoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// In a build tree a link stands where the set will be, and ./dev knows what belongs there.
std::string InstallCommand(const fs::path& packages, const std::string& set) {
  std::error_code code;
  if (fs::is_symlink(packages / set, code)) return "./dev setup " + set;
  const fs::path requirements = packages.parent_path() / "requirements" / (set + ".txt");
  return ShellQuoted(BELLJAR_PYTHON) +
         " -m pip install --require-hashes --only-binary :all: --target " +
         ShellQuoted(packages / set) + " -r " + ShellQuoted(requirements);
}

Result<fs::path> FolderOfProgram() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return SystemErrorOf(code.value(), "find the running program");
  return program.parent_path();
}

}  // namespace

Result<Installation> Installation::Find(const InstallationPlace& place) {
  std::error_code code;
  const Result<fs::path> found =
      place.folder.empty() ? FolderOfProgram() : Result<fs::path>(place.folder);
  if (!found) return found.error();
  const fs::path& folder = *found;
  const struct {
    fs::path zygote;
    fs::path share;
  } kPlaces[] = {
      {folder / "belljar-zygote", folder / "share/belljar"},
      {folder.parent_path() / "belljar-zygote", folder.parent_path() / "share/belljar"},
      {folder.parent_path() / "libexec/belljar/belljar-zygote",
       folder.parent_path() / "share/belljar"},
      {folder / "belljar-zygote", folder.parent_path().parent_path() / "share/belljar"},
  };
  for (const auto& each : kPlaces) {
    if (!fs::exists(each.zygote, code) || !fs::exists(each.share, code)) continue;
    return Installation{.zygote = each.zygote,
                        .policy = each.share / "policy",
                        .runner = each.share / "runner",
                        .site_packages = each.share / "site-packages",
                        .packages = each.share / "packages",
                        .profiles = each.share / "profiles",
                        .rules = each.share / "rules.json"};
  }
  return MakeError("find the installation",
                   "no belljar-zygote and share/belljar near " + folder.string());
}

std::string Installation::PackageSetPath(const std::string& set) const {
  std::error_code code;
  const fs::path real = fs::canonical(fs::path(packages) / set, code);
  return code || !fs::is_directory(real, code) ? std::string() : real.string();
}

std::vector<MissingPackages> Installation::Missing(const Profile& profile) const {
  std::vector<MissingPackages> missing;
  for (const PackageSet& set : profile.packages) {
    if (!PackageSetPath(set.name).empty()) continue;
    missing.push_back({set.name, set.modules, InstallCommand(packages, set.name)});
  }
  return missing;
}

std::vector<InstalledPackage> PackagesIn(const std::string& folder) {
  constexpr std::string_view kEnding = ".dist-info";
  std::vector<InstalledPackage> packages;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(kEnding)) continue;
    const std::string_view both = std::string_view(name).substr(0, name.size() - kEnding.size());
    // "scikit_learn-1.4.2": neither part holds a hyphen of its own.
    const size_t hyphen = both.find('-');
    if (hyphen == std::string_view::npos) continue;
    InstalledPackage package{std::string(both.substr(0, hyphen)),
                             std::string(both.substr(hyphen + 1))};
    std::replace(package.name.begin(), package.name.end(), '_', '-');
    packages.push_back(std::move(package));
  }
  return packages;
}

std::string Installation::PackageVersion(std::string_view package) const {
  for (InstalledPackage& each : PackagesIn(site_packages)) {
    if (LowerCase(each.name) == package) return std::move(each.version);
  }
  return "";
}

}  // namespace belljar
