#include "server/tools/session_archive.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "container/image/tar.h"
#include "engine/core/fd.h"

namespace belljar::server::tools {
namespace {

using container::image::TarEntry;

constexpr uint64_t kTarBlock = 512;
constexpr uint64_t kTarEnd = 2 * kTarBlock;

// Size in the archive: the header, and the content in whole blocks.
uint64_t TarSpaceOf(uint64_t size) {
  return kTarBlock + (size + kTarBlock - 1) / kTarBlock * kTarBlock;
}

TarEntry TarEntryOf(const std::string& path, uint64_t size) {
  TarEntry entry;
  entry.path = path;
  entry.size = size;
  return entry;
}

core::Error TooLarge(uint64_t size, core::Bytes max_size) {
  return core::MakeError("the archive would have " + std::to_string(size) +
                             " bytes, and the limit is " + max_size.ToString() +
                             ": export one folder at a time, with path",
                         "");
}

}  // namespace

// Without entries for folders, which would be read-only once unpacked: whoever unpacks the archive
// creates the folders that files need.
core::Result<SessionArchive> MakeArchive(std::vector<sessions::SessionFile> files,
                                         const FileReader& read, core::Bytes max_size) {
  SessionArchive archive;
  archive.left_out = std::erase_if(files, [](const sessions::SessionFile& file) {
    return !EntryFault(TarEntryOf(file.path, file.size)).empty();
  });
  std::ranges::sort(files, {}, &sessions::SessionFile::path);
  uint64_t space = kTarEnd;
  for (const sessions::SessionFile& file : files) space += TarSpaceOf(file.size);
  if (space > max_size.count) return TooLarge(space, max_size);
  core::UniqueFd memory(memfd_create("belljar-archive", MFD_CLOEXEC));
  if (!memory) return core::SystemError("create an archive");
  container::image::TarWriter writer(memory.get());
  for (const sessions::SessionFile& file : files) {
    const core::Result<std::string> content = read(file.path);
    space -= TarSpaceOf(file.size);
    if (!content && content.error().error_number == ENOENT) {
      ++archive.left_out;
      continue;
    }
    if (!content) return content.error();
    space += TarSpaceOf(content->size());  // its current content
    if (space > max_size.count) return TooLarge(space, max_size);
    core::Result<void> added = writer.Begin(TarEntryOf(file.path, content->size()));
    if (added) added = writer.Append(*content);
    if (!added) return added.error();
    ++archive.files;
  }
  const core::Result<container::image::TarSummary> done = writer.Finish();
  if (!done) return done.error();
  if (lseek(memory.get(), 0, SEEK_SET) != 0) return core::SystemError("read an archive");
  core::Result<std::string> bytes = core::ReadAll(memory.get(), done->size);
  if (!bytes) return bytes.error();
  archive.bytes = std::move(*bytes);
  return archive;
}

}  // namespace belljar::server::tools
