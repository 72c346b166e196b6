#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "container/image/archive.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/digest.h"

namespace belljar::container::image {
namespace {

// For a document; the layer is larger and is not kept in memory.
constexpr uint64_t kMaxDocument = uint64_t{1} << 20;
// Ours has eight, two of them folders; each may be kept in memory.
constexpr size_t kMaxArchiveEntries = 64;
constexpr size_t kNamedDifferences = 10;

struct FoundFile {
  uint64_t at = 0;
  uint64_t size = 0;
  std::string digest;
  std::string text;  // content of a small file
};

// One pass over an archive, checked from the index down to the layer's files.
class Inspector {
 public:
  Inspector(int fd, uint64_t size, const ImageProgress& progress, const TarVisitor& unpack)
      : fd_(fd), size_(size), progress_(progress), unpack_(unpack) {}

  // In this order, since each fault makes the following checks meaningless.
  core::Result<ImageInspection> Inspect() {
    for (const auto step :
         {&Inspector::ReadEntries, &Inspector::CheckNames, &Inspector::ReadDocuments,
          &Inspector::CheckBlobs, &Inspector::CheckLists, &Inspector::CheckLayer}) {
      if (core::Result<void> done = (this->*step)(); !done) {
        if (done.error().error_number != 0) return done.error();
        inspection_.faults.push_back(done.error().ToString());
      }
      if (!inspection_.faults.empty()) break;
    }
    return std::move(inspection_);
  }

 private:
  static core::Error Fault(const std::string& what) {
    return core::MakeError("read an image", what);
  }

  core::Result<void> ReadEntries() {
    std::optional<host::Sha256Stream> digest;
    FoundFile* file = nullptr;
    const auto end_file = [&] {
      if (digest) file->digest = digest->Finish();
      digest.reset();
    };
    const TarVisitor visitor{
        .entry = [&](const TarEntry& entry, uint64_t at) -> core::Result<void> {
          end_file();
          if (progress_) progress_(at / 2, size_);
          if (files_.size() + folders_.size() == kMaxArchiveEntries) {
            return Fault("it has more files than an image built by Belljar");
          }
          if (entry.is_folder) {
            folders_.insert(entry.path);
            return {};
          }
          file = &files_[entry.path];
          *file = {at, entry.size, "", ""};
          digest.emplace();
          return {};
        },
        .bytes = [&](std::string_view bytes) -> core::Result<void> {
          digest->Add(bytes);
          if (file->size <= kMaxDocument) file->text += bytes;
          return {};
        }};
    const core::Result<TarSummary> read = ReadTar(fd_, 0, size_, visitor);
    end_file();
    return read ? core::Result<void>() : read.error();
  }

  // Only what our archives contain, so that nothing else is loaded along with it.
  core::Result<void> CheckNames() {
    for (const char* name : {kIndexName, kLayoutName, kDockerName}) {
      if (!files_.contains(name)) return Fault("there is no " + std::string(name));
    }
    const std::string beginning = std::string(kBlobFolder) + "/";
    for (const auto& [path, file] : files_) {
      const bool is_blob = path.starts_with(beginning);
      if (is_blob && path.substr(beginning.size()) != file.digest) {
        return Fault("the content of " + core::Quoted(path) +
                     " has another digest: sha256:" + file.digest);
      }
      if (!is_blob && path != kIndexName && path != kLayoutName && path != kDockerName) {
        return Fault("nothing like " + core::Quoted(path) + " belongs in one");
      }
    }
    for (const std::string& folder : folders_) {
      if (folder != "blobs" && folder != kBlobFolder) {
        return Fault("nothing like " + core::Quoted(folder) + " belongs in one");
      }
    }
    return {};
  }

  // The file with that digest and size; the size in a descriptor may differ from that of the file.
  core::Result<const FoundFile*> Find(const Blob& blob, const std::string& what) {
    const auto found = files_.find(BlobPath(blob));
    if (found == files_.end()) return Fault("its " + what + " is missing: " + BlobPath(blob));
    if (found->second.size != blob.size) {
      return Fault("its " + what + " has " + std::to_string(found->second.size) +
                   " bytes and not " + std::to_string(blob.size));
    }
    return &found->second;
  }

  core::Result<void> ReadDocuments() {
    ImageFacts& facts = inspection_.facts;
    core::Result<Blob> manifest = ParseIndex(files_[kIndexName].text);
    if (!manifest) return manifest.error();
    facts.manifest = *manifest;
    core::Result<const FoundFile*> manifest_file = Find(facts.manifest, "manifest");
    if (!manifest_file) return manifest_file.error();
    core::Result<ParsedManifest> parsed = ParseManifest((*manifest_file)->text);
    if (!parsed) return parsed.error();
    facts.config = parsed->config;
    facts.layer = parsed->layer;
    core::Result<const FoundFile*> config_file = Find(facts.config, "configuration");
    if (!config_file) return config_file.error();
    core::Result<ParsedConfig> config = ParseConfig((*config_file)->text);
    if (!config) return config.error();
    facts.identity = config->identity;
    facts.reference = ImageReference(facts.identity);
    if (config->layer != facts.layer.digest) {
      return Fault("its configuration and its manifest name different layers");
    }
    const core::Result<const FoundFile*> layer = Find(facts.layer, "layer");
    return layer ? core::Result<void>() : layer.error();
  }

