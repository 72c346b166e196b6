// Where a finished image goes: the store of an engine of this machine.
#ifndef BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_
#define BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_

#include <functional>
#include <string>

#include "container/image/layer.h"
#include "engine/core/result.h"

namespace belljar::container::image {

// Gives the archive at `path` to one engine. An error names what to do: the engine is not running,
// its socket is not ours to use.
using ImageLoader =
    std::function<core::Result<void>(const std::string& path, const ImageProgress& progress)>;

struct NamedImageLoader {
  std::string engine;  // as --load has it: "docker"
  ImageLoader load;
};

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_IMAGE_LOADER_H_
