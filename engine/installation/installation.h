// Locates the parts of this installation: next to the program in a build tree, below its prefix, or
// in a Python environment as installed by pip.
//
//   <build>/      belljar, belljar-zygote, belljar-guest, share/belljar/
//   <prefix>/     bin/belljar, libexec/belljar/belljar-{zygote,guest}, share/belljar/
//   <env>/        bin/belljar, and below lib/pythonX.Y/site-packages/:
//     belljar/_installation/   libexec/belljar/belljar-{zygote.so,preload.so,guest}, share/belljar/
//     numpy/, …                packages of the environment, including those that profiles name
//
// In an environment its own interpreter becomes the zygote (inside/preload.cc).
#ifndef BELLJAR_ENGINE_INSTALLATION_INSTALLATION_H_
#define BELLJAR_ENGINE_INSTALLATION_INSTALLATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/package_folder.h"

namespace belljar::installation {

// A set of packages that a profile names and that is not installed, or not in the reviewed
// versions.
struct MissingPackages {
  std::string set;
  std::vector<std::string> modules;  // cannot be imported without it
  std::string command;               // shell command that installs it
  // Installed versions that differ: "numpy 2.0.0, where 2.4.6 is needed".
  std::vector<std::string> differing = {};
};

// Where to look for an installation that is not next to the running program.
struct InstallationPlace {
  std::string
      folder;  // the package `belljar` in an environment; empty: that of the running program
  std::string
      interpreter;  // of that environment, not a virtual environment's link; empty: search for it
};

struct Installation {
  std::string zygote;         // the program, or the library loaded into `interpreter`
  std::string interpreter;    // the program that becomes the zygote; empty: `zygote` itself
  std::string policy;         // folder of the package belljar_policy
  std::string runner;         // folder of the module belljar_runner
  std::string hot_blocks;     // folder, see inside/hot_blocks.h; may not exist
  std::string site_packages;  // third-party packages that the policy needs
  std::string packages;       // folder of the package sets that profiles name
  // alternatively: the site-packages folder that contains them among others
  std::string environment;
  std::string profiles;   // folder of *.toml
  std::string languages;  // folder of *.toml
  std::string launcher;   // the program that is to other languages what the zygote is to Python
  std::string rules;      // rules.json of the policy

  static core::Result<Installation> Find(const InstallationPlace& place = {});

  // The standard library of `interpreter`, as the interpreter itself finds it; empty if there is
  // none.
  std::string StandardLibrary() const;

  // A set of packages; the path is empty if it is not installed.
  PackageFolder FolderOfSet(const std::string& set) const;

  // Its packages, unordered.
  std::vector<InstalledPackage> PackagesOfSet(const std::string& set) const;

  // Sets named by `profile` that are not installed; the profile starts without them.
  std::vector<MissingPackages> Missing(const core::Profile& profile) const;

  // The version of a package in site_packages, by its lower-case name; empty if not found.
  std::string PackageVersion(std::string_view package) const;
};

// `given`, or the running program's installation.
inline core::Result<Installation> GivenOrFound(const std::optional<Installation>& given) {
  return given ? core::Result<Installation>(*given) : Installation::Find();
}

}  // namespace belljar::installation

#endif  // BELLJAR_ENGINE_INSTALLATION_INSTALLATION_H_
