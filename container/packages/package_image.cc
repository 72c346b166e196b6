#include "container/packages/package_image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "container/image/archive.h"
#include "container/image/documents.h"
#include "container/image/layer.h"
#include "engine/host/version.h"

namespace belljar::container::packages {
namespace {

constexpr auto kNoProgress = [](uint64_t, uint64_t) {};

// A temporary file, removed with its owner.
class ScratchFile {
 public:
  static core::Result<ScratchFile> Create(const std::string& folder) {
    std::string path = folder + "/.image-XXXXXX";
    const core::UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
    if (!fd) return core::SystemError("make a file in " + folder);
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

core::Result<bool> HasImage(engines::ContainerEngine& engine, const ImageMark& mark) {
  const core::Result<std::optional<engines::EngineImage>> image = engine.FindImage(mark.reference);
  if (!image) return image.error();
  if (!*image) return false;
  const auto label = (*image)->labels.find(image::kInputsLabel);
  return label != (*image)->labels.end() && label->second == mark.inputs;
}

core::Result<ImageMark> EnsureImage(engines::ContainerEngine& engine,
                                    const image::ImageRequest& request, const std::string& folder,
                                    const LockWait& wait) {
  const core::Result<image::ImageFiles> files = image::CollectImageFiles(request);
  if (!files) return files.error();
  const core::Result<image::ImageListing> listing = image::ListFiles(*files, kNoProgress);
  if (!listing) return listing.error();
  const image::ImageIdentity identity{.version = host::kBelljarVersion,
                                      .profile = request.profile.name,
                                      .python = host::kPythonVersion,
                                      .inputs = image::ListingDigest(*listing),
                                      .architecture = files->architecture};
  ImageMark mark{.reference = image::ImageReference(identity),
                 .inputs = image::ImageLabels(identity).at(image::kInputsLabel)};
  core::Result<bool> has = HasImage(engine, mark);
  if (!has) return has.error();
  if (*has) return mark;

  const core::Result<core::UniqueFd> lock =
      LockFile(folder + "/" + request.profile.name + ".lock", wait);
  if (!lock) return lock.error();
  has = HasImage(engine, mark);  // made by the previous lock holder
  if (!has) return has.error();
  if (*has) return mark;
  const core::Result<ScratchFile> archive = ScratchFile::Create(folder);
  if (!archive) return archive.error();
  const core::Result<image::ImageFacts> facts =
      image::WriteImage(*files, identity, archive->path(), kNoProgress);
  if (!facts) return facts.error();
  const core::UniqueFd tar(open(archive->path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!tar) return core::SystemError("open " + archive->path());
  const core::Result<std::string> loaded = engine.LoadImage(tar.get(), {});
  if (!loaded) return loaded.error();
  return mark;
}

}  // namespace belljar::container::packages
