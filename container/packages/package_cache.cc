#include "container/packages/package_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "engine/host/scratch_folder.h"

namespace belljar::container::packages {

namespace fs = std::filesystem;

namespace {

constexpr char kLockName[] = "lock.json";
constexpr char kSiteName[] = "site";
constexpr size_t kMaxLockFile = size_t{4} << 20;

core::Error Damaged(const std::string& folder, const std::string& what) {
  return core::MakeError(
      "use the packages in " + folder,
      what + ". They are not used: remove that folder and try again to reinstall them");
}

core::Result<void> WriteLock(const std::string& path, const PackageLock& lock) {
  const core::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return core::SystemError("make " + path);
  const std::string text = PackageLockToText(lock);
  for (size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return core::SystemError("write " + path);
    done += static_cast<size_t>(written);
  }
  return {};
}

}  // namespace

std::string PackageCache::DefaultFolder() {
  if (const char* cache = getenv("XDG_CACHE_HOME"); cache && cache[0] == '/') {
    return std::string(cache) + "/belljar/packages";
  }
  const char* home = getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/belljar/packages" : std::string();
}

core::Result<PackageCache> PackageCache::Open(const std::string& folder) {
  const std::string operation = "keep packages in " + folder;
  std::error_code code;
  fs::create_directories(fs::path(folder).parent_path(), code);
  if (code) return core::SystemErrorOf(code.value(), operation, "name another folder for them");
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return core::SystemError(operation, "name another folder for them");
  }
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return core::SystemError(operation);
  if (!S_ISDIR(status.st_mode)) return core::SystemErrorOf(ENOTDIR, operation);
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return core::MakeError(operation,
                           "others may write to it, and its content is executed: chmod go-w it, "
                           "or name a folder of this user's own");
  }
  if (access(folder.c_str(), W_OK) != 0) {
    return core::SystemError(operation, "name a folder that this user can write to");
  }
  return PackageCache(folder);
}

core::Result<std::optional<CachedPackages>> PackageCache::Find(
    const PackageQuestion& question) const {
  const std::string folder = folder_ + "/" + question.Key();
  std::error_code code;
  if (!fs::exists(fs::symlink_status(folder, code))) return std::optional<CachedPackages>();
  const core::Result<std::string> text = core::ReadFile(folder + "/" + kLockName, kMaxLockFile);
  if (!text) return Damaged(folder, text.error().ToString());
  core::Result<PackageLock> lock = PackageLockFromText(*text);
  if (!lock) return Damaged(folder, "lock.json: " + lock.error().detail);
  if (lock->question != question) {
    return Damaged(folder, "lock.json belongs to another request");
  }
  return std::optional(CachedPackages{std::move(*lock), folder + "/" + kSiteName});
}

core::Result<CachedPackages> PackageCache::Get(const PackageQuestion& question,
                                               const LockWait& wait, const Fill& fill) const {
  core::Result<std::optional<CachedPackages>> found = Find(question);
  if (!found) return found.error();
  if (*found) return std::move(**found);
  const core::Result<core::UniqueFd> lock =
      LockFile(folder_ + "/" + question.Key() + ".lock", wait);
  if (!lock) return lock.error();
  found = Find(question);  // made by the previous lock holder
  if (!found) return found.error();
  if (*found) return std::move(**found);
  return Make(question, fill);
}

core::Result<CachedPackages> PackageCache::Make(const PackageQuestion& question,
                                                const Fill& fill) const {
  const std::string folder = folder_ + "/" + question.Key();
  const std::string making = folder + ".new";
  std::error_code code;
  fs::remove_all(making, code);  // left by a crash: we hold the lock
  host::ScratchFolder unfinished(making);
  const std::string site = making + "/" + kSiteName;
  if (mkdir(making.c_str(), 0700) != 0) return core::SystemError("make " + making);
  // Shown to guests as it is, and behind `making` to nobody else here. Whatever the umask says.
  if (mkdir(site.c_str(), 0755) != 0 || chmod(site.c_str(), 0755) != 0)
    return core::SystemError("make " + site);
  core::Result<PackageLock> lock = fill(site);
  if (!lock) return lock.error();
  if (core::Result<void> done = WriteLock(making + "/" + kLockName, *lock); !done)
    return done.error();
  if (rename(making.c_str(), folder.c_str()) != 0) return core::SystemError("make " + folder);
  unfinished.Keep();
  return CachedPackages{std::move(*lock), folder + "/" + kSiteName};
}

core::Result<void> CheckTree(const CachedPackages& packages) {
  const core::Result<TreeFacts> tree = ReadTree(packages.site);
  if (!tree) {
    return Damaged(fs::path(packages.site).parent_path(), tree.error().ToString());
  }
  if (*tree != packages.lock.tree) {
    return Damaged(fs::path(packages.site).parent_path(),
                   "they were modified after installation: their digest differs");
  }
  return {};
}

}  // namespace belljar::container::packages
