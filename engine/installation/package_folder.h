// Reads what is installed in folders like Python's site-packages from package metadata, without
// running Python on the host.
#ifndef BELLJAR_ENGINE_INSTALLATION_PACKAGE_FOLDER_H_
#define BELLJAR_ENGINE_INSTALLATION_PACKAGE_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::installation {

struct InstalledPackage {
  std::string name;  // as in its metadata: "scikit-learn"
  std::string version;
};

// What a zygote may import from a folder, and its guests may read.
struct PackageFolder {
  std::string path;                  // resolved; empty: none
  std::vector<std::string> entries;  // below it; empty: all of it
};

// Runs of '-', '_' and '.' become one '-', in lower case: an index treats such names as equal
// (PyPA, "Names and normalization").
std::string NormalizedPackageName(std::string_view name);

// The packages installed in such a folder, unordered.
std::vector<InstalledPackage> PackagesIn(const std::string& folder);

// Selected packages in a folder with others.
struct ChosenPackages {
  PackageFolder folder;  // the path is empty unless all are installed in their versions
  std::vector<std::string> differing;  // "numpy 2.0.0, where 2.4.6 is needed"
};

// One "name version" per line, as the build generates from requirements/SET.txt.
core::Result<std::vector<InstalledPackage>> ReadPins(const std::string& file);

// Finds `pins` in `folder`. Their files are known from each installer's RECORD: whole packages, and
// only their own files in a folder that several distributions share (a namespace package).
ChosenPackages ChoosePackages(const std::string& folder, const std::vector<InstalledPackage>& pins);

}  // namespace belljar::installation

#endif  // BELLJAR_ENGINE_INSTALLATION_PACKAGE_FOLDER_H_
