#include "server/tools/sandbox_info.h"

#include <algorithm>

#include "engine/core/text.h"
#include "engine/host/outcome.h"
#include "engine/host/suggest.h"
#include "engine/host/version.h"
#include "engine/outside/machine.h"
#include "engine/profiles/model_text.h"
#include "engine/profiles/profile_facts.h"
#include "server/tools/code_parameters.h"
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
  const std::string_view root = core::TopLevelName(module);
  return std::any_of(sets.begin(), sets.end(), [&](const auto& set) {
    return std::find(set.modules.begin(), set.modules.end(), root) != set.modules.end();
  });
}

// The modules allowed by the operator, or all modules, except those of missing packages.
Json Modules(const core::Profile& profile, const std::optional<ModuleList>& chosen,
             const std::vector<installation::MissingPackages>& missing) {
  Json modules = Json::array();
  const ModuleList given = chosen ? GivenModules(profile, *chosen) : ModuleList();
  for (const std::string& module : profiles::ModuleNames(profile)) {
    const bool is_given = !chosen || core::Contains(given, module);
    if (is_given && !IsOfPackages(missing, module)) modules.push_back(module);
  }
  return modules;
}

// Kept short for models: for a tier only what it adds to basic, and nothing for packages, which
// have thousands of names. `basic` is null if it has no entry of its own.
Json NamesOf(const core::Profile& profile, const Json& modules, const core::Profile* basic) {
  Json names = Json::object();
  for (const core::ModuleExports* module : profiles::OwnModules(profile, basic)) {
    if (std::find(modules.begin(), modules.end(), module->name) == modules.end()) continue;
    if (!IsOfPackages(profile.packages, module->name)) names[module->name] = module->exports;
  }
  return names;
}

Json EnabledEntry(const EnabledProfile& enabled, const core::Profile* basic,
                  const Sandboxes& sandboxes, const installation::Installation& installation) {
  const core::Profile& profile = enabled.profile;
  const std::vector<installation::MissingPackages> missing = installation.Missing(profile);
  Json modules = Modules(profile, enabled.modules, missing);
  Json names = NamesOf(profile, modules, basic);
  Json entry = {{"enabled", true}, {"available", missing.empty()}, {"summary", profile.summary}};
  entry.update(Json::parse(profiles::ProfileFactsToJson(profile, installation)));
  if (profile.egress) entry["network"]["allowed_domains"] = sandboxes.network().allowed_domains;
  entry["modules"] = std::move(modules);
  entry["names"] = std::move(names);
  entry["limits"] = LimitsOf(enabled.limits, profile.maximum_limits);
  return entry;
}

Json WithheldEntry(const EnabledProfile& enabled, const installation::Installation& installation) {
  const std::vector<installation::MissingPackages> missing = installation.Missing(enabled.profile);
  return {{"enabled", false},
          {"available", missing.empty()},
          {"summary", enabled.profile.summary},
          {"modules", Modules(enabled.profile, enabled.modules, missing)},
          {"how_to_enable",
           "this caller may not use it; an operator decides which profiles the caller may use"}};
}

