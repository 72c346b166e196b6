#include "server/tools/sandbox_info.h"

#include <algorithm>

#include "engine/host/outcome.h"
#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "engine/outside/profile_facts.h"
#include "server/tools/output_schemas.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInfoName = "get_sandbox_info";

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Whole seconds are written without a decimal point, as in settings.
Json JsonSeconds(std::chrono::milliseconds time) {
  if (time.count() % 1000 == 0) return time.count() / 1000;
  return std::chrono::duration<double>(time).count();
}

Json LimitsOf(const core::Limits& defaults, const core::Limits& maximum) {
  return {{"default", Json::parse(host::LimitsToJson(defaults))},
          {"maximum", Json::parse(host::LimitsToJson(maximum))}};
}

// Whether it belongs to one of `sets`: a profile's packages, or the missing ones.
template <typename Sets>
bool IsOfPackages(const Sets& sets, const std::string& module) {
  const std::string root = module.substr(0, module.find('.'));
  return std::any_of(sets.begin(), sets.end(), [&](const auto& set) {
    return std::find(set.modules.begin(), set.modules.end(), root) != set.modules.end();
  });
}

// The modules chosen by the operator, or all modules, without those of missing packages.
Json Modules(const core::Profile& profile, const std::optional<ModuleList>& chosen,
             const std::vector<outside::MissingPackages>& missing) {
  Json modules = Json::array();
  for (const std::string& module :
       chosen ? GivenModules(profile, *chosen) : outside::ModuleNames(profile)) {
    if (!IsOfPackages(missing, module)) modules.push_back(module);
  }
  return modules;
}

// Kept short for models: for a tier only what it adds to basic, and nothing for packages, which
// have thousands of names. `basic` is null if it has no entry of its own.
Json NamesOf(const core::Profile& profile, const Json& modules, const core::Profile* basic) {
  Json names = Json::object();
  for (const core::ModuleExports* module : outside::OwnModules(profile, basic)) {
    if (std::find(modules.begin(), modules.end(), module->name) == modules.end()) continue;
    if (!IsOfPackages(profile.packages, module->name)) names[module->name] = module->exports;
  }
  return names;
}

Json EnabledEntry(const EnabledProfile& enabled, const core::Profile* basic,
                  const Sandboxes& sandboxes, const outside::Installation& installation) {
  const core::Profile& profile = enabled.profile;
  const std::vector<outside::MissingPackages> missing = installation.Missing(profile);
  Json modules = Modules(profile, enabled.modules, missing);
  Json names = NamesOf(profile, modules, basic);
  Json entry = {{"enabled", true}, {"available", missing.empty()}, {"summary", profile.summary}};
  entry.update(Json::parse(outside::ProfileFactsToJson(profile, installation)));
  if (profile.egress) entry["network"]["allowed_domains"] = sandboxes.network().allowed_domains;
  entry["modules"] = std::move(modules);
  entry["names"] = std::move(names);
  entry["limits"] = LimitsOf(enabled.limits, profile.maximum_limits);
  return entry;
}

Json WithheldEntry(const EnabledProfile& enabled, const outside::Installation& installation) {
  const std::vector<outside::MissingPackages> missing = installation.Missing(enabled.profile);
  return {{"enabled", false},
          {"available", missing.empty()},
          {"summary", enabled.profile.summary},
          {"modules", Modules(enabled.profile, enabled.modules, missing)},
          {"how_to_enable",
           "this caller may not use it; an operator decides which profiles the caller may use"}};
}

Json InstalledEntry(const core::Profile& profile, const outside::Installation& installation) {
  const std::vector<outside::MissingPackages> missing = installation.Missing(profile);
  Json entry = {{"enabled", false}, {"available", missing.empty()}, {"summary", profile.summary}};
  entry.update(Json::parse(outside::ProfileFactsToJson(profile, installation)));
  // Without the language policy there is no list; basic's modules would only be repeated.
  entry["modules"] =
      profile.full_language ? Json::array() : Modules(profile, std::nullopt, missing);
  entry["how_to_enable"] = "an operator enables it with " + HowToEnable(profile.name);
  return entry;
}

