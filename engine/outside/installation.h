// Where the parts of this installation are: beside the program in a build tree, below its prefix,
// or in an environment of Python's, as pip installs it.
//
//   <build>/      belljar, belljar-zygote, belljar-guest, share/belljar/
//   <prefix>/     bin/belljar, libexec/belljar/belljar-{zygote,guest}, share/belljar/
//   <env>/        bin/belljar, and below lib/pythonX.Y/site-packages/:
//     belljar/_installation/   libexec/belljar/belljar-{zygote.so,preload.so,guest}, share/belljar/
//     numpy/, …                packages of the environment, among them those that profiles name
//
// In an environment the zygote is its own interpreter (inside/preload.cc).
#ifndef BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_
#define BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/outside/package_folder.h"

namespace belljar::outside {

// A set of packages that a profile names and that is not installed, or not as it was reviewed.
struct MissingPackages {
  std::string set;
  std::vector<std::string> modules;  // what cannot be imported without it
  std::string command;               // installs it, as typed into a shell
  // What is there instead: "numpy 2.0.0, where 2.4.6 is needed".
  std::vector<std::string> differing = {};
};

// Whom to ask for an installation that is not beside the running program.
struct InstallationPlace {
  std::string folder;       // the package `belljar` in an environment; empty: the running program's
  std::string interpreter;  // of that environment, not a virtual one's link; empty: looked for
};

struct Installation {
  std::string zygote;         // the program, or what is loaded into `interpreter`
  std::string interpreter;    // the program that becomes the zygote; empty: `zygote` itself
  std::string policy;         // folder of the package belljar_policy
  std::string runner;         // folder of the module belljar_runner
  std::string site_packages;  // third-party packages that the policy needs
  std::string packages;       // folder of the sets of packages that profiles name
  std::string environment;    // in place of that: the folder that holds them among others
  std::string profiles;       // folder of *.toml
  std::string rules;          // the policy's rules.json

  static core::Result<Installation> Find(const InstallationPlace& place = {});

  // Of `interpreter`, as it finds that itself; empty where there is none.
  std::string StandardLibrary() const;

  // A set of packages; without a path where it is not installed.
  PackageFolder FolderOfSet(const std::string& set) const;

  // What is in it; in no order.
  std::vector<InstalledPackage> PackagesOfSet(const std::string& set) const;

  // What `profile` names and is not there: it starts without.
  std::vector<MissingPackages> Missing(const core::Profile& profile) const;

  // Of one of site_packages, by its name in lower case; empty where it is not found.
  std::string PackageVersion(std::string_view package) const;
};

// `given`, or that of the running program.
inline core::Result<Installation> GivenOrFound(const std::optional<Installation>& given) {
  return given ? core::Result<Installation>(*given) : Installation::Find();
}

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_