Json InstalledEntry(const core::Profile& profile, const installation::Installation& installation) {
  const std::vector<installation::MissingPackages> missing = installation.Missing(profile);
  Json entry = {{"enabled", false}, {"available", missing.empty()}, {"summary", profile.summary}};
  entry.update(Json::parse(profiles::ProfileFactsToJson(profile, installation)));
  // Without the language policy there is no list; basic's modules would only be repeated.
  entry["modules"] =
      profile.without_policy ? Json::array() : Modules(profile, std::nullopt, missing);
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
  const outside::Policy policy = sandboxes.PolicyOf(sandboxes.default_profile());
  return {{"mode", outside::ModeName(sandboxes.isolation())},
          {"policy", outside::PolicyName(policy)},
          {"language", policy == outside::Policy::kOff ? "full" : "restricted"},
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
  if (sandboxes.PolicyOf(sandboxes.default_profile()) == outside::Policy::kOff) {
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

// --- lean ---------------------------------------------------------------------------------------

// Top-level modules only: for a package with hundreds of modules, the package.
std::vector<std::string> Roots(const Json& modules, const Json& known) {
  std::vector<std::string> roots;
  for (const Json& module : modules) {
    const std::string name = module.get<std::string>();
    const std::string_view root = core::TopLevelName(name);
    const bool is_known = std::find(known.begin(), known.end(), root) != known.end() ||
                          std::find(known.begin(), known.end(), name) != known.end();
    if (!is_known && !core::Contains(roots, root)) roots.emplace_back(root);
  }
  profiles::PutBestKnownFirst(roots);
  return roots;
}

Json Without(const Json& modules, const Json& known) {
  Json others = Json::array();
  for (const Json& module : modules) {
    if (std::find(known.begin(), known.end(), module) == known.end()) others.push_back(module);
  }
  return others;
}

// `basic`: the modules of basic if it has an entry of its own, which covers them.
Json LeanEntry(const Json& facts, const Json& basic) {
  Json entry = {{"enabled", facts["enabled"]}, {"available", facts["available"]}};
  if (facts["enabled"] == true) {
    const bool is_basic = facts["modules"] == basic;
    entry["modules"] = is_basic ? basic : Json(Roots(facts["modules"], basic));
  } else {
    entry["how_to_enable"] = facts["how_to_enable"];
  }
  return entry;
}

Json LeanIsolation(const Json& isolation) {
  Json lean = {{"mode", isolation["mode"]}, {"policy", isolation["policy"]}};
  Json missing = Json::array();
  for (const Json& layer : isolation["layers"]) {
    if (layer["available"] == false) missing.push_back(layer["name"]);
  }
  lean["layers"] = isolation["layers"].size() - missing.size();
  if (!missing.empty()) lean["missing"] = missing;
  return lean;
}

std::string ListText(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + item.get<std::string>();
  return text;
}

// A fact of a profile, on one line.
std::string PlainText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("version")) {
    return value["name"].get<std::string>() + " " + value["version"].get<std::string>();
  }
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, item] : value.items()) {
    text += (text.empty() ? "" : ", ") + (value.is_object() ? key + " " : "") + PlainText(item);
  }
  return value.is_object() ? "(" + text + ")" : text;
}

// Those of `roots`, which belong to `modules`: packages first, and what is left of the standard
// library, or of what basic has of it.
std::string OfferedText(const core::Profile* profile, const std::vector<std::string>& roots,
                        const Json& modules) {
  std::vector<std::string> packages, library;
  for (const std::string& root : roots) {
    if (profile && IsOfPackages(profile->packages, root)) packages.push_back(root);
  }
  for (const Json& each : modules) {
    auto module = each.get<std::string>();
    const std::string_view root = core::TopLevelName(module);
    if (core::Contains(packages, root)) continue;
    if (core::Contains(roots, root)) library.push_back(std::move(module));
  }
  std::string text = core::Joined(packages);
  if (library.empty()) return text;
  return text + (text.empty() ? "" : ", ") + profiles::LibraryText(library);
}

std::string ProfileLine(const std::string& name, const core::Profile* profile, const Json& facts,
                        const Json& lean) {
  std::string text = "- " + name;
  if (facts["enabled"] != true) {
    return text + ": not enabled; " + facts["how_to_enable"].get<std::string>() + "\n";
  }
  text += ": " + facts["summary"].get<std::string>();
  const auto roots = Roots(lean["modules"], Json::array());
  if (!roots.empty()) {
    text += (name == "basic" ? " Modules: " : " Adds: ") +
            OfferedText(profile, roots, facts["modules"]) + ".";
  }
  for (const Json& missing : facts.value("missing", Json::array())) {
    text += " Not installed: " + ListText(missing["modules"]) + ".";
  }
  if (const Json& network = facts.value("network", Json()); network.is_object()) {
    const std::string hosts = ListText(network.value("allowed_domains", Json::array()));
    text += " Allowed hosts: " + (hosts.empty() ? "none" : hosts) + ".";
  }
  return text + "\n";
}

