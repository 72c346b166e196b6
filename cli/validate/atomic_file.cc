#include "cli/validate/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

// The mode of new files. There is no other way to query the umask, and no other thread creates
// files yet.
mode_t NewFileMode() {
  const mode_t mask = umask(077);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

core::Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  const std::string operation = "write " + core::Quoted(path);
  struct stat status;
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return core::SystemErrorOf(EISDIR, operation);
  if (exists && !S_ISREG(status.st_mode)) {
    file.fd_.Reset(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file.fd_) return core::SystemError(operation);
    return file;
  }
  if (exists) {  // keeps symbolic links
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (real) file.path_ = real.get();
  }
  file.scratch_ = file.path_ + ".XXXXXX";
  file.fd_.Reset(mkostemp(file.scratch_.data(), O_CLOEXEC));
  if (!file.fd_) {
    file.scratch_.clear();
    return core::SystemError(operation);
  }
  if (fchmod(file.fd_.get(), exists ? status.st_mode & 07777 : NewFileMode()) != 0) {
    return core::SystemError(operation);
  }
  return file;
}

AtomicFile::~AtomicFile() {
  if (fd_ && !scratch_.empty()) unlink(scratch_.c_str());
}

core::Result<void> AtomicFile::Write(std::string_view text) {
  if (core::WriteBytes(fd_.get(), text)) return {};
  return core::SystemError("write " + core::Quoted(path_));
}

core::Result<void> AtomicFile::Commit() {
  if (!scratch_.empty() && rename(scratch_.c_str(), path_.c_str()) != 0) {
    return core::SystemError("write " + core::Quoted(path_));
  }
  scratch_.clear();
  fd_.Reset();
  return {};
}

}  // namespace belljar::cli::validate
