// The tree of installed packages: as received from the installer, a compressed tar in one canonical
// form (container/image/tar.h), and as stored in the cache. Every byte of the former is hostile: it
// is counted during decompression, parsed by the strict reader, and written below one folder under
// checked names, never through a link and never over an existing file.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// Modules of one set that are listed for programs; of larger packages only the shallowest are kept.
inline constexpr size_t kMaxModules = 512;

struct TreeBounds {
  core::Bytes size = core::Bytes::Mebi(256);  // of all files, and as much again for their names
  uint64_t entries = 50'000;                  // files and folders
};

struct TreeFacts {
  std::string sha256;  // of the tree as a tar: names, contents, executable bits
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> modules;  // importable by a program, "a" and "a.b"; sorted

  bool operator==(const TreeFacts&) const = default;
};

// Whether it is a dotted name that can follow `import`.
bool IsModuleName(std::string_view name);

// The modules among files of these paths: top-level ones, and those directly below a package.
// Private modules, tests and installers are left out.
std::vector<std::string> ModulesOf(const std::vector<std::string>& paths);

// Unpacks `compressed` (zlib, RFC 1950) into the folder, which exists and is empty. An error
// without an errno says what is wrong with the data; the caller removes what has been written.
// EFBIG: it exceeds the bounds.
core::Result<TreeFacts> UnpackTree(std::string_view compressed, const std::string& folder,
                                   const TreeBounds& bounds);

// The facts of an unpacked tree in its current state. An error without an errno: it contains
// something that no tree has, such as a link or a device.
core::Result<TreeFacts> ReadTree(const std::string& folder);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_
