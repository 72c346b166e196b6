#include "server/tools/call_limits.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/core/text.h"
#include "engine/egress/egress_rules.h"
#include "engine/host/suggest.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

using std::chrono::milliseconds;

constexpr double kMinTimeout = 0.1;
// In addition to the interpreter's memory; with less even small programs fail.
constexpr core::Bytes kMinMemory = core::Bytes::Mebi(8);
// A DNS name with a "*." prefix and a port.
constexpr size_t kMaxDomain = 270;
constexpr size_t kMaxFiles = 100;

double Seconds(milliseconds time) { return std::chrono::duration<double>(time).count(); }

// Whole seconds are written without a decimal point.
nlohmann::ordered_json SecondsJson(milliseconds time) {
  if (time.count() % 1000 == 0) return time.count() / 1000;
  return Seconds(time);
}

// The maximum over all profiles: the profile of a call is known only later.
core::Limits MaxLimits(const Sandboxes& sandboxes) {
  core::Limits maximum = sandboxes.default_profile().profile.maximum_limits;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    maximum.timeout = std::max(maximum.timeout, each.profile.maximum_limits.timeout);
    maximum.memory = std::max(maximum.memory, each.profile.maximum_limits.memory);
  }
  return maximum;
}

// The profiles for which `has` is true, as alternatives for a call whose profile lacks the feature:
// combined with that profile if possible, so that the call loses nothing.
std::string ProfilesWith(const Sandboxes& sandboxes, const Caller& caller,
                         const core::Profile& named, HasFeature has) {
  const std::vector<std::string>& combinations = sandboxes.combinations();
  std::string names;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    const std::string& alone = each.profile.name;
    if (!has(each.profile) || !Sandboxes::Permits(caller, alone)) continue;
    const std::string joined = ProfileName(named.name + "+" + alone);
    const bool can_be_joined =
        std::find(combinations.begin(), combinations.end(), joined) != combinations.end();
    names += (names.empty() ? "" : ", ") + (can_be_joined ? joined : alone);
  }
  return names;
}

// Empty if the domains are within those that the operator allows.
std::string DomainsProblem(const Sandboxes& sandboxes, const std::vector<std::string>& domains) {
  const core::Result<egress::EgressRules> rules = egress::EgressRules::Make(sandboxes.network());
  if (!rules) return rules.error().ToString();
  const core::Result<egress::AllowList> narrower = rules->Narrow(domains);
  return narrower ? "" : narrower.error().ToString();
}

}  // namespace

bool HasNetwork(const core::Profile& profile) { return profile.egress.has_value(); }
bool HasWorkspace(const core::Profile& profile) { return profile.workspace.has_value(); }

bool Has(const Sandboxes& sandboxes, HasFeature has) {
  const std::vector<EnabledProfile>& enabled = sandboxes.enabled();
  return std::any_of(enabled.begin(), enabled.end(),
                     [&](const EnabledProfile& each) { return has(each.profile); });
}

Parameter FilesParameter(std::string description) {
  return {.name = "files",
          .type = Parameter::Type::kFiles,
          .description = std::move(description),
          .default_value = {},
          .max_bytes = kMaxFileContent.count,
          .max_items = kMaxFiles,
          .choices = {}};
}

Parameter TimeoutParameter(const Sandboxes& sandboxes) {
  return {.name = "timeout",
          .type = Parameter::Type::kNumber,
          .description = "Seconds, of wall clock and of CPU time.",
          .default_value = SecondsJson(sandboxes.default_profile().limits.timeout),
          .minimum = kMinTimeout,
          .maximum = Seconds(MaxLimits(sandboxes).timeout),
          .choices = {}};
}

Parameter MemoryParameter(const Sandboxes& sandboxes) {
  const core::Bytes maximum = MaxLimits(sandboxes).memory;
  return {.name = "memory_limit",
          .type = Parameter::Type::kSize,
          .description =
              "Memory for the code: bytes, or with k, m or g, up to " + maximum.ToString() + ".",
          .default_value = sandboxes.default_profile().limits.memory.ToString(),
          .minimum = static_cast<double>(kMinMemory.count),
          .maximum = static_cast<double>(maximum.count),
          .choices = {}};
}

