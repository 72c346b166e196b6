#include "container/packages/packages.h"

#include <sys/utsname.h>

#include <utility>

#include "container/backend/container_sandbox.h"
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

}  // namespace

core::Result<std::unique_ptr<Packages>> Packages::Open(PackagesOptions options) {
  core::Result<installation::Installation> installation =
      installation::GivenOrFound(options.installation);
  if (!installation) return installation.error();
  core::Result<PackageIndex> index = PackageIndex::Parse(options.source);
  if (!index) return index.error();
  if (options.folder.empty()) options.folder = PackageCache::DefaultFolder();
  if (options.folder.empty()) {
    return core::MakeError("keep packages",
                           "HOME is not set: name a folder, or set XDG_CACHE_HOME");
  }
  core::Result<PackageCache> cache = PackageCache::Open(options.folder);
  if (!cache) return cache.error();
  options.selection.image.clear();
  return std::unique_ptr<Packages>(new Packages(std::move(options), std::move(*installation),
                                                std::move(*index), std::move(*cache)));
}

PackageQuestion Packages::QuestionOf(const std::vector<PackageRequirement>& requirements) const {
  PackageQuestion question{.requirements = {},
                           .python = host::kPythonVersion,
                           .architecture = Machine(),
                           .index = index_.shown()};
  for (const PackageRequirement& each : requirements) {
    question.requirements.push_back(each.ToString());
  }
  return question;
}

LockWait Packages::MakeLockWait(int cancel_fd) const {
  return {.deadline = core::Clock::now() + options_.bounds.timeout + kLockMargin,
          .cancel_fd = cancel_fd};
}

core::Result<CachedPackages> Packages::Install(const std::vector<PackageRequirement>& requirements,
                                               int cancel_fd) {
  const PackageQuestion question = QuestionOf(requirements);
  core::Result<CachedPackages> packages =
      cache_.Get(question, MakeLockWait(cancel_fd),
                 [&](const std::string& site) { return RunInstaller(question, site, cancel_fd); });
  return packages;
}

core::Result<PackageLock> Packages::RunInstaller(const PackageQuestion& question,
                                                 const std::string& site, int cancel_fd) {
  core::Result<outside::SandboxOptions> sandbox =
      InstallerOptions(installation_, index_, options_.bounds);
  if (!sandbox) return sandbox.error();
  // In a container only the container is required; the layers actually in force are in the outcome.
  sandbox->isolation = outside::IsolationMode::kStandard;
  const core::Result<backend::EngineChoice> choice = backend::ChooseEngine(options_.selection);
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
  options.selection = options_.selection;
  options.selection.engine = choice->name;
  options.spares = 0;
  options.max_containers = 1;
  const core::Result<std::unique_ptr<outside::Sandbox>> opened =
      backend::OpenContainerSandbox(std::move(*sandbox), std::move(options));
  if (!opened) return opened.error();
  const Installer installer(installation_, index_, options_.bounds,
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
  if (core::Result<void> checked = CheckTree(packages); !checked) return checked.error();
  return MakePackageProfile(base, packages.lock, cache_.folder(), installation_.profiles);
}

core::Result<PreparedPackages> Packages::Prepare(
    const core::Profile& base, const std::vector<PackageRequirement>& requirements, int cancel_fd) {
  if (core::Result<void> checked = CheckBase(base); !checked) return checked.error();
  core::Result<CachedPackages> packages = Install(requirements, cancel_fd);
  if (!packages) return packages.error();
  core::Result<backend::EngineChoice> choice = backend::ChooseEngine(options_.selection);
  if (!choice) return choice.error();
  PreparedPackages prepared;
  prepared.selection = options_.selection;
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

image::ImageRequest ImageOfPackages(const installation::Installation& installation,
                                    const PackageProfile& made, const CachedPackages& packages) {
  return {.installation = installation,
          .profile = made.profile,
          .profile_file = made.file,
          .guest = image::GuestProgramPath(installation),
          .package_paths = {{kInstalledSet, packages.site}}};
}

}  // namespace belljar::container::packages
