#include "engine/installation/installation.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::installation {

namespace fs = std::filesystem;

namespace {

constexpr char kPython[] = "python" BELLJAR_PYTHON_MINOR;
constexpr char kProgram[] = "belljar-zygote";
constexpr char kModule[] = "belljar-zygote.so";
constexpr char kInEnvironment[] = "belljar/_installation";
// Next to the zygote of an image: the path of its interpreter.
constexpr char kInterpreterFile[] = "interpreter";
constexpr size_t kMaxInterpreterFile = 1 << 16;

struct Place {
  fs::path programs;
  fs::path share;
  fs::path environment = {};  // the site-packages folder that contains it
};

std::string ShellQuoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// In a build tree the set is a link, which ./dev fills.
std::string InstallCommand(const fs::path& packages, const std::string& set) {
  std::error_code code;
  if (fs::is_symlink(packages / set, code)) return "./dev setup " + set;
  const fs::path requirements = packages.parent_path() / "requirements" / (set + ".txt");
  return ShellQuoted(BELLJAR_PYTHON) +
         " -m pip install --require-hashes --only-binary :all: --target " +
         ShellQuoted(packages / set) + " -r " + ShellQuoted(requirements);
}

// For a program in `folder`.
std::vector<Place> PlacesOfProgram(const fs::path& folder) {
  const fs::path prefix = folder.parent_path();
  return {{folder, folder / "share/belljar"},
          {prefix, prefix / "share/belljar"},  // for tests, in a build tree
          {prefix / "libexec/belljar", prefix / "share/belljar"},
          {folder, prefix.parent_path() / "share/belljar"}};
}

Place PlaceInEnvironment(const fs::path& packages) {
  const fs::path root = packages / kInEnvironment;
  return {root / "libexec/belljar", root / "share/belljar", packages};
}

// For <prefix>/bin/belljar, as installed by pip: into an environment, a Debian or Fedora prefix, or
// with --target next to the packages themselves.
std::vector<Place> PlacesOfCommand(const fs::path& folder) {
  const fs::path prefix = folder.parent_path();
  return {PlaceInEnvironment(prefix / "lib" / kPython / "site-packages"),
          PlaceInEnvironment(prefix / "lib64" / kPython / "site-packages"),
          PlaceInEnvironment(prefix / "lib" / kPython / "dist-packages"),
          PlaceInEnvironment(prefix / "lib/python3/dist-packages"),  // of Debian's packages
          PlaceInEnvironment(prefix)};
}

bool IsElfProgram(const fs::path& path) {
  const core::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char magic[4];
  return file && read(file.get(), magic, sizeof magic) == ssize_t{sizeof magic} &&
         std::string_view(magic, sizeof magic) == "\177ELF" && access(path.c_str(), X_OK) == 0;
}

// The program that `path` resolves to; empty if it is a script (pyenv) or does not exist.
fs::path ProgramBehind(const fs::path& path) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  return code || !IsElfProgram(real) ? fs::path() : real;
}

fs::path InterpreterOnPath() {
  const char* path = getenv("PATH");
  for (const std::string_view folder : core::SplitAt(path ? path : "", ':')) {
    // A relative path depends on the working directory.
    if (!folder.starts_with('/')) continue;
    fs::path program = ProgramBehind(fs::path(folder) / kPython);
    if (!program.empty()) return program;
  }
  return {};
}

core::Error NoInterpreter(const std::string& detail) {
  return core::MakeError("find the interpreter of this installation", detail);
}

// The interpreter that loads the zygote of `place`: the given or recorded one, else that of the
// environment, else the first on PATH, as for `pip install --user`.
core::Result<std::string> InterpreterOf(const Place& place, const fs::path& command_folder,
                                        const std::string& given) {
  std::string named = given;
  if (named.empty()) {
    const core::Result<std::string> file =
        core::ReadFile(place.programs / kInterpreterFile, kMaxInterpreterFile);
    if (file) named = core::SplitAt(*file, '\n').front();
  }
  if (!named.empty()) {
    const fs::path program = ProgramBehind(named);
    if (program.empty()) return NoInterpreter(core::Quoted(named) + " is not a program");
    return program.string();
  }
  // <prefix>/lib/pythonX.Y/site-packages
  const fs::path prefix = place.environment.parent_path().parent_path().parent_path();
  for (const fs::path& folder : {command_folder, prefix / "bin"}) {
    const fs::path program = ProgramBehind(folder / kPython);
    if (!program.empty()) return program.string();
  }
  const fs::path program = InterpreterOnPath();
  if (!program.empty()) return program.string();
  return NoInterpreter("there is no " + std::string(kPython) + " in " + (prefix / "bin").string() +
                       " and none on PATH; recreate the environment with that Python");
}

