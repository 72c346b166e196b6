#include "cli/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

core::Result<SourceFile> ReadBounded(int fd, const std::string& what, std::string name,
                                     core::Bytes bound) {
  SourceFile source;
  source.name = std::move(name);
  struct stat status;
  if (fstat(fd, &status) != 0) return core::SystemError("read " + what);
  // Checked before reading: otherwise only read(2) would report "Is a directory".
  if (S_ISDIR(status.st_mode)) return core::SystemErrorOf(EISDIR, "read " + what);
  core::Result<std::string> bytes = core::ReadAll(fd, bound.count);
  if (bytes) {
    source.bytes = std::move(*bytes);
    source.size = source.bytes.size();
    return source;
  }
  if (bytes.error().error_number != EFBIG) {
    return core::SystemErrorOf(bytes.error().error_number, "read " + what);
  }
  source.is_too_long = true;
  if (S_ISREG(status.st_mode)) source.size = static_cast<uint64_t>(status.st_size);
  return source;
}

}  // namespace

core::Result<SourceFile> ReadSourceFile(const std::string& path, core::Bytes bound) {
  if (path == "-") return ReadBounded(STDIN_FILENO, "standard input", "<stdin>", bound);
  const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return core::SystemError("open " + core::Quoted(path));
  return ReadBounded(fd.get(), core::Quoted(path), path, bound);
}

host::Finding TooLongFinding(const SourceFile& source, core::Bytes bound) {
  host::Finding finding;
  finding.rule = "BJ003";
  finding.name = "source-too-large";
  finding.reason = source.size > bound.count
                       ? "source is " + WithThousands(source.size) + " bytes"
                       : "source is more than " + WithThousands(bound.count) + " bytes";
  finding.reason += "; the limit is " + bound.ToString();
  finding.hint = "Pass large data as standard input instead of embedding it in the program.";
  return finding;
}

}  // namespace belljar::cli
