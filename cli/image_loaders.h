// --load: destinations for an image on this machine: container engines over their sockets, and the
// folder used with runsc alone.
#ifndef BELLJAR_CLI_IMAGE_LOADERS_H_
#define BELLJAR_CLI_IMAGE_LOADERS_H_

#include <vector>

#include "container/image/image_loader.h"

namespace belljar::cli {

// Docker, Podman and runsc. Connects to an engine only when it loads an image.
std::vector<container::image::NamedImageLoader> DefaultImageLoaders();

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_IMAGE_LOADERS_H_
