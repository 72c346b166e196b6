#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "container/image/archive.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::container::image {

namespace fs = std::filesystem;

namespace {

constexpr size_t kCopyPiece = size_t{1} << 20;

// A temporary file next to `path` that replaces it when complete, or is removed.
class Scratch {
 public:
  static core::Result<Scratch> Create(const std::string& path) {
    std::string name = path + "." + core::Hex(host::RandomBytes());
    // Not mkostemp: applying its mode would require the umask, which can only be read by setting
    // it, for all threads of a server.
    core::UniqueFd fd(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd) return core::SystemError("create a file next to " + core::Quoted(path));
    return Scratch(std::move(fd), std::move(name));
  }
  Scratch(Scratch&& other) noexcept
      : fd_(std::move(other.fd_)), name_(std::exchange(other.name_, "")) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    if (!name_.empty()) unlink(name_.c_str());
  }

  int fd() const { return fd_.get(); }

  core::Result<void> MoveTo(const std::string& path) {
    if (rename(name_.c_str(), path.c_str()) != 0)
      return core::SystemError("write " + core::Quoted(path));
    name_.clear();
    return {};
  }

 private:
  Scratch(core::UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  core::UniqueFd fd_;
  std::string name_;
};

core::Result<void> CopyInto(TarWriter& writer, int from) {
  std::string piece(kCopyPiece, '\0');
  for (off_t at = 0;;) {
    const ssize_t got = pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::SystemError("read the layer of an image");
    if (got == 0) return {};
    at += got;
    if (core::Result<void> done = writer.Append({piece.data(), static_cast<size_t>(got)}); !done) {
      return done;
    }
  }
}

core::Result<void> WriteArchive(const std::map<std::string, std::string>& documents,
                                const Blob& layer, int layer_fd, int fd) {
  TarWriter writer(fd);
  // The layer is too large to keep in memory like the documents; null stands for it.
  std::map<std::string, const std::string*> entries = {{BlobPath(layer), nullptr}};
  for (const auto& [path, text] : documents) entries[path] = &text;
  for (std::string folder : {"blobs", kBlobFolder}) {
    if (core::Result<void> done = writer.Begin({.path = folder, .is_folder = true}); !done)
      return done;
  }
  for (const auto& [path, text] : entries) {
    const uint64_t size = text ? text->size() : layer.size;
    if (core::Result<void> done = writer.Begin({.path = path, .size = size}); !done) return done;
    core::Result<void> done = text ? writer.Append(*text) : CopyInto(writer, layer_fd);
    if (!done) return done;
  }
  const core::Result<TarSummary> end = writer.Finish();
  return end ? core::Result<void>() : end.error();
}

// The tar writer does not know the path.
core::Error AtPath(core::Error error, const std::string& path) {
  if (error.error_number == 0) return error;
  error.operation += ", for " + core::Quoted(path);
  if (error.error_number == ENOSPC || error.error_number == EDQUOT) {
    error.detail = "writing it takes twice its size there";
  }
  return error;
}

}  // namespace

std::map<ImagePart, uint64_t> BytesByPart(const ImageListing& listing) {
  std::map<ImagePart, uint64_t> bytes;
  for (const ListedEntry& each : listing) {
    if (!each.entry.is_folder) bytes[PartOf(each.entry.path)] += each.entry.size;
  }
  return bytes;
}

core::Result<ImageFacts> WriteImage(const ImageFiles& files, ImageIdentity identity,
                                    const std::string& path, const ImageProgress& progress) {
  std::error_code code;
  if (fs::exists(path, code) && !fs::is_regular_file(path, code)) {
    return core::MakeError("write " + core::Quoted(path), "it exists and is not a file");
  }
  // The layer's digest precedes it in the archive.
  core::Result<Scratch> layer_file = Scratch::Create(path);
  if (!layer_file) return layer_file.error();
  core::Result<Layer> layer = WriteLayer(files, layer_file->fd(), progress);
  if (!layer) return AtPath(layer.error(), path);

  ImageFacts facts;
  identity.inputs = ListingDigest(layer->listing);
  facts.identity = std::move(identity);
  facts.reference = ImageReference(facts.identity);
  facts.layer = {layer->tar.digest, layer->tar.size};
  facts.listing = std::move(layer->listing);
  const std::string config = ConfigDocument(facts.identity, facts.layer);
  facts.config = BlobOf(config);
  const std::string manifest = ManifestDocument(facts.config, facts.layer);
  facts.manifest = BlobOf(manifest);

  core::Result<Scratch> archive = Scratch::Create(path);
  if (!archive) return archive.error();
  core::Result<void> written =
      WriteArchive({{BlobPath(facts.config), config},
                    {BlobPath(facts.manifest), manifest},
                    {kIndexName, IndexDocument(facts.identity, facts.manifest)},
                    {kLayoutName, LayoutDocument()},
                    {kDockerName, DockerDocument(facts.identity, facts.config, facts.layer)}},
                   facts.layer, layer_file->fd(), archive->fd());
  if (written) written = archive->MoveTo(path);
  if (!written) return AtPath(written.error(), path);
  return facts;
}

}  // namespace belljar::container::image
