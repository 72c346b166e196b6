// An image that is made when it is first needed: of the installer, and of each set of packages.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_

#include <string>

#include "container/engines/container_engine.h"
#include "container/image/image_files.h"
#include "container/packages/file_lock.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// By what an image is known again.
struct ImageMark {
  std::string reference;
  std::string inputs;  // as its label kInputsLabel has it
};

// Until `engine` has the image that `request` makes here and now, of just these files: it is made
// and loaded where the engine has none of that name, or one of other files. `folder` is where the
// archive lies meanwhile.
core::Result<ImageMark> EnsureImage(engines::ContainerEngine& engine,
                                    const image::ImageRequest& request, const std::string& folder,
                                    const LockWait& wait);

// Whether it still has it; reads no file.
core::Result<bool> HasImage(engines::ContainerEngine& engine, const ImageMark& mark);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_
