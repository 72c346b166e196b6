// /etc/ld.so.cache: the dynamic linker's index from library names to files.
#ifndef BELLJAR_CONTAINER_IMAGE_LOADER_CACHE_H_
#define BELLJAR_CONTAINER_IMAGE_LOADER_CACHE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::container::image {

class LoaderCache {
 public:
  // An empty cache: each name is searched for in the default folders.
  LoaderCache() = default;

  // Reads the format of glibc 2.2 and later, alone or after the older one. An error: it has another
  // format, or is damaged.
  static core::Result<LoaderCache> Parse(std::string_view bytes);

  // In the linker's order; may be of several kinds (also 32-bit). Builds for newer processors
  // (glibc-hwcaps) are left out: an image must also run on others.
  const std::vector<std::string>& Find(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> paths_;
};

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LOADER_CACHE_H_
