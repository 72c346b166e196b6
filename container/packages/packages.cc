#include "container/packages/packages.h"

#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "container/backend/container_sandbox.h"
#include "engine/core/package_places.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/profiles/loader.h"

namespace belljar::container::packages {
namespace {

// Time for other callers to wait for an installation and its image.
constexpr std::chrono::minutes kLockMargin{2};

// Bounded, since callers choose how many sets there are.
constexpr size_t kMaxReady = 64;

std::string Machine() {
  utsname name;
  return uname(&name) == 0 ? name.machine : "";
}

// This machine's python3, as programs find it, if it is of another version than the embedded one,
// as far as the names of its links tell: "python3.13". Packages with native code are for one of
// them.
std::string OtherPython() {
  const std::string version = host::kPythonVersion;
  const std::string own = "python" + version.substr(0, version.rfind('.'));
  for (const char* path : {"/usr/local/bin/python3", "/usr/bin/python3"}) {
    std::error_code code;
    const std::string name = std::filesystem::canonical(path, code).filename();
    if (code) continue;
    return name == own || name.find('.') == name.npos ? "" : name;
  }
  return "";
}

}  // namespace

core::Result<std::unique_ptr<Packages>> Packages::Open(PackagesOptions options) {
  core::Result<installation::Installation> installation =
      installation::GivenOrFound(options.installation);
  if (!installation) return installation.error();
  std::optional<PackageIndex> index;
  std::optional<PackageIndex> registry;
  if (!options.source.index.empty() || options.source.npm_registry.empty()) {
    core::Result<PackageIndex> parsed = PackageIndex::Parse(options.source);
    if (!parsed) return parsed.error();
    index = std::move(*parsed);
  }
  if (!options.source.npm_registry.empty()) {
    core::Result<PackageIndex> parsed = PackageIndex::ParseRegistry(options.source);
    if (!parsed) return parsed.error();
    registry = std::move(*parsed);
  }
  if (options.folder.empty()) options.folder = PackageCache::DefaultFolder();
  if (options.folder.empty()) {
    return core::MakeError("keep packages",
                           "HOME is not set: name a folder, or set XDG_CACHE_HOME");
  }
  core::Result<PackageCache> cache = PackageCache::Open(options.folder);
  if (!cache) return cache.error();
  if (options.selection) options.selection->image.clear();
  return std::unique_ptr<Packages>(new Packages(std::move(options), std::move(*installation),
                                                std::move(index), std::move(registry),
                                                std::move(*cache)));
}

core::Result<const PackageIndex*> Packages::IndexOf(bool is_npm) const {
  const std::optional<PackageIndex>& index = is_npm ? registry_ : index_;
  if (index) return &*index;
  return core::MakeError("install packages",
                         is_npm ? "no registry of npm's packages is set, and there is no default"
                                : "no index of Python's packages is set, and there is no default");
}

LockWait Packages::MakeLockWait(int cancel_fd) const {
  return {.deadline = core::Clock::now() + options_.bounds.timeout + kLockMargin,
          .cancel_fd = cancel_fd};
}

core::Result<CachedPackages> Packages::Install(const std::vector<PackageRequirement>& requirements,
                                               int cancel_fd) {
  const bool is_npm = requirements.front().is_npm();
  const auto is_other = [&](const PackageRequirement& each) { return each.is_npm() != is_npm; };
  if (std::ranges::any_of(requirements, is_other)) {
    return core::MakeError("install packages", "Python's and npm's are not one set");
  }
  const core::Result<const PackageIndex*> index = IndexOf(is_npm);
  if (!index) return index.error();
  PackageQuestion question{.requirements = {},
                           .runtime = is_npm ? "" : host::kPythonVersion,
                           .architecture = Machine(),
                           .index = (*index)->shown()};
  for (const PackageRequirement& each : requirements)
    question.requirements.push_back(each.ToString());
  return cache_.Get(question, MakeLockWait(cancel_fd), [&](const std::string& site) {
    return RunInstaller(question, site, cancel_fd);
  });
}

core::Result<std::unique_ptr<outside::Sandbox>> Packages::OpenInstaller(const PackageIndex& index,
                                                                        bool is_npm,
                                                                        int cancel_fd) {
  core::Result<outside::SandboxOptions> sandbox =
      InstallerOptions(installation_, index, options_.bounds, is_npm);
  if (!sandbox) return sandbox.error();
  if (!options_.selection) {
    sandbox->installation = installation_;
    sandbox->hides_children = true;
    return outside::Sandbox::Open(std::move(*sandbox));
  }
  // In a container only the container is required; the layers actually in force are in the outcome.
  sandbox->isolation = outside::IsolationMode::kStandard;
  const core::Result<backend::EngineChoice> choice = backend::ChooseEngine(*options_.selection);
  if (!choice) return choice.error();
  image::ImageRequest image{.installation = installation_,
                            .profile = sandbox->profile,
                            .profile_file = InstallerProfileFile(installation_),
                            .guest = image::GuestProgramPath(installation_),
                            .package_paths = {}};
  const core::Result<ImageMark> ensured =
      EnsureImage(*choice->engine, image, cache_.folder(), MakeLockWait(cancel_fd));
  if (!ensured) return ensured.error();
  backend::ContainerOptions options;
  options.selection = *options_.selection;
  options.selection.engine = choice->name;
  options.spares = 0;
  options.max_containers = 1;
  return backend::OpenContainerSandbox(std::move(*sandbox), std::move(options));
}

core::Result<PackageSets> Packages::InstallForPrograms(
    const std::vector<PackageRequirement>& requirements, int cancel_fd) {
  PackageSets sets;
  for (const bool is_npm : {false, true}) {
    std::vector<PackageRequirement> own;
    std::ranges::copy_if(requirements, std::back_inserter(own),
                         [&](const PackageRequirement& each) { return each.is_npm() == is_npm; });
    if (own.empty()) continue;
    if (const std::string other = is_npm ? "" : OtherPython(); !other.empty()) {
      return core::MakeError("install packages",
                             "they would be for Python " + std::string(host::kPythonVersion) +
                                 ", and this machine's python3 is " + other + "; use a container");
    }
    core::Result<CachedPackages> packages = Install(own, cancel_fd);
    if (!packages) return packages.error();
    if (core::Result<void> checked = CheckOnce(*packages); !checked) return checked.error();
    sets.push_back(std::move(*packages));
  }
  return sets;
}

core::Result<void> Packages::CheckOnce(const CachedPackages& packages) {
  {
    const std::lock_guard lock(mutex_);
    if (checked_.contains(packages.site)) return {};
  }
  if (core::Result<void> checked = CheckTree(packages); !checked) return checked;
  const std::lock_guard lock(mutex_);
  if (checked_.size() >= kMaxReady) checked_.clear();
  checked_.insert(packages.site);
  return {};
}

core::Result<PackageLock> Packages::RunInstaller(const PackageQuestion& question,
                                                 const std::string& site, int cancel_fd) {
  const core::Result<const PackageIndex*> index = IndexOf(question.is_npm());
  if (!index) return index.error();
  const core::Result<std::unique_ptr<outside::Sandbox>> opened =
      OpenInstaller(**index, question.is_npm(), cancel_fd);
  if (!opened) return opened.error();
  const Installer installer(installation_, **index, options_.bounds,
                            [&](const host::Request& request, const run::RunOptions& run) {
                              return (*opened)->Run(request, run);
                            });
  return installer.Install(question, site, cancel_fd);
}

// The profile of packages extends the base by name: that name must stand for the same profile in
// this installation.
core::Result<void> Packages::CheckBase(const core::Profile& base) const {
  const std::vector<std::string_view> names = core::SplitAt(base.name, '+');
  const std::vector<std::string> parts(names.begin(), names.end());
  const bool is_name = base.name.find('/') == base.name.npos;
  const std::string file = installation_.profiles + "/" + base.name + ".toml";
  const core::Result<core::Profile> known =
      !is_name           ? core::Result<core::Profile>(core::MakeError("", ""))
      : parts.size() > 1 ? profiles::CombineProfiles(parts, installation_.profiles)
                         : profiles::LoadProfile(file, installation_.profiles);
  if (known && known->document == base.document) return {};
  return core::MakeError("install packages for profile " + core::Quoted(base.name),
                         "it is an operator's own file, and packages require a profile of this "
                         "installation");
}

core::Result<PackageProfile> Packages::MakeProfile(const core::Profile& base,
                                                   const CachedPackages& packages) {
  if (packages.lock.question.is_npm()) {
    return core::MakeError("make an image", "packages in images are Python's, and not npm's");
  }
  if (core::Result<void> checked = CheckTree(packages); !checked) return checked.error();
  return MakePackageProfile(base, packages.lock, cache_.folder(), installation_.profiles);
}

core::Result<PreparedPackages> Packages::Prepare(
    const core::Profile& base, const std::vector<PackageRequirement>& requirements, int cancel_fd) {
  if (core::Result<void> checked = CheckBase(base); !checked) return checked.error();
  if (core::Result<void> checked = CheckPlace(base, requirements, true); !checked)
    return checked.error();
  core::Result<CachedPackages> packages = Install(requirements, cancel_fd);
  if (!packages) return packages.error();
  core::Result<backend::EngineChoice> choice = backend::ChooseEngine(*options_.selection);
  if (!choice) return choice.error();
  PreparedPackages prepared;
  prepared.selection = *options_.selection;
  prepared.selection.engine = choice->name;
  const std::string name = PackageProfileName(base.name, packages->lock);
  if (std::optional<ReadyImage> ready = FindReady(name)) {
    // It may have been removed from the engine.
    const core::Result<bool> has = HasImage(*choice->engine, ready->mark);
    if (!has) return has.error();
    if (*has) {
      prepared.profile = std::move(ready->profile);
      prepared.lock = std::move(packages->lock);
      return prepared;
    }
  }
  core::Result<PackageProfile> made = MakeProfile(base, *packages);
  if (!made) return made.error();
  core::Result<ImageMark> ensured =
      EnsureImage(*choice->engine, ImageOfPackages(installation_, *made, *packages),
                  cache_.folder(), MakeLockWait(cancel_fd));
  if (!ensured) return ensured.error();
  const std::lock_guard lock(mutex_);
  if (ready_.size() >= kMaxReady) ready_.clear();
  ready_.insert_or_assign(name, ReadyImage{std::move(*ensured), made->profile});
  prepared.profile = std::move(made->profile);
  prepared.lock = std::move(packages->lock);
  return prepared;
}

std::optional<Packages::ReadyImage> Packages::FindReady(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = ready_.find(name);
  return found == ready_.end() ? std::nullopt : std::optional(found->second);
}

core::Result<void> CheckPlace(const core::Profile& profile,
                              const std::vector<PackageRequirement>& requirements,
                              bool in_container) {
  const auto error = [](const std::string& why) { return core::MakeError("packages", why); };
  const std::optional<core::ProgramRule>& program = profile.program;
  for (const PackageRequirement& each : requirements) {
    const bool is_npm = each.is_npm();
    if (in_container && (program || is_npm)) {
      return error("in containers they are Python's, for Python; " + each.name + " for " +
                   (program ? program->title : "Python") + " is not possible there");
    }
    if (in_container) continue;
    if (!program && !is_npm) {
      return error(
          "they require a container, or the language cpython or shell: they are unreviewed code, "
          "which must not be loaded before the seal of " +
          profile.name);
    }
    const std::string wanted = is_npm ? std::string("NODE_PATH=") + core::kNodePackages
                                      : std::string("PYTHONPATH=") + core::kPythonPackages;
    if (program && core::Contains(program->environment, wanted)) continue;
    return error(each.name +
                 (is_npm ? " is for JavaScript, TypeScript and shell, not for "
                         : " is for Python, cpython and shell, not for ") +
                 (program ? program->title : "Python"));
  }
  return {};
}

const char* PlaceOf(const CachedPackages& packages) {
  return packages.lock.question.is_npm() ? core::kNodePackages : core::kPythonPackages;
}

void ShowPackages(const PackageSets& sets, core::Profile& profile) {
  for (const CachedPackages& each : sets)
    profile.paths.push_back({.path = PlaceOf(each), .source = each.site});
}

std::vector<LockedPackage> PackagesIn(const PackageSets& sets) {
  std::vector<LockedPackage> packages;
  for (const CachedPackages& each : sets)
    packages.insert(packages.end(), each.lock.packages.begin(), each.lock.packages.end());
  return packages;
}

image::ImageRequest ImageOfPackages(const installation::Installation& installation,
                                    const PackageProfile& made, const CachedPackages& packages) {
  return {.installation = installation,
          .profile = made.profile,
          .profile_file = made.file,
          .guest = image::GuestProgramPath(installation),
          .package_paths = {{kInstalledSet, packages.site}}};
}

}  // namespace belljar::container::packages