std::string LimitsLine(const Json& limits) {
  const Json& maximum = limits["max"];
  return "Limits: timeout " + limits["timeout"].dump() + " s (at most " +
         maximum["timeout"].dump() + "), memory_limit " +
         limits["memory_limit"].get<std::string>() + " (at most " +
         maximum["memory_limit"].get<std::string>() + "), output " +
         core::Bytes{limits["max_output_size"].get<uint64_t>()}.ToString() +
         " for stdout and stderr each.\n";
}

std::string ContainerLine(const Json& mode, const Json& packages) {
  std::string text = "Containers (use_container): ";
  if (mode["enabled"] != true) {
    text += "not enabled.";
  } else if (mode["available"] != true) {
    text += mode["message"].get<std::string>() + ".";
  } else {
    text += mode["engine"].get<std::string>() + ", " + mode["runtime"].get<std::string>() + ".";
  }
  if (packages["enabled"] == true) {
    text += " Packages that calls may request: " + ListText(packages["allowed"]) + ".";
  }
  return text + "\n";
}

std::string IsolationLine(const Json& isolation) {
  std::string text = "Isolation: " + isolation["mode"].get<std::string>() + ", language policy " +
                     isolation["policy"].get<std::string>() + ", " + isolation["layers"].dump() +
                     " kernel layers";
  if (isolation.contains("missing")) text += ", without " + ListText(isolation["missing"]);
  return text + ".\n";
}

constexpr const char* kLanguageLine =
    "No pip, no other modules, and of a module only the names that get_sandbox_info lists for it. "
    "Attributes that reach into the interpreter, such as __globals__ or gi_frame, are refused.\n";

Json PermittedCombinations(const Sandboxes& sandboxes, const Caller& caller) {
  Json names = Json::array();
  for (const std::string& name : sandboxes.combinations()) {
    if (Sandboxes::Permits(caller, name)) names.push_back(name);
  }
  return names;
}

ToolResult AnswerOf(Json object, std::string text) {
  return {Dump(object), std::move(text), false};
}

ToolResult Refused(std::string problem) {
  return RefusedArguments(kInfoName, {std::move(problem)});
}

std::vector<Parameter> InfoParameters(const AnswersConfig& answers) {
  std::vector<Parameter> parameters(2);
  parameters[0].name = "profile";
  parameters[0].description = "Only the details of this profile.";
  parameters[0].max_bytes = 256;
  parameters[1].name = "module";
  parameters[1].description = "Only the names that code may use of this module.";
  parameters[1].max_bytes = 256;
  parameters.push_back(
      DetailParameter(answers, "full: everything at once, with each kernel layer."));
  return parameters;
}

ToolDescription DescribeInfo(const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kInfoName;
  description.title = "Show what the sandbox offers";
  description.description =
      "Lists the profiles with their modules, the limits and what isolates the code. Worth a call "
      "before code that needs files, a network or a package.";
  description.input_schema = parameters.Schema();
  description.output_schema = SandboxInfoSchema();
  description.read_only = true;
  description.destructive = false;
  description.idempotent = true;
  description.open_world = false;
  return description;
}

}  // namespace