Parameter ImportsParameter() {
  return {.name = "allowed_imports",
          .type = Parameter::Type::kTextList,
          .description = "The only modules that the code may import.",
          .default_value = {},
          .max_bytes = 200,
          .max_items = 500,
          .choices = {}};
}

Parameter DomainsParameter(const Sandboxes& sandboxes) {
  return {.name = "allowed_domains",
          .type = Parameter::Type::kTextList,
          .description = "Chooses profile network, with only these of the hosts that it allows.",
          .default_value = {},
          .max_bytes = kMaxDomain,
          .max_items = 100,
          .is_unlisted = !Has(sandboxes, HasNetwork),
          .choices = {}};
}

core::Limits TakeLimits(const Arguments& arguments, const EnabledProfile& profile,
                        std::vector<std::string>& problems) {
  const core::Limits& maximum = profile.profile.maximum_limits;
  const auto over = [&](const char* name, const std::string& value, const std::string& maximum) {
    problems.push_back(std::string(name) + " is " + value + "; the maximum of profile " +
                       profile.profile.name + " is " + maximum);
  };
  core::RequestedLimits requested;
  if (const std::optional<double> seconds = arguments.Number("timeout")) {
    requested.timeout = milliseconds(std::llround(*seconds * 1000));
    if (*requested.timeout > maximum.timeout) {
      over("timeout", core::FormatDuration(*requested.timeout),
           core::FormatDuration(maximum.timeout));
    }
  }
  requested.memory = arguments.Size("memory_limit");
  if (requested.memory && *requested.memory > maximum.memory) {
    over("memory_limit", requested.memory->ToString(), maximum.memory.ToString());
  }
  return core::WithRequested(profile.limits, maximum, requested);
}

// `is_complete`: there are no modules besides the profile's. Packages would add modules whose names
// are not known yet.
std::optional<ModuleList> TakeImports(const Arguments& arguments, const EnabledProfile& profile,
                                      outside::Policy policy, bool is_complete,
                                      std::vector<std::string>& problems) {
  const std::optional<ModuleList> requested = arguments.Texts("allowed_imports");
  if (!requested) return profile.modules;
  if (policy == outside::Policy::kOff) {
    problems.push_back("allowed_imports restricts the language policy, which is disabled " +
                       std::string(profile.profile.without_policy
                                       ? "in profile " + profile.profile.name
                                       : "on this server") +
                       "; omit it");
    return std::nullopt;
  }
  const ModuleList known = profile.modules ? GivenModules(profile.profile, *profile.modules)
                                           : profiles::ImportNames(profile.profile);
  for (const std::string& module : is_complete ? *requested : ModuleList()) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return name == module || name.starts_with(module + ".");
    });
    if (found) continue;
    const std::string suggestion = host::Suggestion(module, known);
    problems.push_back("allowed_imports: profile " + profile.profile.name + " has no module " +
                       core::Quoted(module) +
                       (suggestion.empty() ? "; get_sandbox_info lists its modules" : suggestion));
  }
  return profile.modules ? Intersection(profile.profile, *profile.modules, *requested) : requested;
}

std::string LacksFeature(const char* argument, const char* what, const Sandboxes& sandboxes,
                         const Caller& caller, const core::Profile& profile, HasFeature has) {
  const std::string names = ProfilesWith(sandboxes, caller, profile, has);
  return std::string(argument) + ": profile " + profile.name + " has no " + what +
         (names.empty() ? "; no profile that this caller may use has one"
                        : "; use one that has: " + names);
}

std::optional<std::vector<std::string>> TakeDomains(const Arguments& arguments,
                                                    const Sandboxes& sandboxes,
                                                    const Caller& caller,
                                                    const core::Profile& profile,
                                                    std::vector<std::string>& problems) {
  std::optional<std::vector<std::string>> domains = arguments.Texts("allowed_domains");
  if (!domains) return std::nullopt;
  if (!profile.egress) {
    if (!domains->empty()) {
      problems.push_back(
          LacksFeature("allowed_domains", "network", sandboxes, caller, profile, HasNetwork));
    }
    return std::nullopt;
  }
  if (std::string problem = DomainsProblem(sandboxes, *domains); !problem.empty()) {
    problems.push_back("allowed_domains: " + problem);
  }
  return domains;
}

}  // namespace belljar::server::tools
