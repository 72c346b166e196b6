// The shared libraries that programs and extension modules need, found as ld.so does (ld.so(8)):
// DT_RPATH, DT_RUNPATH, its cache, the default folders. LD_LIBRARY_PATH is not part of an
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

  // The file that `object` at `path` gets for `name`; empty: none. `inherited` are the DT_RPATH
  // folders of what loaded it.
  std::string Find(const std::string& name, const ElfFile& object, const std::string& path,
                   const std::vector<std::string>& inherited) const;

 private:
  LoaderCache cache_;
  std::vector<std::string> folders_;
};

// The folders of DT_RPATH or DT_RUNPATH of the file at `path`, with $ORIGIN replaced.
std::vector<std::string> ExpandFolders(const std::vector<std::string>& folders,
                                       const std::string& path);

struct MissingLibrary {
  std::string name;
  std::string needed_by;  // path
};

struct LinkedLibraries {
  std::map<std::string, std::string> paths;  // requested name -> file
  std::vector<MissingLibrary> missing;
};

// The libraries that `objects` (paths; files that are not ELF are skipped) need, recursively,
// except files that are among `objects`. `untrusted` are real paths of untrusted folders: objects
// in one get files in that folder, and this machine's libraries by name, but nothing that they name
// by path.
core::Result<LinkedLibraries> FindLinkedLibraries(const std::vector<std::string>& objects,
                                                  const LibrarySearch& search,
                                                  const std::vector<std::string>& untrusted = {});

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LIBRARY_SEARCH_H_
