// Where the parts of this installation are: beside the program in a build tree, or below its
// prefix.
#ifndef BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_
#define BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar {

// A set of packages that a profile names and that is not installed.
struct MissingPackages {
  std::string set;
  std::vector<std::string> modules;  // what cannot be imported without it
  std::string command;               // installs it, as typed into a shell
};

struct InstalledPackage {
  std::string name;  // as its own metadata has it: "scikit-learn"
  std::string version;
};

// What is installed into such a folder as site-packages; in no order. From the names of folders of
// metadata: the host runs no Python to ask.
std::vector<InstalledPackage> PackagesIn(const std::string& folder);

// Whom to ask for an installation that is not beside the running program.
struct InstallationPlace {
  std::string folder;  // with the zygote and share/belljar in it; empty: looked for
};

struct Installation {
  std::string zygote;         // the program
  std::string policy;         // folder of the package belljar_policy
  std::string runner;         // folder of the module belljar_runner
  std::string site_packages;  // third-party packages that the policy and the profiles need
  std::string packages;       // folder of the sets of packages that profiles name
  std::string profiles;       // folder of *.toml
  std::string rules;          // the policy's rules.json

  // Looks from the running program: <dir>/belljar-zygote with <dir>/share/belljar (build tree),
  // the folder above it (test programs), or <prefix>/libexec/belljar and <prefix>/share/belljar,
  // for a program in <prefix>/bin or beside the zygote.
  static Result<Installation> Find(const InstallationPlace& place = {});

  // The real path of a set of packages; empty where it is not installed.
  std::string PackageSetPath(const std::string& set) const;

  // What `profile` names and is not there: it starts without.
  std::vector<MissingPackages> Missing(const Profile& profile) const;

  // Of one of site_packages, by its name in lower case; empty where it is not found.
  std::string PackageVersion(std::string_view package) const;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_OUTSIDE_INSTALLATION_H_
