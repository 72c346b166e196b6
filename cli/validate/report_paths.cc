#include "cli/validate/report_paths.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string RootOf(const ReportHeader& header) {
  std::string root = header.root;
  std::error_code code;
  if (root.empty()) root = fs::current_path(code).string();
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  return root.empty() ? "/" : root;
}

std::string AbsolutePath(const std::string& root, const std::string& path) {
  return (fs::path(root) / path).lexically_normal().string();
}

std::string PathFrom(const std::string& folder, const std::string& root, const std::string& path) {
  const std::string absolute = AbsolutePath(root, path);
  const std::string below = folder.ends_with('/') ? folder : folder + "/";
  return absolute.starts_with(below) ? absolute.substr(below.size()) : absolute;
}

std::string RepositoryPath(const char* variable, const std::string& root, const std::string& path) {
  if (path == kStandardInputName) return path;
  const char* repository = getenv(variable);
  if (repository != nullptr && repository[0] == '/') {
    const std::string normal = fs::path(repository).lexically_normal().string();
    const std::string seen = PathFrom(normal, root, path);
    if (!seen.starts_with('/')) return seen;
  }
  return PathFrom(root, root, path);
}

}  // namespace belljar::cli::validate
