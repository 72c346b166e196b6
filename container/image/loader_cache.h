// /etc/ld.so.cache: which file the dynamic linker takes for the name of a library.
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
  // An empty one: each name is searched for in the usual folders.
  LoaderCache() = default;

  // The format of glibc 2.2 and later, alone or behind the older one. An error: it is another, or
  // damaged.
  static core::Result<LoaderCache> Parse(std::string_view bytes);

  // The linker's order; of several kinds (32-bit too) where there are. Builds for newer processors
  // (glibc-hwcaps) are not among them: an image is to run on others too.
  const std::vector<std::string>& Find(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> paths_;
};

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LOADER_CACHE_H_