SandboxInfo::SandboxInfo(Sandboxes& sandboxes, const profiles::ProfileCatalogue& catalogue,
                         const AnswersConfig& answers)
    : sandboxes_(sandboxes),
      answers_(answers),
      parameters_(InfoParameters(answers)),
      description_(DescribeInfo(parameters_)) {
  std::vector<std::string> listed;
  const core::Profile* basic = nullptr;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    if (each.profile.name == "basic" && !each.modules) basic = &each.profile;
  }
  const auto add = [&](const std::string& name, const EnabledProfile* enabled, Json facts,
                       Json withheld) {
    listed.push_back(name);
    entries_.push_back({name, enabled, facts, withheld, Member(name, facts),
                        enabled ? Member(name, withheld) : ""});
  };
  for (const EnabledProfile& each : sandboxes.enabled()) {
    add(each.profile.name, &each, EnabledEntry(each, basic, sandboxes, catalogue.installation()),
        WithheldEntry(each, catalogue.installation()));
  }
  const auto is_listed = [&](const std::string& name) { return core::Contains(listed, name); };
  for (const core::Profile& profile : sandboxes.installed()) {
    if (is_listed(profile.name)) continue;
    add(profile.name, nullptr, InstalledEntry(profile, catalogue.installation()), Json());
  }
  for (const Tier& tier : Tiers()) {
    if (!is_listed(tier.name)) add(tier.name, nullptr, MissingEntry(tier), Json());
  }
  const std::string restricted = catalogue.installation().PackageVersion("restrictedpython");
  rest_ = {{"resource_limits", ResourceLimits(sandboxes.default_profile())},
           {"packages", PackagesJson(sandboxes)},
           {"isolation", IsolationJson(sandboxes)},
           {"language_notes", LanguageNotes(sandboxes)},
           {"version",
            {{"belljar", host::kBelljarVersion},
             {"python", host::kPythonVersion},
             {"restricted_python", restricted.empty() ? Json() : Json(restricted)}}}};
  rest_text_ = "," + Dump(rest_).substr(1);
}

bool SandboxInfo::IsWithheld(const Entry& entry, const Caller& caller) const {
  return entry.enabled && !Sandboxes::Permits(caller, entry.enabled->profile.name);
}

const Json& SandboxInfo::FactsFor(const Entry& entry, const Caller& caller) const {
  return IsWithheld(entry, caller) ? entry.withheld : entry.facts;
}

ToolResult SandboxInfo::Full(const Caller& caller) const {
  ToolResult result;
  const core::Result<const EnabledProfile*> defaults = sandboxes_.Choose(nullptr, caller);
  result.structured = "{\"success\":true,\"default_profile\":" +
                      Dump(defaults ? Json((*defaults)->profile.name) : Json()) +
                      ",\"combinations\":" + Dump(PermittedCombinations(sandboxes_, caller)) +
                      ",\"security_profiles\":{";
  for (const Entry& entry : entries_) {
    if (&entry != &entries_.front()) result.structured += ',';
    result.structured += IsWithheld(entry, caller) ? entry.withheld_text : entry.full_text;
  }
  result.structured +=
      "},\"container_mode\":" + Dump(ContainerMode(sandboxes_.containers().state()));
  result.structured += rest_text_;
  return result;
}

Json SandboxInfo::ModulesOfBasic(const Caller& caller) const {
  for (const Entry& entry : entries_) {
    const Json& facts = FactsFor(entry, caller);
    if (entry.name == "basic" && facts["enabled"] == true) return facts["modules"];
  }
  return Json::array();
}

