#include "engine/outside/installation.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace belljar {

namespace fs = std::filesystem;

Result<Installation> Installation::Find() {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return SystemErrorOf(code.value(), "find the running program");
  const fs::path folder = program.parent_path();
  const struct {
    fs::path zygote;
    fs::path share;
  } kPlaces[] = {
      {folder / "belljar-zygote", folder / "share/belljar"},
      {folder.parent_path() / "belljar-zygote", folder.parent_path() / "share/belljar"},
      {folder.parent_path() / "libexec/belljar/belljar-zygote",
       folder.parent_path() / "share/belljar"},
  };
  for (const auto& place : kPlaces) {
    if (!fs::exists(place.zygote, code) || !fs::exists(place.share, code)) continue;
    return Installation{.zygote = place.zygote,
                        .policy = place.share / "policy",
                        .runner = place.share / "runner",
                        .site_packages = place.share / "site-packages",
                        .packages = place.share / "packages",
                        .profiles = place.share / "profiles",
                        .rules = place.share / "rules.json"};
  }
  return MakeError("find the installation",
                   "no belljar-zygote and share/belljar near " + folder.string());
}

std::string Installation::PackageSetPath(const std::string& set) const {
  std::error_code code;
  const fs::path real = fs::canonical(fs::path(packages) / set, code);
  return code || !fs::is_directory(real, code) ? std::string() : real.string();
}

std::string Installation::PackageVersion(std::string_view package) const {
  constexpr std::string_view kEnding = ".dist-info";
  const std::string beginning = std::string(package) + "-";
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(site_packages, code)) {
    std::string name = entry.path().filename();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!name.starts_with(beginning) || !name.ends_with(kEnding)) continue;
    return name.substr(beginning.size(), name.size() - beginning.size() - kEnding.size());
  }
  return "";
}

}  // namespace belljar
