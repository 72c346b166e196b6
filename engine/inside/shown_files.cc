#include "engine/inside/shown_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

// As for Python (display.py), and the most that is looked at.
constexpr size_t kMaxFiles = 20;
constexpr off_t kMaxSize = off_t{4} << 20;
constexpr size_t kMaxName = 60;
constexpr size_t kMaxSeen = 10'000;

struct Kind {
  std::string_view extension;
  const char* media_type;
  std::string_view begins_with;
  bool is_figure;
};
constexpr Kind kKinds[] = {
    {".png", "image/png", "\x89PNG\r\n\x1a\n", true},
    {".svg", "image/svg+xml", "<", true},
    {".csv", "text/csv", "", false},
    {".html", "text/html", "", false},
};

const Kind* KindOf(const std::string& name) {
  const auto* const kind = std::ranges::find_if(
      kKinds, [&](const Kind& each) { return name.ends_with(each.extension); });
  return kind == std::end(kKinds) ? nullptr : kind;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    if (names.size() == kMaxSeen) break;
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> ReadShown(const std::string& path, const Kind& kind) {
  const core::UniqueFd file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size > kMaxSize) return std::nullopt;
  std::string content(static_cast<size_t>(status.st_size), '\0');
  if (pread(file.get(), content.data(), content.size(), 0) != status.st_size) return std::nullopt;
  if (!content.starts_with(kind.begins_with)) return std::nullopt;
  return content;
}

bool IsPlainName(const std::string& name) {
  const auto is_plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  return name.size() <= kMaxName && !name.starts_with('.') && std::ranges::all_of(name, is_plain);
}

}  // namespace

void TakeShownFiles(const std::string& folder, core::ProgramReport& report) {
  if (folder.empty()) return;
  size_t figures = 0;
  for (const std::string& name : NamesIn(folder)) {
    const std::string path = std::string(folder).append("/").append(name);
    const Kind* const kind = KindOf(name);
    const bool fits = kind != nullptr && IsPlainName(name) && report.shown.size() < kMaxFiles;
    const std::optional<std::string> content = fits ? ReadShown(path, *kind) : std::nullopt;
    core::ShownFile file{.name = name};
    if (content && WriteArtifact(*content, &file.offset)) {
      file.size = content->size();
      file.media_type = kind->media_type;
      if (kind->is_figure) {
        file.name = "figure-" + std::to_string(++figures) + std::string(kind->extension);
      }
      report.shown.push_back(std::move(file));
    } else {
      ++report.shown_left_out;
    }
    (void)unlink(path.c_str());
  }
}

}  // namespace belljar::inside
