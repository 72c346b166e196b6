#include "container/image/layer.h"

#include <optional>

#include "engine/core/digest.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

// Ours have some ten thousand; with the most packages ten times that. Each is held, and a
// stranger's could have as many as its file has blocks.
constexpr size_t kMostEntries = 1'000'000;

using Visitor = std::function<Result<void>(const TarEntry&, const std::string& content)>;

// All files and folders, in order of their paths.
Result<void> Walk(const ImageFiles& files, const ImageProgress& progress, const Visitor& visit) {
  const uint64_t total = files.files.size();
  uint64_t done = 0;
  auto folder = files.folders.begin();
  const auto visit_folders = [&](const std::string* before) -> Result<void> {
    for (; folder != files.folders.end() && (!before || *folder < *before); ++folder) {
      if (Result<void> visited = visit({.path = *folder, .is_folder = true}, ""); !visited) {
        return visited;
      }
    }
    return {};
  };
  for (const auto& [path, file] : files.files) {
    if (Result<void> visited = visit_folders(&path); !visited) return visited;
    Result<std::optional<std::string>> content = ReadContent(file);
    if (!content) return content.error();
    if (!*content) return MakeError("build an image", file.source + " changed meanwhile");
    const TarEntry entry{.path = path, .is_program = file.is_program, .size = (*content)->size()};
    if (Result<void> visited = visit(entry, **content); !visited) return visited;
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
  Sha256Stream digest;
  // No part of a line has a zero byte or a newline in it: paths have no control characters.
  for (const ListedEntry& each : listing) {
    digest.Add(each.entry.path + '\0' + std::to_string(each.entry.mode()) + '\0' +
               std::to_string(each.entry.size) + '\0' + each.digest + '\n');
  }
  return digest.Finish();
}

Result<Layer> WriteLayer(const ImageFiles& files, int fd, const ImageProgress& progress) {
  Layer layer;
  TarWriter writer(fd);
  Result<void> walked =
      Walk(files, progress, [&](const TarEntry& entry, const std::string& content) -> Result<void> {
        layer.listing.push_back({entry, entry.is_folder ? "" : Sha256(content)});
        if (Result<void> begun = writer.Begin(entry); !begun) return begun;
        return writer.Append(content);
      });
  if (!walked) return walked.error();
  Result<TarSummary> tar = writer.Finish();
  if (!tar) return tar.error();
  layer.tar = std::move(*tar);
  return layer;
}

Result<ImageListing> ListFiles(const ImageFiles& files, const ImageProgress& progress) {
  ImageListing listing;
  Result<void> walked =
      Walk(files, progress, [&](const TarEntry& entry, const std::string& content) -> Result<void> {
        listing.push_back({entry, entry.is_folder ? "" : Sha256(content)});
        return {};
      });
  if (!walked) return walked.error();
  return listing;
}

Result<Layer> ReadLayer(int fd, uint64_t offset, uint64_t size, const ImageProgress& progress,
                        const TarVisitor& also) {
  Layer layer;
  std::optional<Sha256Stream> digest;  // of the file that is being read
  const auto end_file = [&] {
    if (digest) layer.listing.back().digest = digest->Finish();
    digest.reset();
  };
  const TarVisitor visitor{.entry = [&](const TarEntry& entry, uint64_t at) -> Result<void> {
                             end_file();
                             if (layer.listing.size() == kMostEntries) {
                               return MakeError("read an image",
                                                "it has more files than one of ours");
                             }
                             layer.listing.push_back({entry, ""});
                             if (!entry.is_folder) digest.emplace();
                             if (progress) progress(at - offset, size);
                             return also.entry ? also.entry(entry, at) : Result<void>();
                           },
                           .bytes = [&](std::string_view bytes) -> Result<void> {
                             digest->Add(bytes);
                             return also.bytes ? also.bytes(bytes) : Result<void>();
                           }};
  Result<TarSummary> tar = ReadTar(fd, offset, size, visitor);
  if (!tar) return tar.error();
  end_file();
  layer.tar = std::move(*tar);
  return layer;
}

}  // namespace belljar
