#include "engine/workspace/media_type.h"

#include <algorithm>
#include <string>

#include "engine/core/text.h"

namespace belljar::workspace {
namespace {

struct Known {
  std::string_view extension;
  const char* media_type;
};

// As registered with IANA, otherwise as in freedesktop.org's shared-mime-info. Sorted by extension.
constexpr Known kKnown[] = {
    {"7z", "application/x-7z-compressed"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/x-c"},
    {"cfg", "text/plain"},
    {"conf", "text/plain"},
    {"cpp", "text/x-c++"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"db", "application/vnd.sqlite3"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"eml", "message/rfc822"},
    {"epub", "application/epub+zip"},
    {"feather", "application/vnd.apache.arrow.file"},
    {"flac", "audio/flac"},
    {"geojson", "application/geo+json"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"ics", "text/calendar"},
    {"ini", "text/plain"},
    {"ipynb", "application/x-ipynb+json"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"log", "text/plain"},
    {"md", "text/markdown"},
    {"mid", "audio/midi"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"npy", "application/x-npy"},
    {"npz", "application/x-npz"},
    {"ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"ogg", "audio/ogg"},
    {"parquet", "application/vnd.apache.parquet"},
    {"pdf", "application/pdf"},
    {"pkl", "application/octet-stream"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"rst", "text/x-rst"},
    {"rtf", "application/rtf"},
    {"sh", "application/x-sh"},
    {"sql", "application/sql"},
    {"sqlite", "application/vnd.sqlite3"},
    {"sqlite3", "application/vnd.sqlite3"},
    {"srt", "application/x-subrip"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tex", "text/x-tex"},
    {"tgz", "application/gzip"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"toml", "application/toml"},
    {"tsv", "text/tab-separated-values"},
    {"txt", "text/plain"},
    {"wav", "audio/vnd.wave"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xls", "application/vnd.ms-excel"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"xz", "application/x-xz"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
};
static_assert(std::ranges::is_sorted(kKnown, {}, &Known::extension));

// Longer than any known extension.
constexpr size_t kMaxExtension = 16;

}  // namespace

const char* MediaTypeOfName(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const size_t dot = name.rfind('.');
  // ".bashrc" has no extension.
  if (dot == name.npos || dot == 0 || name.size() - dot > kMaxExtension) return nullptr;
  const std::string extension = core::LowerCase(name.substr(dot + 1));
  const auto* found =
      std::ranges::lower_bound(kKnown, std::string_view(extension), {}, &Known::extension);
  if (found == std::end(kKnown) || found->extension != extension) return nullptr;
  return found->media_type;
}

const char* MediaTypeOf(std::string_view path, std::string_view content) {
  if (const char* known = MediaTypeOfName(path)) return known;
  const bool is_text = content.find('\0') == content.npos && core::IsUtf8(content);
  return is_text ? "text/plain" : "application/octet-stream";
}

}  // namespace belljar::workspace