std::optional<Installation> InstallationAt(const Place& place) {
  std::error_code code;
  if (!fs::exists(place.share, code)) return std::nullopt;
  fs::path zygote = place.programs / kProgram;
  if (!fs::exists(zygote, code) && fs::exists(place.programs / kModule, code)) {
    zygote = place.programs / kModule;
  }
  // The image of another language has only the launcher.
  const fs::path launcher = place.programs / "belljar-launcher";
  if (!fs::exists(zygote, code) && !fs::exists(launcher, code)) return std::nullopt;
  return Installation{.zygote = zygote,
                      .interpreter = "",
                      .policy = place.share / "policy",
                      .runner = place.share / "runner",
                      .hot_blocks = place.share / "hot_blocks",
                      .site_packages = place.share / "site-packages",
                      .packages = place.share / "packages",
                      .environment = place.environment,
                      .profiles = place.share / "profiles",
                      .languages = place.share / "languages",
                      .launcher = launcher,
                      .rules = place.share / "rules.json"};
}

std::string PinsFile(const Installation& installation, const std::string& set) {
  return fs::path(installation.packages).parent_path() / "requirements" / (set + ".pins");
}

ChosenPackages ChosenOf(const Installation& installation, const std::string& set) {
  const core::Result<std::vector<InstalledPackage>> pins = ReadPins(PinsFile(installation, set));
  return pins ? ChoosePackages(installation.environment, *pins) : ChosenPackages();
}

}  // namespace

core::Result<Installation> Installation::Find(const InstallationPlace& place) {
  fs::path folder = place.folder;
  std::vector<Place> places;
  if (folder.empty()) {
    std::error_code code;
    folder = fs::read_symlink("/proc/self/exe", code).parent_path();
    if (code) return core::SystemErrorOf(code.value(), "find the running program");
    places = PlacesOfProgram(folder);
    for (Place& each : PlacesOfCommand(folder)) places.push_back(std::move(each));
  } else {
    // In a build tree the package is staged two folders below.
    const fs::path tree = folder.parent_path().parent_path();
    places = {PlaceInEnvironment(folder.parent_path()), {tree, tree / "share/belljar"}};
  }
  for (const Place& each : places) {
    std::optional<Installation> found = InstallationAt(each);
    if (!found) continue;
    if (found->zygote.ends_with(kModule)) {
      core::Result<std::string> interpreter =
          InterpreterOf(each, place.folder.empty() ? folder : fs::path(), place.interpreter);
      if (!interpreter) return interpreter.error();
      found->interpreter = std::move(*interpreter);
    }
    return std::move(*found);
  }
  return core::MakeError("find the installation",
                         "no belljar-zygote and share/belljar near " + folder.string());
}

// <prefix>/bin/python3.11 and <prefix>/lib/python3.11/os.py: the landmark that getpath.py uses.
std::string Installation::StandardLibrary() const {
  std::error_code code;
  const fs::path prefix = fs::path(interpreter).parent_path().parent_path();
  for (const char* lib : {"lib", "lib64"}) {
    const fs::path folder = prefix / lib / kPython;
    if (!interpreter.empty() && fs::exists(folder / "os.py", code)) return folder;
  }
  return "";
}

PackageFolder Installation::FolderOfSet(const std::string& set) const {
  if (!environment.empty()) return ChosenOf(*this, set).folder;
  std::error_code code;
  const fs::path real = fs::canonical(fs::path(packages) / set, code);
  return code || !fs::is_directory(real, code) ? PackageFolder() : PackageFolder{real, {}};
}

std::vector<InstalledPackage> Installation::PackagesOfSet(const std::string& set) const {
  const PackageFolder folder = FolderOfSet(set);
  if (folder.path.empty()) return {};
  if (environment.empty()) return PackagesIn(folder.path);
  core::Result<std::vector<InstalledPackage>> pins = ReadPins(PinsFile(*this, set));
  return pins ? std::move(*pins) : std::vector<InstalledPackage>();
}

std::vector<MissingPackages> Installation::Missing(const core::Profile& profile) const {
  std::vector<MissingPackages> missing;
  for (const core::PackageSet& set : profile.packages) {
    if (environment.empty()) {
      if (!FolderOfSet(set.name).path.empty()) continue;
      missing.push_back({set.name, set.modules, InstallCommand(packages, set.name)});
      continue;
    }
    ChosenPackages chosen = ChosenOf(*this, set.name);
    if (!chosen.folder.path.empty()) continue;
    missing.push_back({set.name, set.modules, "pip install \"belljar-sandbox[" + set.name + "]\"",
                       std::move(chosen.differing)});
  }
  return missing;
}

std::string Installation::PackageVersion(std::string_view package) const {
  for (InstalledPackage& each : PackagesIn(site_packages)) {
    if (core::LowerCase(each.name) == package) return std::move(each.version);
  }
  return "";
}

}  // namespace belljar::installation
