// Loads a finished image into an engine of this machine.
#ifndef BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_
#define BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_

#include <functional>
#include <string>

#include "container/image/layer.h"
#include "engine/core/result.h"

namespace belljar::container::image {

// Loads the archive at `path` into one engine. An error says what to do: the engine is not running,
// its socket is not accessible.
using ImageLoader =
    std::function<core::Result<void>(const std::string& path, const ImageProgress& progress)>;

struct NamedImageLoader {
  std::string engine;  // as in --load: "docker"
  ImageLoader load;
};

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_
