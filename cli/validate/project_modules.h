// ProjectModules: what the files of one `belljar validate` are to each other as modules, so that an
// import of one by another is no finding. Only names and places are used; no file is read.
//
// A folder with an `__init__.py` is a package, and so are folders right below it. The first folder
// above is where the package is imported from, as if it were on sys.path. Files with the same such
// folder see each other's outermost names before modules of the profile, as in Python; those of
// other folders only if no module has the name, so that no file elsewhere hides a finding about the
// library.
#ifndef BELLJAR_CLI_VALIDATE_PROJECT_MODULES_H_
#define BELLJAR_CLI_VALIDATE_PROJECT_MODULES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/validate/files.h"
#include "engine/host/request.h"

namespace belljar::cli::validate {

class ProjectModules {
 public:
  explicit ProjectModules(const std::vector<Target>& targets);

  // The modules that a check of the target is given, without text: of the request's form.
  std::vector<host::InputFile> FilesFor(const Target& target) const;

 private:
  struct Place {
    std::string root;  // the folder from which it is imported
    std::string path;  // of the file, from there
  };
  static bool HasModule(const Target& target);
  Place PlaceOf(const std::string& path) const;

  std::map<std::string, std::set<std::string>> modules_;  // root -> "name.py", "name/__init__.py"
  std::set<std::string> elsewhere_;                       // outermost names of all roots
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_PROJECT_MODULES_H_
