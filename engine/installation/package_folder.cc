#include "engine/installation/package_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::installation {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMetadata = ".dist-info";
// The largest RECORD of the packages that profiles name has 400 KiB.
constexpr size_t kMaxRecord = 16 << 20;
constexpr size_t kMaxPins = 1 << 20;

struct Distribution {
  InstalledPackage package;
  std::string folder;  // "scikit_learn-1.4.2.dist-info"
};

std::vector<Distribution> DistributionsIn(const std::string& folder) {
  std::vector<Distribution> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(kMetadata)) continue;
    const std::string_view both = std::string_view(name).substr(0, name.size() - kMetadata.size());
    // "scikit_learn-1.4.2": neither part contains a hyphen.
    const size_t hyphen = both.find('-');
    if (hyphen == std::string_view::npos) continue;
    found.push_back(
        {{std::string(both.substr(0, hyphen)), std::string(both.substr(hyphen + 1))}, name});
  }
  return found;
}

// The path in a line of a RECORD: comma-separated, and quoted if it contains a comma or a quote.
std::string RecordedPath(std::string_view line) {
  if (!line.starts_with('"')) return std::string(line.substr(0, line.find(',')));
  std::string path;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"' && (i + 1 == line.size() || line[++i] != '"')) break;
    path += line[i];
  }
  return path;
}

// Files outside the folder belong to the installer (scripts, manual pages), and the bytecode of
// single modules is in one folder shared by all packages.
bool IsToImport(const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.starts_with("__pycache__/")) return false;
  if (path.ends_with(".pth")) return false;
  const fs::path parts(path);
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

// `paths` are files; `prefix` is one of their folders, "numpy/", or "" for all. A folder that is a
// package belongs to one distribution; any other may be shared, and is searched.
void AddEntries(const std::set<std::string>& paths, const std::string& prefix,
                std::set<std::string>& entries) {
  for (auto it = paths.lower_bound(prefix); it != paths.end() && it->starts_with(prefix);) {
    const size_t slash = it->find('/', prefix.size());
    const std::string entry = it->substr(0, slash);
    if (slash == std::string::npos) {
      entries.insert(*it++);
      continue;
    }
    if (paths.contains(entry + "/__init__.py") || entry.ends_with(kMetadata)) {
      entries.insert(entry);
    } else {
      AddEntries(paths, entry + "/", entries);
    }
    it = paths.lower_bound(entry + "0");  // '0' follows '/': skips everything below the folder
  }
}

// False if there is no record of its files.
bool AddEntriesOf(const std::string& folder, const Distribution& distribution,
                  std::set<std::string>& entries) {
  const core::Result<std::string> record =
      core::ReadFile(folder + "/" + distribution.folder + "/RECORD", kMaxRecord);
  if (!record) return false;
  std::set<std::string> paths;
  for (const std::string_view line : core::SplitAt(*record, '\n')) {
    std::string path = RecordedPath(line);
    if (IsToImport(path)) paths.insert(std::move(path));
  }
  AddEntries(paths, "", entries);
  return true;
}

}  // namespace

std::string NormalizedPackageName(std::string_view name) {
  std::string normalized;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && normalized.ends_with('-')) continue;
    // Independent of the locale.
    normalized += separates ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return normalized;
}

std::vector<InstalledPackage> PackagesIn(const std::string& folder) {
  std::vector<InstalledPackage> packages;
  for (Distribution& each : DistributionsIn(folder)) {
    std::replace(each.package.name.begin(), each.package.name.end(), '_', '-');
    packages.push_back(std::move(each.package));
  }
  return packages;
}

core::Result<std::vector<InstalledPackage>> ReadPins(const std::string& file) {
  core::Result<std::string> text = core::ReadFile(file, kMaxPins);
  if (!text) return text.error();
  std::vector<InstalledPackage> pins;
  const std::vector<std::string_view> words = core::Words(*text);
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    pins.push_back({std::string(words[i]), std::string(words[i + 1])});
  }
  return pins;
}

ChosenPackages ChoosePackages(const std::string& folder,
                              const std::vector<InstalledPackage>& pins) {
  std::map<std::string, Distribution> installed;
  for (Distribution& each : DistributionsIn(folder)) {
    installed.insert_or_assign(NormalizedPackageName(each.package.name), std::move(each));
  }
  ChosenPackages chosen;
  std::set<std::string> entries;
  bool is_whole = !pins.empty();
  for (const InstalledPackage& pin : pins) {
    const auto found = installed.find(NormalizedPackageName(pin.name));
    if (found == installed.end()) {
      is_whole = false;
    } else if (found->second.package.version != pin.version) {
      is_whole = false;
      chosen.differing.push_back(pin.name + " " + found->second.package.version + ", where " +
                                 pin.version + " is needed");
    } else if (!AddEntriesOf(folder, found->second, entries)) {
      is_whole = false;
      chosen.differing.push_back(pin.name + " " + pin.version + " without a RECORD of its files");
    }
  }
  std::error_code code;
  if (is_whole) chosen.folder = {fs::canonical(folder, code), {entries.begin(), entries.end()}};
  return chosen;
}

}  // namespace belljar::installation