  core::Result<void> CheckBlobs() {
    const ImageFacts& facts = inspection_.facts;
    const std::set<std::string> known = {BlobPath(facts.manifest), BlobPath(facts.config),
                                         BlobPath(facts.layer)};
    for (const auto& [path, file] : files_) {
      if (path.starts_with(kBlobFolder) && !known.contains(path)) {
        return Fault(core::Quoted(path) + " is not part of its image");
      }
    }
    return {};
  }

  // The other documents for engines follow from the manifest, byte for byte.
  core::Result<void> CheckLists() {
    const ImageFacts& facts = inspection_.facts;
    const std::map<std::string, std::string> right = {
        {kIndexName, IndexDocument(facts.identity, facts.manifest)},
        {kLayoutName, LayoutDocument()},
        {kDockerName, DockerDocument(facts.identity, facts.config, facts.layer)},
        {BlobPath(facts.manifest), ManifestDocument(facts.config, facts.layer)},
        {BlobPath(facts.config), ConfigDocument(facts.identity, facts.layer)}};
    for (const auto& [path, text] : right) {
      if (files_[path].text == text) continue;
      const char* what = path == BlobPath(facts.config)     ? "its configuration"
                         : path == BlobPath(facts.manifest) ? "its manifest"
                                                            : path.c_str();
      return Fault(std::string(what) + " differs from what this version of Belljar writes");
    }
    return {};
  }

  core::Result<void> CheckLayer() {
    ImageFacts& facts = inspection_.facts;
    const FoundFile& file = files_[BlobPath(facts.layer)];
    const auto progress = [&](uint64_t done, uint64_t) {
      if (progress_) progress_((size_ + done) / 2, size_);
    };
    core::Result<Layer> layer = ReadLayer(fd_, file.at, file.size, progress, unpack_);
    if (!layer) return layer.error();
    if (layer->tar.digest != facts.layer.digest) return Fault("it changed while it was read");
    facts.listing = std::move(layer->listing);
    if (ListingDigest(facts.listing) != facts.identity.inputs) {
      return Fault("its files do not match those for which its label " + std::string(kInputsLabel) +
                   " was made for");
    }
    return {};
  }

  int fd_;
  uint64_t size_;
  const ImageProgress& progress_;
  const TarVisitor& unpack_;
  std::map<std::string, FoundFile> files_;
  std::set<std::string> folders_;
  ImageInspection inspection_;
};

void CompareNames(const std::string& what, const std::string& image, const std::string& here,
                  std::vector<std::string>& differences) {
  if (image == here) return;
  differences.push_back("it is of " + what + " " + core::Printable(image) + ", and here is " +
                        here);
}

void CompareListings(const ImageListing& image, const ImageListing& here,
                     std::vector<std::string>& differences) {
  std::map<std::string, const ListedEntry*> expected;
  for (const ListedEntry& each : here) expected[each.entry.path] = &each;
  std::vector<std::string> found;
  for (const ListedEntry& each : image) {
    const auto same = expected.find(each.entry.path);
    if (same == expected.end()) {
      found.push_back("/" + each.entry.path + " is not in this installation");
      continue;
    }
    if (!(*same->second == each)) found.push_back("/" + each.entry.path + " is another");
    expected.erase(same);
  }
  for (const auto& [path, entry] : expected) found.push_back("/" + path + " is missing");
  const size_t named = std::min(found.size(), kNamedDifferences);
  differences.insert(differences.end(), found.begin(), found.begin() + static_cast<long>(named));
  if (found.size() > named) {
    differences.push_back("and " + std::to_string(found.size() - named) + " more files");
  }
}

core::Result<ImageInspection> Inspect(int file, const std::string& operation,
                                      const ImageProgress& progress, const TarVisitor& unpack) {
  struct stat status;
  if (fstat(file, &status) != 0) return core::SystemError(operation);
  if (!S_ISREG(status.st_mode)) return core::SystemErrorOf(EINVAL, operation, "no file");
  return Inspector(file, static_cast<uint64_t>(status.st_size), progress, unpack).Inspect();
}

}  // namespace

core::Result<ImageInspection> InspectImage(const std::string& path, const ImageProgress& progress) {
  core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return core::SystemError("open " + core::Quoted(path));
  return Inspect(fd.get(), "open " + core::Quoted(path), progress, {});
}

core::Result<ImageInspection> InspectImage(int file, const ImageProgress& progress,
                                           const TarVisitor& unpack) {
  return Inspect(file, "read the image", progress, unpack);
}

std::vector<std::string> CompareImage(const ImageFacts& image, const ImageIdentity& identity,
                                      const ImageListing& here) {
  std::vector<std::string> differences;
  CompareNames("Belljar", image.identity.version, identity.version, differences);
  CompareNames("Python", image.identity.python, identity.python, differences);
  CompareNames("profile", image.identity.profile, identity.profile, differences);
  CompareNames("architecture", image.identity.architecture, identity.architecture, differences);
  CompareListings(image.listing, here, differences);
  return differences;
}

}  // namespace belljar::container::image
