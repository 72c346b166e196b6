// --load: the engines of this machine that take an image over their sockets.
#ifndef BELLJAR_CLI_IMAGE_LOADERS_H_
#define BELLJAR_CLI_IMAGE_LOADERS_H_

#include <vector>

#include "container/image/image_loader.h"

namespace belljar {

// Docker and Podman. Asks none of them before it is to load something.
std::vector<NamedImageLoader> UsualImageLoaders();

}  // namespace belljar

#endif  // BELLJAR_CLI_IMAGE_LOADERS_H_
