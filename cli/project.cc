#include "cli/project.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

namespace fs = std::filesystem;

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

core::Result<Project> ProjectIn(const std::string& folder) {
  const std::string inside = folder.ends_with('/') ? folder : folder + "/";
  Project project{inside + "__main__.py", inside};
  if (IsFile(project.program)) return project;
  return UsersError(core::Quoted(folder) +
                    " has no __main__.py; name the file to run, and the folder with --file");
}

core::Result<Project> ProjectOf(const std::string& module) {
  std::string path = module;
  std::ranges::replace(path, '.', '/');
  const std::string top = path.substr(0, path.find('/'));
  if (module.find('/') != module.npos || path.empty() || path.starts_with('/') ||
      path.ends_with('/') || path.find("//") != path.npos) {
    return UsersError("-m " + core::Quoted(module) + " is no name of a module");
  }
  Project project;
  if (IsFolder(top)) project.folder = top;
  if (IsFolder(path)) {
    project.program = path + "/__main__.py";
    if (IsFile(project.program)) return project;
    return UsersError("-m " + core::Quoted(module) + ": the package has no __main__.py");
  }
  project.program = path + ".py";
  if (IsFile(project.program)) return project;
  return UsersError("-m " + core::Quoted(module) + ": there is neither " + core::Quoted(path) +
                    " nor " + core::Quoted(project.program) + " here");
}

}  // namespace belljar::cli
