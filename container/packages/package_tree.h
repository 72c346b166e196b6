// The tree of installed packages: as it comes from the installer, one compressed tar of one form
// (container/image/tar.h), and as it lies in the cache. Every byte of the former is hostile: it is
// counted while it is decompressed, read by the strict reader, and written below one folder by
// names that were judged, never through a link and never over anything.
#ifndef BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_
#define BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"

namespace belljar::container::packages {

// Modules of one set that are named to programs; packages with more than that keep the shallowest.
inline constexpr size_t kMaxModules = 512;

struct TreeBounds {
  core::Bytes size = core::Bytes::Mebi(256);  // of all files, and as much again for their names
  uint64_t entries = 50'000;                  // files and folders
};

struct TreeFacts {
  std::string sha256;  // of the tree as a tar: names, contents, what may be executed
  uint64_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> modules;  // what a program can import, "a" and "a.b"; sorted

  bool operator==(const TreeFacts&) const = default;
};

// Whether it is a dotted name that a program could write after `import`.
bool IsModuleName(std::string_view name);

// The modules among files of these paths: at the top, and one step below a package that is itself a
// module. Private ones, tests and what installs packages are no program's to import.
std::vector<std::string> ModulesOf(const std::vector<std::string>& paths);

// `compressed` (zlib, RFC 1950) into the folder, which is there and empty. An error without an
// errno says what is wrong with it; whatever has been written is the caller's to remove. EFBIG: it
// is larger than the bounds.
core::Result<TreeFacts> UnpackTree(std::string_view compressed, const std::string& folder,
                                   const TreeBounds& bounds);

// Of a tree that was unpacked, as it is now. An error without an errno: something lies there that
// no tree has, a link or a device.
core::Result<TreeFacts> ReadTree(const std::string& folder);

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_PACKAGE_TREE_H_
