#include "cli/validate/project_modules.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/host/beneath.h"
#include "engine/workspace/workspace.h"

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;

constexpr char kInit[] = "__init__.py";

bool IsPackage(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kInit, error);
}

// Whether it can be a name in an import statement. Python judges the letters beyond ASCII.
bool IsName(std::string_view name) {
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
  };
  return !name.empty() && std::ranges::all_of(name, is_of_name) &&
         !(name[0] >= '0' && name[0] <= '9') && host::PathFault(name) == nullptr;
}

}  // namespace

bool ProjectModules::HasModule(const Target& target) {
  return target.error.empty() && !target.is_standard_input && workspace::IsModule(target.path);
}

ProjectModules::Place ProjectModules::PlaceOf(const std::string& path) const {
  std::error_code error;
  const fs::path file = fs::absolute(path, error).lexically_normal();
  fs::path root = file.parent_path();
  const auto is_inside = [](const fs::path& folder) {
    return IsPackage(folder) || IsPackage(folder.parent_path());  // or a folder of a package
  };
  while (root.has_relative_path() && is_inside(root)) root = root.parent_path();
  return {root.string(), file.lexically_relative(root).string()};
}

ProjectModules::ProjectModules(const std::vector<Target>& targets) {
  for (const Target& target : targets) {
    if (!HasModule(target)) continue;
    const Place place = PlaceOf(target.path);
    const size_t slash = place.path.find('/');
    const bool is_file = slash == std::string::npos;
    const std::string name = place.path.substr(0, is_file ? place.path.size() - 3 : slash);
    if (!IsName(name)) continue;
    modules_[place.root].insert(is_file ? place.path : name + "/" + kInit);
    elsewhere_.insert(name);
    // A folder without an __init__.py is importable from the one above.
    const std::string folder = fs::path(place.root).filename().string();
    if (IsName(folder)) elsewhere_.insert(folder);
  }
}

std::vector<host::InputFile> ProjectModules::FilesFor(const Target& target) const {
  if (!HasModule(target)) return {};
  const Place place = PlaceOf(target.path);
  std::set<std::string> paths;
  if (const auto found = modules_.find(place.root); found != modules_.end()) paths = found->second;
  if (place.path.find('/') != std::string::npos && host::PathFault(place.path) == nullptr) {
    // By which the worker knows the package of the file.
    paths.insert(place.path);
    paths.insert(place.path.substr(0, place.path.rfind('/') + 1) + kInit);
  }
  std::vector<host::InputFile> files;
  files.reserve(paths.size() + elsewhere_.size());
  for (const std::string& path : paths) files.push_back({path, ""});
  for (const std::string& name : elsewhere_) {
    if (paths.contains(name + ".py") || paths.contains(name + "/" + kInit)) continue;
    files.push_back({name + "/_.py", ""});  // a folder comes last
  }
  if (files.size() > workspace::kMaxModuleFiles) files.resize(workspace::kMaxModuleFiles);
  return files;
}

}  // namespace belljar::cli::validate
