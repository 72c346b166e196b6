#include "cli/validate/report_paths.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;

// Unreserved characters of RFC 3986, and the slash, but not ':': "a:b.py" would have the scheme
// "a".
bool StaysInUri(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' || byte == '~' ||
         byte == '/';
}

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

std::string UriPath(std::string_view path) {
  std::string uri;
  for (const char byte : path) {
    if (StaysInUri(byte)) {
      uri += byte;
    } else {
      char escape[4];
      snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned char>(byte));
      uri += escape;
    }
  }
  return uri;
}

}  // namespace belljar::cli::validate
