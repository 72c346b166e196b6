#include "container/image/layer.h"

#include <optional>

#include "engine/core/text.h"
#include "engine/host/digest.h"

namespace belljar::container::image {
namespace {

// Ours have some ten thousand; with all packages ten times that. Each is kept in memory, and an
// untrusted archive could have as many as its file has blocks.
constexpr size_t kMaxLayerEntries = 1'000'000;

using Visitor = std::function<core::Result<void>(const TarEntry&, const std::string& content)>;

// All files and folders, sorted by path.
core::Result<void> Walk(const ImageFiles& files, const ImageProgress& progress,
                        const Visitor& visit) {
  const uint64_t total = files.files.size();
  uint64_t done = 0;
  auto folder = files.folders.begin();
  const auto visit_folders = [&](const std::string* before) -> core::Result<void> {
    for (; folder != files.folders.end() && (!before || *folder < *before); ++folder) {
      if (core::Result<void> visited = visit({.path = *folder, .is_folder = true}, ""); !visited) {
        return visited;
      }
    }
    return {};
  };
  for (const auto& [path, file] : files.files) {
    if (core::Result<void> visited = visit_folders(&path); !visited) return visited;
    core::Result<std::optional<std::string>> content = ReadContent(file);
    if (!content) return content.error();
    if (!*content)
      return core::MakeError("build an image", file.source + " changed while it was read");
    const TarEntry entry{.path = path, .is_program = file.is_program, .size = (*content)->size()};
    if (core::Result<void> visited = visit(entry, **content); !visited) return visited;
    if (progress) progress(++done, total);
  }
  return visit_folders(nullptr);
}

}  // namespace

bool ListedEntry::operator==(const ListedEntry& other) const {
  return entry.path == other.entry.path && entry.mode() == other.entry.mode() &&
         entry.is_folder == other.entry.is_folder && entry.size == other.entry.size &&
         digest == other.digest;
}

std::string ListingDigest(const ImageListing& listing) {
  host::Sha256Stream digest;
  // No field contains a zero byte or a newline: paths have no control characters.
  for (const ListedEntry& each : listing) {
    digest.Add(each.entry.path + '\0' + std::to_string(each.entry.mode()) + '\0' +
               std::to_string(each.entry.size) + '\0' + each.digest + '\n');
  }
  return digest.Finish();
}

core::Result<Layer> WriteLayer(const ImageFiles& files, int fd, const ImageProgress& progress) {
  Layer layer;
  TarWriter writer(fd);
  core::Result<void> walked =
      Walk(files, progress,
           [&](const TarEntry& entry, const std::string& content) -> core::Result<void> {
             layer.listing.push_back({entry, entry.is_folder ? "" : host::Sha256(content)});
             if (core::Result<void> begun = writer.Begin(entry); !begun) return begun;
             return writer.Append(content);
           });
  if (!walked) return walked.error();
  core::Result<TarSummary> tar = writer.Finish();
  if (!tar) return tar.error();
  layer.tar = std::move(*tar);
  return layer;
}

core::Result<ImageListing> ListFiles(const ImageFiles& files, const ImageProgress& progress) {
  ImageListing listing;
  core::Result<void> walked =
      Walk(files, progress,
           [&](const TarEntry& entry, const std::string& content) -> core::Result<void> {
             listing.push_back({entry, entry.is_folder ? "" : host::Sha256(content)});
             return {};
           });
  if (!walked) return walked.error();
  return listing;
}

core::Result<Layer> ReadLayer(int fd, uint64_t offset, uint64_t size, const ImageProgress& progress,
                              const TarVisitor& also) {
  Layer layer;
  std::optional<host::Sha256Stream> digest;  // of the current file
  const auto end_file = [&] {
    if (digest) layer.listing.back().digest = digest->Finish();
    digest.reset();
  };
  const TarVisitor visitor{.entry = [&](const TarEntry& entry, uint64_t at) -> core::Result<void> {
                             end_file();
                             if (layer.listing.size() == kMaxLayerEntries) {
                               return core::MakeError(
                                   "read an image",
                                   "it has more files than an image built by Belljar");
                             }
                             layer.listing.push_back({entry, ""});
                             if (!entry.is_folder) digest.emplace();
                             if (progress) progress(at - offset, size);
                             return also.entry ? also.entry(entry, at) : core::Result<void>();
                           },
                           .bytes = [&](std::string_view bytes) -> core::Result<void> {
                             digest->Add(bytes);
                             return also.bytes ? also.bytes(bytes) : core::Result<void>();
                           }};
  core::Result<TarSummary> tar = ReadTar(fd, offset, size, visitor);
  if (!tar) return tar.error();
  end_file();
  layer.tar = std::move(*tar);
  return layer;
}

}  // namespace belljar::container::image
