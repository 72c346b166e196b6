// An image that is built when it is first needed: of the installer, and of each set of packages.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_

#include <string>

#include "container/engines/container_engine.h"
#include "container/image/image_files.h"
#include "container/packages/file_lock.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// Identifies an image.
struct ImageMark {
  std::string reference;
  std::string inputs;  // as in its label kInputsLabel
};

// Makes sure that `engine` has the image that `request` would produce from the current files: it is
// built and loaded if the engine has none of that name, or one of other files. `folder` holds the
// archive temporarily.
core::Result<ImageMark> EnsureImage(engines::ContainerEngine& engine,
                                    const image::ImageRequest& request, const std::string& folder,
                                    const LockWait& wait);

// Whether the engine still has it; reads no files.
core::Result<bool> HasImage(engines::ContainerEngine& engine, const ImageMark& mark);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_IMAGE_H_
