// Folders as Python's site-packages: what is installed into them, from their metadata. The host
// runs no Python to ask.
#ifndef BELLJAR_ENGINE_OUTSIDE_PACKAGE_FOLDER_H_
#define BELLJAR_ENGINE_OUTSIDE_PACKAGE_FOLDER_H_

#include <string>
#include <vector>

#include "engine/core/result.h"

namespace belljar::outside {

struct InstalledPackage {
  std::string name;  // as its own metadata has it: "scikit-learn"
  std::string version;
};

// What a zygote may import of a folder, and its guests read.
struct PackageFolder {
  std::string path;                  // real; empty: there is none
  std::vector<std::string> entries;  // below it; none: all of it
};

// What is installed into such a folder; in no order.
std::vector<InstalledPackage> PackagesIn(const std::string& folder);

// Some packages among others in a folder.
struct ChosenPackages {
  PackageFolder folder;                // without a path unless each is there in its version
  std::vector<std::string> differing;  // "numpy 2.0.0, where 2.4.6 is needed"
};

// One "name version" a line, as the build writes them of requirements/SET.txt.
core::Result<std::vector<InstalledPackage>> ReadPins(const std::string& file);

// `pins` in `folder`. What is theirs there is told by what the installer recorded of each (RECORD):
// packages whole, and of a folder that several share (a namespace package) only what is theirs.
ChosenPackages ChoosePackages(const std::string& folder, const std::vector<InstalledPackage>& pins);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PACKAGE_FOLDER_H_
