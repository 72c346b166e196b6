// The languages besides Python: languages/*.toml, and what this machine has of them.
//
//   Result<LanguageCatalogue> languages = LanguageCatalogue::Open(installation);
//   Result<optional<core::Profile>> bash = languages->Find("sh");
//   Result<core::Profile> installed = Installed(**bash);  an error names the missing package
//   options.profile = std::move(*installed);              runs programs of the language
#ifndef BELLJAR_ENGINE_PROFILES_LANGUAGES_H_
#define BELLJAR_ENGINE_PROFILES_LANGUAGES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/installation/installation.h"

namespace belljar::profiles {

inline constexpr char kPython[] = "python";
// The language of programs with this profile: "python", or its own name. A server's profile of a
// language with a network has another name.
inline std::string LanguageOf(const core::Profile& profile) {
  return profile.program ? profile.tiers.back() : kPython;
}

class LanguageCatalogue {
 public:
  static core::Result<LanguageCatalogue> Open(const installation::Installation& installation);

  const std::vector<core::Profile>& languages() const { return languages_; }
  // "python" first.
  std::vector<std::string> Names() const;

  // By a name or an alias, or from a file of the operator's own, whose path contains a slash or
  // ends in ".toml". nullopt: Python, by any of its names. An error is the user's, and names the
  // nearest.
  core::Result<std::optional<core::Profile>> Find(const std::string& name) const;

  // Likewise, as Installed: an error is also that it is not installed.
  core::Result<std::optional<core::Profile>> FindInstalled(const std::string& name) const;

  // An error, the caller's, names those languages that have sessions if this one has none.
  core::Result<void> NeedSessions(const core::Profile& language) const;

  // By the extension of a file, or else by the interpreter in its first line (#!); null: Python, or
  // unknown.
  const core::Profile* OfFile(std::string_view path, std::string_view source) const;

 private:
  LanguageCatalogue(const installation::Installation& installation,
                    std::vector<core::Profile> languages)
      : folder_(installation.languages),
        profiles_(installation.profiles),
        languages_(std::move(languages)) {}

  std::string folder_;
  std::string profiles_;
  std::vector<core::Profile> languages_;
};

// What a name stands for: the path of a folder, which contains a slash, for the files of languages
// in it, sorted; others for themselves. An error: the folder cannot be read, or has no such file.
core::Result<std::vector<std::string>> LanguageFiles(const std::string& name);

// In an image, beside a language's own file and named after it: a JSON object with the path of each
// of its programs, by name. On a machine, links lead to them; an image has none.
inline constexpr char kProgramPaths[] = ".programs.json";
std::string ProgramPathsText(const core::Profile& language, const core::Profile& installed);

// The language with its commands as absolute paths, and with the paths that "{program}" and
// "{home}" stand for: the files of all programs that the commands name, and the folders that those
// are installed in (the JDK of …/jdk/bin/java), unless it is one of the system's. An error names
// the package that installs it. `known_paths`: a file kProgramPaths, which need not exist.
core::Result<core::Profile> Installed(const core::Profile& language,
                                      const std::string& known_paths = {});

// A language whose programs may use the network of a profile: its egress proxy, of which they learn
// by their environment, its system calls and the certificates that it shows.
core::Profile WithNetwork(core::Profile language, const core::Profile& network);

// The name of a program's source in the workspace: that of the given file, if it is plain and has
// an extension of the language (Java wants it), or the language's own.
std::string SourceFileName(std::string_view given, const core::ProgramRule& program);

}  // namespace belljar::profiles

#endif  // BELLJAR_ENGINE_PROFILES_LANGUAGES_H_