ToolResult SandboxInfo::Lean(const Caller& caller) const {
  const core::Result<const EnabledProfile*> defaults = sandboxes_.Choose(nullptr, caller);
  const std::string default_name = defaults ? (*defaults)->profile.name : "none";
  const Json basic = ModulesOfBasic(caller);
  std::string text = std::string("Belljar ") + host::kBelljarVersion + ", CPython " +
                     host::kPythonVersion + ". Default profile: " + default_name + ".\n";
  Json profiles = Json::object();
  for (const Entry& entry : entries_) {
    const Json& facts = FactsFor(entry, caller);
    const Json& lean = profiles[ProfileKey(entry.name)] = LeanEntry(facts, basic);
    const core::Profile* const profile = entry.enabled ? &entry.enabled->profile : nullptr;
    text += ProfileLine(entry.name, profile, facts, lean);
  }
  const Json combinations = PermittedCombinations(sandboxes_, caller);
  if (!combinations.empty()) text += "Combinations: " + ListText(combinations) + ".\n";
  const Json containers = ContainerMode(sandboxes_.containers().state());
  const Json isolation = LeanIsolation(rest_["isolation"]);
  text += LimitsLine(rest_["resource_limits"]) + ContainerLine(containers, rest_["packages"]) +
          IsolationLine(isolation) + (isolation["policy"] == "off" ? "" : kLanguageLine);
  text.pop_back();
  Json object = {
      {"success", true},
      {"version", {{"belljar", host::kBelljarVersion}, {"python", host::kPythonVersion}}},
      {"default_profile", defaults ? Json(default_name) : Json()},
      {"security_profiles", std::move(profiles)},
      {"resource_limits", rest_["resource_limits"]},
      {"container_mode",
       {{"available", containers["available"]}, {"enabled", containers["enabled"]}}},
      {"packages", rest_["packages"]},
      {"isolation", isolation}};
  if (!combinations.empty()) object["combinations"] = combinations;
  return AnswerOf(std::move(object), std::move(text));
}

// A combination has whatever its parts have.
ToolResult SandboxInfo::OfProfiles(const std::string& name, const Caller& caller) const {
  if (const core::Result<const EnabledProfile*> chosen = sandboxes_.Choose(&name, caller);
      !chosen) {
    return Refused(chosen.error().ToString());
  }
  const Json basic = ModulesOfBasic(caller);
  std::string text;
  Json profiles = Json::object();
  for (const std::string& part : PartsOf(ProfileName(name))) {
    for (const Entry& entry : entries_) {
      if (ProfileName(entry.name) != part) continue;
      Json facts = FactsFor(entry, caller);
      facts.erase("names");
      if (entry.name != "basic") facts["modules"] = Without(facts["modules"], basic);
      for (const char* key : {"tiers", "packages", "missing", "workspace", "network", "modules"}) {
        if (facts.contains(key) && facts[key].empty()) facts.erase(key);
      }
      text += (text.empty() ? "" : "\n") + entry.name + ":";
      for (const auto& [key, value] : facts.items()) text += "\n" + key + ": " + PlainText(value);
      profiles[ProfileKey(entry.name)] = std::move(facts);
    }
  }
  return AnswerOf({{"success", true}, {"security_profiles", std::move(profiles)}}, std::move(text));
}

ToolResult SandboxInfo::OfModule(const std::string& name, const Caller& caller) const {
  std::vector<std::string> known;
  for (const Entry& entry : entries_) {
    const Json& facts = FactsFor(entry, caller);
    if (facts["enabled"] != true) continue;
    for (const Json& module : facts["modules"]) {
      known.push_back(module.get<std::string>());
      if (known.back() != name) continue;
      // Packages have thousands of names.
      const Json names = facts.value("names", Json::object()).value(name, Json());
      const std::string text =
          names.is_null() ? "those that its documentation calls public" : ListText(names);
      return AnswerOf({{"success", true},
                       {"module", {{"name", name}, {"profile", entry.name}, {"names", names}}}},
                      name + " (profile " + entry.name + "): " + text);
    }
  }
  return Refused("no profile of this caller has a module " + core::Quoted(name) +
                 host::Suggestion(name, known));
}

core::Result<ToolResult> SandboxInfo::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const bool is_full = WantsFull(answers_, arguments, problems);
  const std::string* const profile = arguments.Text("profile");
  const std::string* const module = arguments.Text("module");
  if (profile && module) problems.push_back("profile and module are mutually exclusive; send one");
  if (!problems.empty()) return RefusedArguments(kInfoName, problems);
  if (module) return OfModule(*module, call.caller);
  if (profile) return OfProfiles(*profile, call.caller);
  return is_full ? Full(call.caller) : Lean(call.caller);
}

}  // namespace belljar::server::tools
