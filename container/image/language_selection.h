// Selects which files of this machine go into the image of a language besides Python: of the trees
// that its file names, what its programs can be expected to use. A machine has gigabytes there.
#ifndef BELLJAR_CONTAINER_IMAGE_LANGUAGE_SELECTION_H_
#define BELLJAR_CONTAINER_IMAGE_LANGUAGE_SELECTION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "container/image/library_search.h"
#include "engine/core/profile.h"

namespace belljar::container::image {

class LanguageSelection {
 public:
  // `language` is borrowed; its commands are absolute paths (profiles::Installed).
  LanguageSelection(const core::Profile& language, LibrarySearch search);

  // Whether the tree of a path rule has a place in an image at all.
  static bool WantsTree(const std::string& folder);
  // As the functions of selection.h, for the tree `folder`.
  bool Wants(const std::string& folder, const std::string& path);
  // Whether a link that leads there, a real path, stays within what the language shows.
  bool IsShown(const std::string& path) const;

  // Whether it is in a folder of shared libraries, where an image has only what is needed.
  static bool IsLibrary(const std::string& path);
  // What compiled programs are linked with; empty: the language has no compiler.
  std::vector<std::string> LibrariesOfPrograms() const;

  // Commands that scripts name in /bin, which is a link to usr/bin elsewhere.
  static const std::vector<std::string>& CommandsOfBin();

 private:
  bool WantsProgram(const std::string& path);
  bool WantsOfLibraries(const std::string& path) const;
  const std::set<std::string>& LibrariesOf(const std::string& path);

  const core::Profile& language_;
  const LibrarySearch search_;
  std::vector<std::string> names_;  // of the language and its programs
  std::vector<std::string> roots_;  // real paths
  bool calls_only_ = false;         // its programs may call others, but it needs none itself
  std::map<std::string, std::set<std::string>> libraries_;
};

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_LANGUAGE_SELECTION_H_
