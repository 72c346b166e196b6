#include "engine/inside/shown_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

namespace fs = std::filesystem;

// As for Python (display.py), and the most that is looked at.
constexpr size_t kMaxFiles = 20;
constexpr off_t kMaxSize = off_t{4} << 20;
constexpr size_t kMaxNote = 220;
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
  const std::string extension = fs::path(name).extension().string();
  const auto* const kind = std::ranges::find(kKinds, extension, &Kind::extension);
  return kind == std::end(kKinds) ? nullptr : kind;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
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

ShownFiles TakeShownFiles(const std::string& folder, const FileNotes& notes) {
  ShownFiles shown;
  if (folder.empty()) return shown;
  size_t figures = 0;
  for (const std::string& name : NamesIn(folder)) {
    const std::string path = (fs::path(folder) / name).string();
    const Kind* const kind = KindOf(name);
    const bool fits = kind != nullptr && IsPlainName(name) && shown.files.size() < kMaxFiles;
    const std::optional<std::string> content = fits ? ReadShown(path, *kind) : std::nullopt;
    ShownFile file{.name = name, .media_type = kind ? kind->media_type : "", .note = {}};
    if (content && WriteArtifact(*content, &file.offset)) {
      file.size = content->size();
      if (const auto note = notes.find(name); note != notes.end()) {
        file.note = core::ValidUtf8(note->second.substr(0, kMaxNote));
      }
      if (kind->is_figure) {
        file.name = "figure-" + std::to_string(++figures) + std::string(kind->extension);
      }
      shown.files.push_back(std::move(file));
    } else {
      ++shown.left_out;
    }
    (void)unlink(path.c_str());
  }
  return shown;
}

void AddShownFiles(const ShownFiles& shown, nlohmann::json& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const ShownFile& file : shown.files) {
    list.push_back({{"name", file.name},
                    {"media_type", file.media_type},
                    {"offset", file.offset},
                    {"size", file.size},
                    {"note", file.note.empty() ? nlohmann::json() : nlohmann::json(file.note)}});
  }
  report["artifacts"] = std::move(list);
  report["artifacts_left_out"] = shown.left_out;
}

}  // namespace belljar::inside
