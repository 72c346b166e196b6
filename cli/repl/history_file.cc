#include "cli/repl/history_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/state_path.h"

namespace belljar::cli::repl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{4} << 20;
constexpr size_t kMaxEntry = size_t{64} << 10;
constexpr std::string_view kContinues = "...: ";

// Only what can be typed or pasted.
bool IsEntered(std::string_view line) {
  return std::ranges::all_of(core::SplitAt(line, '\t'),
                             [](std::string_view part) { return !core::HasControls(part); });
}

// Creates missing directories, accessible to this user only.
void MakeParents(const fs::path& path) {
  if (path.empty() || path == path.root_path()) return;
  std::error_code error;
  if (fs::exists(path, error)) return;
  MakeParents(path.parent_path());
  (void)mkdir(path.c_str(), 0700);
}

std::vector<std::string> LastEntries(const std::string& text) {
  std::vector<std::string> entries;
  for (std::string_view line : core::SplitAt(text, '\n')) {
    if (line.empty() || !IsEntered(line)) continue;
    if (!line.starts_with(kContinues)) {
      entries.emplace_back(line);
    } else if (!entries.empty()) {
      line.remove_prefix(kContinues.size());
      entries.back() += '\n';
      entries.back() += line;
    }
  }
  std::erase_if(entries, [](const std::string& entry) { return entry.size() > kMaxEntry; });
  if (entries.size() > kMaxHistoryEntries) {
    entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(kMaxHistoryEntries));
  }
  return entries;
}

}  // namespace

core::Result<HistoryFile> HistoryFile::Open(const std::string& path) {
  const std::string what = "open the history " + core::Quoted(path);
  MakeParents(fs::path(path).parent_path());
  HistoryFile file;
  file.fd_.Reset(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file.fd_) return core::SystemError(what);
  struct stat status;
  if (fstat(file.fd_.get(), &status) != 0) return core::SystemError(what);
  if (!S_ISREG(status.st_mode)) return core::MakeError(what, "it is not a regular file");
  // Even for an existing file: what is typed may be secret.
  if ((status.st_mode & 077) != 0) (void)fchmod(file.fd_.get(), 0600);
  std::string text;
  if (static_cast<size_t>(status.st_size) <= kMaxBytes) {
    core::Result<std::string> read = core::ReadAll(file.fd_.get(), kMaxBytes);
    if (!read) return core::SystemErrorOf(read.error().error_number, what);
    text = std::move(*read);
  } else {
    // Probably in the middle of a line, which is dropped.
    text.resize(kMaxBytes / 2);
    const ssize_t count = pread(file.fd_.get(), text.data(), text.size(),
                                status.st_size - static_cast<off_t>(text.size()));
    if (count < 0) return core::SystemError(what);
    text.resize(static_cast<size_t>(count));
    text.erase(0, text.find('\n'));
  }
  file.entries_ = LastEntries(text);
  if (static_cast<size_t>(status.st_size) > kMaxBytes && ftruncate(file.fd_.get(), 0) == 0) {
    for (const std::string& entry : file.entries_) file.Append(entry);
  }
  return file;
}

void HistoryFile::Append(std::string_view entry) {
  if (entry.empty() || entry.size() > kMaxEntry) return;
  std::string text;
  for (const std::string_view line : core::SplitAt(entry, '\n')) {
    if (!IsEntered(line)) return;
    if (!text.empty()) text += kContinues;
    text += line;
    text += '\n';
  }
  // At once: other prompts append to the same file.
  (void)core::WriteBytes(fd_.get(), text);
}

std::string DefaultHistoryPath(const std::string& language) {
  return host::StatePath("history" + (language.empty() ? "" : "-" + language));
}

}  // namespace belljar::cli::repl
