#include "server/config/resolve.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/profile_names.h"
#include "server/config/values.h"
#include "server/events/http_post.h"

namespace belljar::server::config {
namespace {

using Strings = std::vector<std::string>;

// The tiers of comparable servers are profiles here.
struct Tier {
  const char* key;
  const char* profile;
  std::optional<bool> Draft::*enabled;
};
constexpr Tier kTiers[] = {
    {"execution.enable_network", "network", &Draft::enable_network},
    {"execution.enable_filesystem", "filesystem", &Draft::enable_filesystem},
    {"execution.enable_data_science", "data-science", &Draft::enable_data_science},
    {"execution.enable_full", "full", &Draft::enable_full},
};
constexpr char kNotInstalled[] = "not in this version: has no effect";

bool IsMissingTier(const std::string& name, const profiles::ProfileCatalogue& catalogue) {
  const bool is_tier = std::any_of(std::begin(kTiers), std::end(kTiers),
                                   [&](const Tier& tier) { return tier.profile == name; });
  return is_tier && !core::Contains(catalogue.Names(), name);
}

// By its own name, or because every profile that it combines is enabled.
bool IsEnabled(const std::string& name, const Strings& enabled) {
  const std::vector<std::string_view> parts = core::SplitAt(name, '+');
  return core::Contains(enabled, name) || std::all_of(parts.begin(), parts.end(), [&](auto part) {
           return core::Contains(enabled, std::string(part));
         });
}

void MakePathsAbsolute(Loading& loading) {
  Draft& draft = loading.draft;
  if (!draft.token_file.empty()) {
    draft.token_file = AbsolutePath(draft.token_file, loading.OriginOf("http.token_file"));
  }
  std::string& socket = draft.config.container.socket;
  if (!socket.empty()) socket = AbsolutePath(socket, loading.OriginOf("container.socket"));
  std::string& packages = draft.config.packages.folder;
  if (!packages.empty()) packages = AbsolutePath(packages, loading.OriginOf("packages.folder"));
  std::string& store = draft.config.jobs.store;
  const bool is_file = !store.empty() && store.find("://") == std::string::npos;
  if (is_file) store = AbsolutePath(store, loading.OriginOf("jobs.store"));
  AuditConfig& audit = draft.config.audit;
  if (!audit.folder.empty()) {
    audit.folder = AbsolutePath(audit.folder, loading.OriginOf("audit.folder"));
  }
  if (!audit.key_file.empty()) {
    audit.key_file = AbsolutePath(audit.key_file, loading.OriginOf("audit.key_file"));
  }
  std::string& profile = draft.config.execution.profile;
  if (profiles::IsProfileFile(profile))
    profile = AbsolutePath(profile, loading.OriginOf("execution.profile"));
  CompatibleApisConfig& apis = draft.config.compatible_apis;
  for (const auto& [name, key] : {std::pair(&apis.sandbox_fusion, "fronts.sandbox_fusion"),
                                  {&apis.piston, "fronts.piston"},
                                  {&apis.judge0, "fronts.judge0"}}) {
    if (profiles::IsProfileFile(*name)) *name = AbsolutePath(*name, loading.OriginOf(key));
  }
  for (std::string& name : draft.config.execution.languages) {
    if (profiles::IsProfileFile(name))
      name = AbsolutePath(name, loading.OriginOf("execution.languages"));
  }
  if (!draft.profiles) return;
  for (std::string& name : *draft.profiles) {
    if (profiles::IsProfileFile(name))
      name = AbsolutePath(name, loading.OriginOf("execution.profiles"));
  }
}

// A folder stands for each file in it.
core::Result<void> ExpandLanguageFolders(Loading& loading) {
  Strings& languages = loading.draft.config.execution.languages;
  Strings expanded;
  for (const std::string& name : languages) {
    core::Result<Strings> files = profiles::LanguageFiles(name);
    if (!files) {
      return core::MakeError(loading.OriginOf("execution.languages").place,
                             files.error().ToString());
    }
    std::ranges::move(*files, std::back_inserter(expanded));
  }
  languages = std::move(expanded);
  return {};
}

// A tier that is not installed weakens nothing, so it only causes a warning and a note.
void NoteMissing(Loading& loading, const std::string& key, const std::string& profile) {
  loading.notes[key] = kNotInstalled;
  loading.warnings.push_back(loading.OriginOf(key).place + ": profile " + core::Quoted(profile) +
                             " is not in this version, so calls cannot use it");
}

core::Result<void> ResolveTiers(Loading& loading, const profiles::ProfileCatalogue& catalogue,
                                Strings& profiles) {
  for (const Tier& tier : kTiers) {
    const std::optional<bool> enabled = loading.draft.*tier.enabled;
    if (!enabled) continue;
    if (!*enabled) {
      std::erase(profiles, tier.profile);
      if (loading.draft.config.execution.profile != tier.profile) continue;
      return core::MakeError(loading.OriginOf(tier.key).place,
                             std::string("disables profile ") + tier.profile +
                                 ", which is the default profile (execution.profile)");
    }
    if (IsMissingTier(tier.profile, catalogue)) {
      NoteMissing(loading, tier.key, tier.profile);
    } else if (!core::Contains(profiles, tier.profile)) {
      profiles.push_back(tier.profile);
    }
  }
  return {};
}

// The names of the profiles that calls may use, without duplicates.
core::Result<Strings> EnabledProfiles(Loading& loading,
                                      const profiles::ProfileCatalogue& catalogue) {
  const std::string& default_profile = loading.draft.config.execution.profile;
  Strings profiles;
  for (const std::string& name : loading.draft.profiles.value_or(Strings{default_profile})) {
    if (core::Contains(profiles, name)) continue;
    const bool is_missing = loading.draft.profiles && IsMissingTier(name, catalogue);
    if (is_missing && name != default_profile) {
      NoteMissing(loading, "execution.profiles", name);
    } else {
      profiles.push_back(name);
    }
  }
  if (core::Result<void> tiers = ResolveTiers(loading, catalogue, profiles); !tiers)
    return tiers.error();
  if (!core::Contains(profiles, default_profile)) {
    return core::MakeError(loading.OriginOf("execution.profiles").place,
                           "must include " + core::Quoted(default_profile) +
                               ", the default profile (execution.profile)");
  }
  return profiles;
}

// The profile starts nevertheless; imports of missing packages fail with an explanation.
void WarnOfMissingPackages(Loading& loading, const core::Profile& profile,
                           const installation::Installation& installation) {
  for (const installation::MissingPackages& missing : installation.Missing(profile)) {
    std::string warning = "profile " + profile.name + ": the packages of " + missing.set +
                          " are not installed; to install them: " + missing.command;
    for (const std::string& differing : missing.differing) warning += "; there is " + differing;
    loading.warnings.push_back(std::move(warning));
    for (const Tier& tier : kTiers) {
      if (tier.profile == profile.name && loading.draft.*tier.enabled == true) {
        loading.notes[tier.key] = "its packages are not installed";
      }
    }
  }
}

core::Result<std::vector<core::Profile>> ResolveProfiles(
    Loading& loading, const profiles::ProfileCatalogue& catalogue) {
  core::Result<Strings> names = EnabledProfiles(loading, catalogue);
  if (!names) return names.error();
  std::vector<core::Profile> profiles;
  for (const std::string& name : *names) {
    core::Result<core::Profile> profile = catalogue.Choose(name);
    if (!profile) {
      const bool is_default = name == loading.draft.config.execution.profile;
      const Origin origin =
          loading.OriginOf(is_default ? "execution.profile" : "execution.profiles");
      return core::MakeError(origin.place, profile.error().ToString());
    }
    WarnOfMissingPackages(loading, *profile, catalogue.installation());
    profiles.push_back(std::move(*profile));
  }
  loading.draft.profiles = *names;
  loading.draft.config.execution.profiles = std::move(*names);
  return profiles;
}

core::Result<void> CheckLimits(const Loading& loading, const std::vector<core::Profile>& profiles) {
  const ExecutionConfig& execution = loading.draft.config.execution;
  const auto over = [&](const char* key, const std::string& requested, const core::Profile& profile,
                        const std::string& max) {
    return core::MakeError(loading.OriginOf(key).place + " " + requested,
                           "the maximum of profile " + profile.name + " is " + max);
  };
  for (const core::Profile& profile : profiles) {
    const core::Limits& max = profile.maximum_limits;
    if (execution.timeout && *execution.timeout > max.timeout) {
      return over("execution.timeout", core::FormatDuration(*execution.timeout), profile,
                  core::FormatDuration(max.timeout));
    }
    if (execution.memory && *execution.memory > max.memory) {
      return over("execution.memory", execution.memory->ToString(), profile, max.memory.ToString());
    }
    if (execution.output && *execution.output > max.output) {
      return over("execution.max_output", execution.output->ToString(), profile,
                  max.output.ToString());
    }
  }
  return {};
}

core::Result<void> CheckImports(Loading& loading, const std::vector<core::Profile>& profiles) {
  ExecutionConfig& execution = loading.draft.config.execution;
  if (!execution.allowed_imports) return {};
  const Origin origin = loading.OriginOf("execution.allowed_imports");
  if (execution.policy == "off") {
    return core::MakeError(origin.place,
                           "restricts the language policy, which execution.policy off disables");
  }
  std::set<std::string> names;
  for (const core::Profile& profile : profiles) {
    if (profile.without_policy) {
      return core::MakeError(origin.place, "restricts the language policy, which profile " +
                                               profile.name + " disables");
    }
    for (std::string& name : profiles::ImportNames(profile)) names.insert(std::move(name));
  }
  const Strings known(names.begin(), names.end());
  Strings allowed;
  for (const std::string& module : *execution.allowed_imports) {
    if (names.contains(module)) {
      if (!core::Contains(allowed, module)) allowed.push_back(module);
      continue;
    }
    const std::string what = "no enabled profile has a module " + core::Quoted(module);
    if (!origin.is_familiar)
      return core::MakeError(origin.place, what + host::Suggestion(module, known));
    // The list may have been written for another server: an unknown module is simply not allowed.
    loading.warnings.push_back(origin.place + ": " + what);
  }
  execution.allowed_imports = std::move(allowed);
  return {};
}

core::Result<void> CheckTokenProfiles(Loading& loading,
                                      const profiles::ProfileCatalogue& catalogue) {
  // A token's list is of profiles and languages.
  Strings enabled = loading.draft.config.execution.profiles;
  enabled.insert(enabled.end(), loading.draft.config.execution.languages.begin(),
                 loading.draft.config.execution.languages.end());
  for (LoadedToken& loaded : loading.tokens) {
    const Caller& caller = loaded.token.caller;
    if (!caller.profiles) continue;
    const std::string place = loaded.origin.place + " " + core::Quoted(caller.name);
    if (caller.profiles->empty()) {
      return core::MakeError(place,
                             "may not use any profile; omit profiles to allow every enabled one");
    }
    for (const std::string& name : *caller.profiles) {
      if (IsEnabled(name, enabled)) continue;
      if (!IsMissingTier(name, catalogue)) {
        return core::MakeError(place, "profile " + core::Quoted(name) +
                                          " is not enabled; add it to " + "execution.profiles" +
                                          host::Suggestion(name, enabled));
      }
      loading.warnings.push_back(place + ": profile " + core::Quoted(name) +
                                 " is not in this version");
    }
  }
  return {};
}

// A network without hosts has no effect, and neither have hosts without a network.
void CheckNetwork(Loading& loading, const std::vector<core::Profile>& profiles) {
  const auto egress =
      std::find_if(profiles.begin(), profiles.end(),
                   [](const core::Profile& profile) { return profile.egress.has_value(); });
  const bool has_hosts = !loading.draft.config.execution.network.allowed_domains.empty();
  if (egress == profiles.end() && has_hosts) {
    loading.warnings.push_back(loading.OriginOf("network.allowed_domains").place +
                               " has no effect without a profile with a network; "
                               "execution.enable_network = true enables one");
  }
  if (egress != profiles.end() && !has_hosts) {
    loading.warnings.push_back("profile " + egress->name +
                               ": no host is allowed, so nothing can be reached; list hosts in "
                               "network.allowed_domains (--allow-domain)");
  }
}

// Contradictions that would make every call with a container fail.
core::Result<void> CheckContainer(const Loading& loading) {
  const ContainerConfig& config = loading.draft.config.container;
  const auto wrong = [&](const char* key, const std::string& value, const char* why) {
    return core::MakeError(loading.OriginOf(key).place + " " + core::Quoted(value), why);
  };
  if (config.runtime == "runc" && config.require_gvisor) {
    return wrong("container.runtime", config.runtime,
                 "container.require_gvisor is true, but runc is not gVisor; write runsc or auto");
  }
  if (config.engine != "runsc") return {};
  if (config.runtime == "runc") {
    return wrong("container.runtime", config.runtime,
                 "container.engine is runsc, which is its own runtime; write auto");
  }
  if (!config.socket.empty()) {
    return wrong("container.socket", config.socket,
                 "container.engine is runsc, which has no socket; omit container.socket, or "
                 "name the engine that listens there");
  }
  return {};
}

// Whether a language of commands is enabled, or one of the operator's own, which may be.
bool MayRunCommands(const Strings& languages) {
  return std::any_of(languages.begin(), languages.end(), [](const std::string& name) {
    return name == "shell" || name.find('/') != name.npos;
  });
}

// Packages require containers or commands, and a list of allowed names.
void CheckPackages(Loading& loading) {
  const ServerConfig& config = loading.draft.config;
  if (!config.packages.enabled) return;
  const std::string place = loading.OriginOf("packages.enabled").place;
  if (!config.container.enabled && !MayRunCommands(config.execution.languages)) {
    loading.warnings.push_back(place +
                               " has no effect: packages are for commands and for runs in "
                               "containers; execution.languages has no \"shell\", and "
                               "container.enabled is false");
  }
  if (config.packages.allowed.empty()) {
    loading.warnings.push_back(place +
                               " has no effect: packages.allowed is empty, so calls "
                               "cannot request any; [\"*\"] allows all");
  }
}

core::Result<void> CheckCompatibleApis(Loading& loading) {
  const ServerConfig& config = loading.draft.config;
  const std::pair<const char*, const std::string&> apis[] = {
      {"fronts.sandbox_fusion", config.compatible_apis.sandbox_fusion},
      {"fronts.piston", config.compatible_apis.piston},
      {"fronts.judge0", config.compatible_apis.judge0},
  };
  const Strings& enabled = config.execution.profiles;
  for (const auto& [key, profile] : apis) {
    if (profile.empty()) continue;
    const std::string place = loading.OriginOf(key).place;
    if (profile != kAutoProfile && !IsEnabled(profile, enabled)) {
      return core::MakeError(place, "profile " + core::Quoted(profile) +
                                        " is not enabled; add it to execution.profiles" +
                                        host::Suggestion(profile, enabled));
    }
    if (!loading.draft.listen) {
      loading.warnings.push_back(place + " has no effect without http.listen (--http)");
    }
  }
  return {};
}

core::Result<void> CheckTracing(const Loading& loading) {
  const TracingConfig& tracing = loading.draft.config.tracing;
  if (tracing.endpoint.empty()) return {};
  const core::Result<events::HttpTarget> target =
      events::HttpTarget::Parse(tracing.endpoint, tracing.allow_private);
  if (target) return {};
  return core::MakeError(
      loading.OriginOf("tracing.endpoint").place + " " + core::Quoted(tracing.endpoint),
      target.error().detail);
}

core::Result<void> CheckListen(Loading& loading) {
  const std::optional<ListenAddress>& listen = loading.draft.listen;
  for (const auto& [key, origin] : loading.origins) {
    if (listen || origin.kind != Origin::Kind::kFlag || !key.starts_with("http.")) continue;
    if (key != "http.listen")
      loading.warnings.push_back(origin.place + " has no effect without --http");
  }
  if (!listen || IsLoopback(*listen) || !loading.tokens.empty()) return {};
  return core::MakeError(
      loading.OriginOf("http.listen").place + " " + FormatListenAddress(*listen),
      "other machines can reach this address, so a token is required, and none is configured.\n"
      "  (umask 077; openssl rand -hex 32 > token)     # creates one\n"
      "  belljar serve --http " +
          FormatListenAddress(*listen) + " --token-file token");
}

}  // namespace

Origin Loading::OriginOf(const std::string& key) const {
  const auto found = origins.find(key);
  if (found != origins.end()) return found->second;
  Origin origin;
  origin.place = key;
  return origin;
}

std::string AbsolutePath(const std::string& path, const Origin& origin) {
  const std::filesystem::path from(origin.folder);
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(from / path, code);
  return code ? path : absolute.lexically_normal().string();
}

core::Result<void> Resolve(Loading& loading, const profiles::ProfileCatalogue& catalogue) {
  MakePathsAbsolute(loading);
  if (core::Result<void> expanded = ExpandLanguageFolders(loading); !expanded) return expanded;
  const core::Result<std::vector<core::Profile>> profiles = ResolveProfiles(loading, catalogue);
  if (!profiles) return profiles.error();
  if (core::Result<void> limits = CheckLimits(loading, *profiles); !limits) return limits;
  if (core::Result<void> imports = CheckImports(loading, *profiles); !imports) return imports;
  CheckNetwork(loading, *profiles);
  if (core::Result<void> tokens = CheckTokenProfiles(loading, catalogue); !tokens) return tokens;
  if (core::Result<void> container = CheckContainer(loading); !container) return container;
  CheckPackages(loading);
  if (core::Result<void> apis = CheckCompatibleApis(loading); !apis) return apis;
  if (core::Result<void> tracing = CheckTracing(loading); !tracing) return tracing;
  return CheckListen(loading);
}

}  // namespace belljar::server::config
