#include "engine/profiles/prepared.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "engine/core/text.h"
#include "engine/host/digest.h"

namespace belljar::profiles {
namespace {

namespace fs = std::filesystem;

constexpr char kFolderOfMachine[] = "/var/cache/belljar/languages";
constexpr size_t kKeyDigits = 32;

// Each part with its length, so that no two lists have the same digest.
void Add(host::Sha256Stream& digest, const std::string& part) {
  digest.Add(std::to_string(part.size()) + " ");
  digest.Add(part);
}

// As a build tool tells files apart: a new version has another size or time.
core::Result<std::string> Identity(const std::string& path) {
  std::error_code code;
  const std::string real = fs::canonical(path, code);
  struct stat status;
  if (code) return core::SystemErrorOf(code.value(), "open " + path);
  if (stat(real.c_str(), &status) != 0) return core::SystemError("open " + real);
  return real + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) +
         "." + std::to_string(status.st_mtim.tv_nsec);
}

bool IsOurs(const struct stat& status) { return status.st_uid == 0 || status.st_uid == geteuid(); }

}  // namespace

std::vector<std::string> PreparedFolders() {
  std::vector<std::string> folders;
  const char* const cache = getenv("XDG_CACHE_HOME");  // NOLINT(concurrency-mt-unsafe): none is set
  const char* const home = getenv("HOME");             // NOLINT(concurrency-mt-unsafe): likewise
  if (cache && cache[0] == '/') {
    folders.push_back(std::string(cache) + "/belljar/languages");
  } else if (geteuid() != 0 && home && home[0] == '/') {
    folders.push_back(std::string(home) + "/.cache/belljar/languages");
  }
  folders.emplace_back(kFolderOfMachine);
  return folders;
}

core::Result<std::string> PreparedName(const core::Profile& installed) {
  const core::Preparation& prepare = installed.program.value().prepare;
  host::Sha256Stream digest;
  for (const std::string& word : prepare.command) Add(digest, word);
  Add(digest, prepare.source);
  Add(digest, prepare.file);
  for (const std::string& path : prepare.from) {
    const core::Result<std::string> identity = Identity(path);
    if (!identity) return identity.error();
    Add(digest, *identity);
  }
  return installed.name + "-" + digest.Finish().substr(0, kKeyDigits) + "-" + prepare.file;
}

bool IsPreparedFor(const core::Profile& installed, const std::string& name) {
  const std::string before = installed.name + "-";
  const std::string after = "-" + installed.program.value().prepare.file;
  return name.size() == before.size() + kKeyDigits + after.size() && name.starts_with(before) &&
         name.ends_with(after) &&
         core::IsHex(std::string_view(name).substr(before.size(), kKeyDigits), kKeyDigits);
}

std::optional<std::string> FindPrepared(const core::Profile& installed) {
  const core::Result<std::string> name = PreparedName(installed);
  if (!name) return std::nullopt;
  for (const std::string& folder : PreparedFolders()) {
    std::error_code code;
    const fs::path real = fs::canonical(folder + "/" + *name, code);
    if (!code && fs::is_regular_file(real, code) && CheckOnlyOursWrite(real)) return real.string();
  }
  return std::nullopt;
}

core::Result<void> CheckOnlyOursWrite(const std::string& path) {
  const auto refused = [&](const std::string& each, const std::string& why) {
    return core::MakeError("trust " + path, each + " " + why);
  };
  const fs::path whole(path);
  for (fs::path each = whole;; each = each.parent_path()) {
    struct stat status;
    if (lstat(each.c_str(), &status) != 0) return core::SystemError("stat " + each.string());
    if (S_ISLNK(status.st_mode)) return refused(each, "is a symbolic link");
    if (!IsOurs(status)) return refused(each, "belongs to another user");
    // In a folder like /tmp others cannot replace what is not theirs. The file and its own folder
    // are not like that.
    const bool is_near = each == whole || each == whole.parent_path();
    const bool is_sticky = !is_near && S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky) {
      return refused(each, "is writable by others: chmod go-w it");
    }
    if (each == each.parent_path()) return {};
  }
}

}  // namespace belljar::profiles
