#include "python/opening.h"

#include <signal.h>

#include <utility>

#include "container/packages/packages.h"
#include "engine/outside/profile_facts.h"
#include "profiles/loader.h"

namespace belljar::python {
namespace {

// While it lives, threads that are made here begin with all signals blocked, and so do theirs. The
// zygote unblocks them for itself.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

Error CallersError(std::string message) { return MakeError(std::move(message), ""); }

Result<void> ChooseNetwork(const Wishes& wishes, Choice& choice) {
  const bool given = !wishes.allowed_domains.empty() || !wishes.allow_private.empty();
  const Profile& profile = choice.sandbox.profile;
  if (!profile.door) {
    if (!given) return {};
    return CallersError("allow_domains and allow_private: profile " + profile.name +
                        " has no network; they go with profile=\"network\"");
  }
  choice.sandbox.network.allowed_domains = wishes.allowed_domains;
  choice.sandbox.network.allow_private = wishes.allow_private;
  const Result<DoorRules> rules = DoorRules::Make(choice.sandbox.network);
  return rules ? Result<void>() : CallersError("allow_domains: " + rules.error().ToString());
}

Result<void> ChoosePackages(const ContainerWishes& wishes, const std::string& profile,
                            Choice& choice) {
  if (wishes.packages.empty()) return {};
  if (profile.find('/') != std::string::npos || profile.ends_with(".toml")) {
    return CallersError(
        "container: packages go with a profile of this installation, not with a file of your own");
  }
  if (!wishes.wish.image.empty()) {
    return CallersError("container: packages make an image of their own: leave image out");
  }
  Result<std::vector<PackageRequirement>> requirements = ParseRequirements(wishes.packages);
  if (!requirements) return CallersError("container: packages: " + requirements.error().ToString());
  if (wishes.source.index.empty()) {
    return CallersError(
        "container: packages: from where? Name an index with package_index, or in PIP_INDEX_URL; "
        "there is no usual one");
  }
  const Result<PackageIndex> index = PackageIndex::Parse(wishes.source);
  if (!index) return CallersError("container: package_index: " + index.error().ToString());
  choice.packages = std::move(*requirements);
  choice.source = wishes.source;
  return {};
}

Result<void> ChooseContainer(const Wishes& wishes, Choice& choice) {
  if (!wishes.container) return {};
  constexpr WishNames kArguments = {.engine = "container: engine=",
                                    .socket = "socket",
                                    .runtime = "runtime=",
                                    .require_gvisor = "container: require_gvisor"};
  const ContainerWish& wish = wishes.container->wish;
  if (Result<void> checked = CheckTogether(wish, kArguments); !checked) return checked;
  if (Result<void> chosen = ChoosePackages(*wishes.container, wishes.profile, choice); !chosen) {
    return chosen;
  }
  choice.container = ContainerOptions{.wish = wish, .memory = {}, .instance = ""};
  if (wishes.spares) choice.container->spares = *wishes.spares;
  // Inside, the container's walls stand where namespaces would.
  choice.sandbox.isolation = IsolationMode::kStandard;
  return {};
}

// Until the profile has its packages, and the engine the image.
Result<void> InstallPackages(Choice& choice, int cancel_fd, Opened& opened) {
  if (choice.packages.empty()) return {};
  PackagesOptions options;
  options.installation = choice.sandbox.installation;
  options.source = choice.source;
  options.wish = choice.container->wish;
  const Result<std::unique_ptr<Packages>> packages = Packages::Open(std::move(options));
  if (!packages) return packages.error();
  Result<PreparedPackages> prepared =
      (*packages)->Prepare(choice.sandbox.profile, choice.packages, cancel_fd);
  if (!prepared) return prepared.error();
  choice.sandbox.profile = std::move(prepared->profile);
  choice.container->wish = std::move(prepared->wish);
  opened.packages = prepared->lock.Names();
  return {};
}

}  // namespace

Result<Choice> Choose(const ProfileCatalogue& catalogue, const Wishes& wishes) {
  Result<Profile> profile = catalogue.Choose(wishes.profile);
  if (!profile) return CallersError("profile: " + profile.error().ToString());
  Choice choice;
  choice.sandbox.hides_children = true;
  choice.sandbox.installation = catalogue.installation();
  choice.facts = ProfileToJson(*profile, catalogue.installation());
  choice.sandbox.profile = std::move(*profile);
  choice.sandbox.other_profiles =
      ModulesByProfile(catalogue.profiles(), choice.sandbox.profile.name);
  choice.sandbox.isolation = wishes.is_strict ? IsolationMode::kStrict : IsolationMode::kStandard;
  choice.sandbox.language = wishes.is_restricted ? Language::kRestricted : Language::kFull;
  if (wishes.spares) choice.sandbox.spares = *wishes.spares;
  for (const auto take : {ChooseNetwork, ChooseContainer}) {
    if (Result<void> taken = take(wishes, choice); !taken) return taken.error();
  }
  return choice;
}

Result<Opened> Open(Choice choice, int cancel_fd) {
  const WithoutSignals without;
  Opened opened;
  if (Result<void> had = InstallPackages(choice, cancel_fd, opened); !had) return had.error();
  opened.profile = choice.sandbox.profile;
  opened.isolation = choice.sandbox.isolation;
  opened.language = choice.sandbox.language;
  opened.facts = std::move(choice.facts);
  opened.is_container = choice.container.has_value();
  if (opened.profile.door) {
    Result<DoorRules> rules = DoorRules::Make(choice.sandbox.network);
    if (!rules) return rules.error();
    opened.rules = std::move(*rules);
  }
  Result<std::unique_ptr<Sandbox>> sandbox =
      choice.container
          ? OpenContainerSandbox(std::move(choice.sandbox), std::move(*choice.container))
          : Sandbox::Open(std::move(choice.sandbox));
  if (!sandbox) return sandbox.error();
  opened.sandbox = std::move(*sandbox);
  return opened;
}

}  // namespace belljar::python
