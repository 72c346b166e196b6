// The shared libraries that programs and extension modules need, found as ld.so finds them
// (ld.so(8)): DT_RPATH, DT_RUNPATH, its cache, the usual folders. LD_LIBRARY_PATH is no part of an
// installation.
#ifndef BELLJAR_CONTAINER_IMAGE_LIBRARY_SEARCH_H_
#define BELLJAR_CONTAINER_IMAGE_LIBRARY_SEARCH_H_

#include <map>
#include <string>
#include <vector>

#include "container/image/elf_file.h"
#include "container/image/loader_cache.h"
#include "engine/core/result.h"

namespace belljar::container::image {

class LibrarySearch {
 public:
  LibrarySearch(LoaderCache cache, std::vector<std::string> folders)
      : cache_(std::move(cache)), folders_(std::move(folders)) {}

  static core::Result<LibrarySearch> OfThisMachine();

  // The file that `object`, which is at `path`, gets for `name`; empty: none. `inherited` are the
  // folders of DT_RPATH of what loaded it.
  std::string Find(const std::string& name, const ElfFile& object, const std::string& path,
                   const std::vector<std::string>& inherited) const;

 private:
  LoaderCache cache_;
  std::vector<std::string> folders_;
};

// Folders of DT_RPATH or DT_RUNPATH of the file at `path`, with its own in place of $ORIGIN.
std::vector<std::string> ExpandFolders(const std::vector<std::string>& folders,
                                       const std::string& path);

struct MissingLibrary {
  std::string name;
  std::string needed_by;  // path
};

struct LinkedLibraries {
  std::map<std::string, std::string> paths;  // name that is asked for -> file
  std::vector<MissingLibrary> missing;
};

// What `objects` (paths; whatever is no ELF file is passed over) need, and what that needs, but for
// files that `objects` has itself. `strangers` are real paths of folders: objects in one get what
// is in that folder, and this machine's libraries by name, but nothing that they name by a path.
core::Result<LinkedLibraries> FindLinkedLibraries(const std::vector<std::string>& objects,
                                                  const LibrarySearch& search,
                                                  const std::vector<std::string>& strangers = {});

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LIBRARY_SEARCH_H_
