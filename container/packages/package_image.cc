#include "container/packages/package_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "container/image/archive.h"
#include "container/image/documents.h"
#include "container/image/layer.h"
#include "engine/core/version.h"

namespace belljar {
namespace {

constexpr auto kNobodyLooks = [](uint64_t, uint64_t) {};

// A file of its own, gone with its owner.
class ScratchFile {
 public:
  static Result<ScratchFile> Create(const std::string& folder) {
    std::string path = folder + "/.image-XXXXXX";
    const UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
    if (!fd) return SystemError("make a file in " + folder);
    return ScratchFile(std::move(path));
  }
  ScratchFile(ScratchFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace

Result<bool> HasImage(ContainerEngine& engine, const ImageMark& mark) {
  const Result<std::optional<EngineImage>> image = engine.FindImage(mark.reference);
  if (!image) return image.error();
  if (!*image) return false;
  const auto label = (*image)->labels.find(kInputsLabel);
  return label != (*image)->labels.end() && label->second == mark.inputs;
}

Result<ImageMark> EnsureImage(ContainerEngine& engine, const ImageRequest& request,
                              const std::string& folder, const LockWait& wait) {
  const Result<ImageFiles> files = CollectImageFiles(request);
  if (!files) return files.error();
  const Result<ImageListing> listing = ListFiles(*files, kNobodyLooks);
  if (!listing) return listing.error();
  const ImageIdentity identity{.version = kBelljarVersion,
                               .profile = request.profile.name,
                               .python = kPythonVersion,
                               .inputs = ListingDigest(*listing),
                               .architecture = files->architecture};
  ImageMark mark{.reference = ImageReference(identity),
                 .inputs = ImageLabels(identity).at(kInputsLabel)};
  Result<bool> has = HasImage(engine, mark);
  if (!has) return has.error();
  if (*has) return mark;

  const Result<UniqueFd> lock = LockFile(folder + "/" + request.profile.name + ".lock", wait);
  if (!lock) return lock.error();
  has = HasImage(engine, mark);  // of whoever was waited for
  if (!has) return has.error();
  if (*has) return mark;
  const Result<ScratchFile> archive = ScratchFile::Create(folder);
  if (!archive) return archive.error();
  const Result<ImageFacts> facts = WriteImage(*files, identity, archive->path(), kNobodyLooks);
  if (!facts) return facts.error();
  const UniqueFd tar(open(archive->path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!tar) return SystemError("open " + archive->path());
  const Result<std::string> loaded = engine.LoadImage(tar.get(), {});
  if (!loaded) return loaded.error();
  return mark;
}

}  // namespace belljar
