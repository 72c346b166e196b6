#include "engine/seal/visible_paths.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

namespace belljar::seal {
namespace {

// Packages installed into an interpreter's own folders are inside its library, but not part of it:
// a guest gets only what its profile names (Debian uses the second name).
constexpr const char* kInstalledPackages[] = {"site-packages", "dist-packages"};

bool HasWhatIsLeftOut(const core::PathRule& rule) {
  return std::any_of(rule.without.begin(), rule.without.end(), [&](const std::string& name) {
    std::error_code code;
    return std::filesystem::exists(rule.path + "/" + name, code) || code;
  });
}

bool IsBelow(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/");
}

}  // namespace

std::vector<core::PathRule> ResolvePaths(std::vector<core::PathRule> paths,
                                         const std::string& stdlib) {
  for (core::PathRule& rule : paths) {
    if (rule.path != "{stdlib}") continue;
    rule.path = stdlib;
    rule.without.assign(std::begin(kInstalledPackages), std::end(kInstalledPackages));
  }
  return paths;
}

std::vector<core::PathRule> ShownParts(const std::vector<core::PathRule>& paths) {
  std::vector<core::PathRule> parts;
  std::set<std::string> known;
  for (const core::PathRule& rule : paths) {
    if (rule.only.empty()) parts.push_back(rule);
    for (const std::string& entry : rule.only) {
      std::string path = rule.path + "/" + entry;
      if (known.insert(path).second) parts.push_back({std::move(path), rule.optional});
    }
  }
  return parts;
}

core::Result<std::vector<core::PathRule>> TakenApart(const std::vector<core::PathRule>& paths) {
  std::vector<core::PathRule> parts;
  for (const core::PathRule& rule : ShownParts(paths)) {
    const auto is_left_out = [&](const std::string& name) {
      return std::find(rule.without.begin(), rule.without.end(), name) != rule.without.end();
    };
    if (!HasWhatIsLeftOut(rule)) {
      parts.push_back(rule);
      continue;
    }
    std::error_code code;
    std::filesystem::directory_iterator entries(rule.path, code);
    for (; !code && entries != std::filesystem::directory_iterator(); entries.increment(code)) {
      // Optional: a dangling link is skipped.
      if (!is_left_out(entries->path().filename())) parts.push_back({entries->path(), true});
    }
    if (code) return core::SystemErrorOf(code.value(), "list " + rule.path);
  }
  return parts;
}

std::vector<std::string> CoveredByWorkspace(const std::vector<core::PathRule>& paths) {
  std::vector<std::string> covered;
  for (const core::PathRule& rule : paths) {
    if (!IsBelow(rule.path, core::kWorkspacePath) && !IsBelow(rule.path, core::kTemporaryPath))
      continue;
    const bool is_in_another =
        std::any_of(covered.begin(), covered.end(),
                    [&](const std::string& other) { return IsBelow(rule.path, other); });
    if (is_in_another) continue;
    if (access(rule.path.c_str(), F_OK) == 0) covered.push_back(rule.path);
  }
  return covered;
}

}  // namespace belljar::seal
