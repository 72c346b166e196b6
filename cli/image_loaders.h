// --load: what takes an image on this machine: engines over their sockets, and the folder of runsc
// alone.
#ifndef BELLJAR_CLI_IMAGE_LOADERS_H_
#define BELLJAR_CLI_IMAGE_LOADERS_H_

#include <vector>

#include "container/image/image_loader.h"

namespace belljar::cli {

// Docker, Podman and runsc. Asks none of them before it is to load something.
std::vector<container::image::NamedImageLoader> DefaultImageLoaders();

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_IMAGE_LOADERS_H_