Json MissingEntry(const Tier& tier) {
  return {{"enabled", false},
          {"available", false},
          {"summary", tier.summary},
          {"modules", tier.modules},
          {"how_to_enable",
           "not in this version of Belljar; " +
               (tier.environment.empty()
                    ? std::string("it cannot be enabled")
                    : tier.environment + "=true enables it in a version that has it")}};
}

// "name":{…}
std::string Member(const std::string& profile, const Json& entry) {
  return Dump(Json(ProfileKey(profile))) + ":" + Dump(entry);
}

Json ResourceLimits(const EnabledProfile& defaults) {
  const core::Limits& maximum = defaults.profile.maximum_limits;
  return {{"timeout", JsonSeconds(defaults.limits.timeout)},
          {"max_output_size", defaults.limits.output.count},
          {"memory_limit", defaults.limits.memory.ToString()},
          {"max",
           {{"timeout", JsonSeconds(maximum.timeout)},
            {"max_output_size", maximum.output.count},
            {"memory_limit", maximum.memory.ToString()}}}};
}

Json ContainerMode(const Containers::State& state) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"available", state.available},
          {"enabled", state.enabled},
          {"engine", or_null(state.engine)},
          {"runtime", or_null(state.runtime)},
          {"message", state.message}};
}

Json PackagesJson(const Sandboxes& sandboxes) {
  const bool enabled = sandboxes.gives_packages();
  return {{"enabled", enabled},
          {"allowed", enabled ? Json(sandboxes.packages().allowed()) : Json::array()}};
}

// The layers of the seal in order; two of them exist in every supported kernel.
Json Layers(const Sandboxes& sandboxes) {
  outside::SandboxOptions options;
  options.isolation = sandboxes.isolation();
  const std::vector<std::string> required = outside::RequiredLayers(options);
  const std::vector<outside::MachineCheck> checks = outside::CheckKernel();
  Json layers = Json::array();
  for (const char* name :
       {"namespaces", "privileges", "rlimits", "landlock", "cgroup", "seccomp"}) {
    const auto check =
        std::find_if(checks.begin(), checks.end(),
                     [name](const outside::MachineCheck& each) { return each.name == name; });
    const bool is_probed = check != checks.end();
    layers.push_back(
        {{"name", name},
         {"available", is_probed ? check->found : true},
         {"required", std::find(required.begin(), required.end(), name) != required.end()},
         {"detail", is_probed ? check->detail : "part of every Linux kernel"}});
  }
  return layers;
}

Json IsolationJson(const Sandboxes& sandboxes) {
  return {
      {"mode", sandboxes.isolation() == outside::IsolationMode::kStrict ? "strict" : "standard"},
      {"language", outside::LanguageName(sandboxes.LanguageOf(sandboxes.default_profile()))},
      {"layers", Layers(sandboxes)}};
}

Json LanguageNotes(const Sandboxes& sandboxes) {
  Json notes = {
      "The value of the last expression is the result; without one, the variable named result.",
      "Each call runs in a fresh process: variables and imports of earlier calls are gone.",
      "Nothing can be installed: there is no pip, and only the listed modules can be imported."};
  if (sandboxes.gives_packages()) {
    notes.back() =
        "Code cannot install anything: there is no pip. Packages passed to execute_code, with "
        "use_container, can be imported in addition to the listed modules.";
  }
  if (sandboxes.LanguageOf(sandboxes.default_profile()) == outside::Language::kFull) {
    notes.back() = "All of Python is available; the list of modules is not enforced.";
    return notes;
  }
  notes.push_back(
      "Ordinary Python is supported: classes, functions, closures, recursion, generators, "
      "comprehensions, "
      "match, async, dataclasses, with, try, annotations and the usual built-ins.");
  notes.push_back(
      "Not available: files (see the profile), __import__, and attributes such as __globals__ or "
      "gi_frame that reach into the interpreter.");
  notes.push_back(
      "Only the names listed for a module are accessible; others raise or are refused with a "
      "hint.");
  return notes;
}

Json PermittedCombinations(const Sandboxes& sandboxes, const Caller& caller) {
  Json names = Json::array();
  for (const std::string& name : sandboxes.combinations()) {
    if (Sandboxes::Permits(caller, name)) names.push_back(name);
  }
  return names;
}

