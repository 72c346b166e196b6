#include "engine/outside/package_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "engine/core/fd.h"

namespace belljar::outside {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMetadata = ".dist-info";
// The largest of those that profiles name has 400 KiB.
constexpr size_t kLargestRecord = 16 << 20;
constexpr size_t kLargestPins = 1 << 20;

struct Distribution {
  InstalledPackage package;
  std::string folder;  // "scikit_learn-1.4.2.dist-info"
};

// One spelling of a name (PyPA, "Names and normalization").
std::string Normalized(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && normal.ends_with('-')) continue;
    normal += separates ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return normal;
}

std::vector<Distribution> DistributionsIn(const std::string& folder) {
  std::vector<Distribution> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(kMetadata)) continue;
    const std::string_view both = std::string_view(name).substr(0, name.size() - kMetadata.size());
    // "scikit_learn-1.4.2": neither part holds a hyphen of its own.
    const size_t hyphen = both.find('-');
    if (hyphen == std::string_view::npos) continue;
    found.push_back(
        {{std::string(both.substr(0, hyphen)), std::string(both.substr(hyphen + 1))}, name});
  }
  return found;
}

// The path of a line of a RECORD: comma-separated, and quoted where it holds a comma or a quote.
std::string RecordedPath(std::string_view line) {
  if (!line.starts_with('"')) return std::string(line.substr(0, line.find(',')));
  std::string path;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"' && (i + 1 == line.size() || line[++i] != '"')) break;
    path += line[i];
  }
  return path;
}

// What lies outside of the folder is the installer's (scripts, manual pages), and what is compiled
// of single modules lies in one folder with that of everybody else's.
bool IsToImport(const std::string& path) {
  if (path.empty() || path.starts_with('/') || path.starts_with("__pycache__/")) return false;
  if (path.ends_with(".pth")) return false;
  const fs::path parts(path);
  return std::find(parts.begin(), parts.end(), "..") == parts.end();
}

// `paths` are files; `prefix` is a folder of theirs, "numpy/", or "" for all. A folder that is a
// package is somebody's own; one that is none may be shared, and is looked into.
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
    it = paths.lower_bound(entry + "0");  // '0' follows '/': past all that is in it
  }
}

// False where nobody recorded what belongs to it.
bool AddEntriesOf(const std::string& folder, const Distribution& distribution,
                  std::set<std::string>& entries) {
  const core::Result<std::string> record =
      core::ReadFile(folder + "/" + distribution.folder + "/RECORD", kLargestRecord);
  if (!record) return false;
  std::set<std::string> paths;
  std::istringstream lines(*record);
  for (std::string line; std::getline(lines, line);) {
    std::string path = RecordedPath(line);
    if (IsToImport(path)) paths.insert(std::move(path));
  }
  AddEntries(paths, "", entries);
  return true;
}

}  // namespace

std::vector<InstalledPackage> PackagesIn(const std::string& folder) {
  std::vector<InstalledPackage> packages;
  for (Distribution& each : DistributionsIn(folder)) {
    std::replace(each.package.name.begin(), each.package.name.end(), '_', '-');
    packages.push_back(std::move(each.package));
  }
  return packages;
}

core::Result<std::vector<InstalledPackage>> ReadPins(const std::string& file) {
  core::Result<std::string> text = core::ReadFile(file, kLargestPins);
  if (!text) return text.error();
  std::vector<InstalledPackage> pins;
  std::istringstream words(*text);
  for (InstalledPackage pin; words >> pin.name >> pin.version;) pins.push_back(pin);
  return pins;
}

ChosenPackages ChoosePackages(const std::string& folder,
                              const std::vector<InstalledPackage>& pins) {
  std::map<std::string, Distribution> installed;
  for (Distribution& each : DistributionsIn(folder)) {
    installed.insert_or_assign(Normalized(each.package.name), std::move(each));
  }
  ChosenPackages chosen;
  std::set<std::string> entries;
  bool is_whole = !pins.empty();
  for (const InstalledPackage& pin : pins) {
    const auto found = installed.find(Normalized(pin.name));
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

}  // namespace belljar::outside