ToolDescription DescribeInfo(const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kInfoName;
  description.title = "Show what the sandbox offers";
  description.description =
      "Lists what code may use here: the security profiles with their modules, packages, "
      "workspaces and the names of each module; the default and maximum limits; unavailable Python "
      "features; the kernel layers that contain the code; and the versions. Call it once before "
      "writing code that imports anything.\n\n"
      "security_profiles.basic.modules is what a call without a profile may import, unless "
      "default_profile names another one. enabled false means that a call may not name that "
      "profile; how_to_enable says why. combinations lists the profiles that may be combined in "
      "one call.\n\n"
      "Takes no arguments. Limits: none of its own; it is answered at once, even while code runs. "
      "Example: {} gives default_profile \"basic\" and resource_limits.timeout 30.";
  description.input_schema = parameters.Schema();
  description.output_schema = SandboxInfoSchema();
  description.read_only = true;
  description.destructive = false;
  description.idempotent = true;
  description.open_world = false;
  return description;
}

}  // namespace

SandboxInfo::SandboxInfo(Sandboxes& sandboxes, const outside::ProfileCatalogue& catalogue,
                         const AnswersConfig& answers)
    : sandboxes_(sandboxes),
      answers_(answers),
      parameters_({}),
      description_(DescribeInfo(parameters_)) {
  std::vector<std::string> listed;
  const core::Profile* basic = nullptr;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    if (each.profile.name == "basic" && !each.modules) basic = &each.profile;
  }
  for (const EnabledProfile& each : sandboxes.enabled()) {
    const std::string& name = each.profile.name;
    listed.push_back(name);
    entries_.push_back(
        {&each, Member(name, EnabledEntry(each, basic, sandboxes, catalogue.installation())),
         Member(name, WithheldEntry(each, catalogue.installation()))});
  }
  const auto is_listed = [&](const std::string& name) {
    return std::find(listed.begin(), listed.end(), name) != listed.end();
  };
  for (const core::Profile& profile : sandboxes.installed()) {
    if (is_listed(profile.name)) continue;
    listed.push_back(profile.name);
    entries_.push_back(
        {nullptr, Member(profile.name, InstalledEntry(profile, catalogue.installation())), ""});
  }
  for (const Tier& tier : Tiers()) {
    if (!is_listed(tier.name))
      entries_.push_back({nullptr, Member(tier.name, MissingEntry(tier)), ""});
  }
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  const Json rest = {{"resource_limits", ResourceLimits(sandboxes.default_profile())},
                     {"packages", PackagesJson(sandboxes)},
                     {"isolation", IsolationJson(sandboxes)},
                     {"language_notes", LanguageNotes(sandboxes)},
                     {"version",
                      {{"belljar", host::kBelljarVersion},
                       {"python", host::kPythonVersion},
                       {"restricted_python", restricted.empty() ? Json() : Json(restricted)}}}};
  ending_ = "," + Dump(rest).substr(1);
}

core::Result<ToolResult> SandboxInfo::Call(const ToolCall& call) {
  ToolResult result;
  std::vector<std::string> problems;
  (void)parameters_.Check(call.arguments, problems);
  if (!problems.empty()) {
    result.text = ProblemsText(kInfoName, problems);
    result.is_error = true;
    return result;
  }
  const core::Result<const EnabledProfile*> defaults = sandboxes_.Choose(nullptr, call.caller);
  result.structured = "{\"success\":true,\"default_profile\":" +
                      Dump(defaults ? Json((*defaults)->profile.name) : Json()) +
                      ",\"combinations\":" + Dump(PermittedCombinations(sandboxes_, call.caller)) +
                      ",\"security_profiles\":{";
  for (const Entry& entry : entries_) {
    if (&entry != &entries_.front()) result.structured += ',';
    const bool is_withheld =
        entry.enabled && !Sandboxes::Permits(call.caller, entry.enabled->profile.name);
    result.structured += is_withheld ? entry.withheld_text : entry.text;
  }
  result.structured +=
      "},\"container_mode\":" + Dump(ContainerMode(sandboxes_.containers().state()));
  result.structured += ending_;
  return result;
}

}  // namespace belljar::server::tools
