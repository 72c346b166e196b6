#include "server/tools/execute_code.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/core/text.h"
#include "engine/egress/egress_rules.h"
#include "engine/host/answer.h"
#include "engine/host/suggest.h"
#include "engine/outside/workspace.h"
#include "server/tools/artifact_contents.h"
#include "server/tools/code_parameters.h"
#include "server/tools/detail.h"
#include "server/tools/failures.h"
#include "server/tools/output_forwarder.h"
#include "server/tools/output_schemas.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

using std::chrono::milliseconds;
using Type = Parameter::Type;

constexpr const char* kExecuteName = "execute_code";

constexpr double kMinTimeout = 0.1;
// In addition to the interpreter's memory; with less even small programs fail.
constexpr core::Bytes kMinMemory = core::Bytes::Mebi(8);
// Larger messages are refused by the transports anyway.
constexpr core::Bytes kMaxStdin = core::Bytes::Mebi(16);
// Base64 adds a third, and the message also contains the code.
constexpr core::Bytes kMaxFileContent = core::Bytes::Mebi(12);
constexpr size_t kMaxFiles = 100;
// A DNS name with a "*." prefix and a port.
constexpr size_t kMaxDomain = 270;

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

std::vector<Parameter> LimitParameters(const Sandboxes& sandboxes) {
  const core::Limits& defaults = sandboxes.default_profile().limits;
  const core::Limits maximum = MaxLimits(sandboxes);
  return {
      {.name = "timeout",
       .type = Type::kNumber,
       .description = "Seconds, of wall clock and of CPU time.",
       .default_value = SecondsJson(defaults.timeout),
       .minimum = kMinTimeout,
       .maximum = Seconds(maximum.timeout),
       .choices = {}},
      {.name = "memory_limit",
       .type = Type::kSize,
       .description = "Memory for the code: bytes, or with k, m or g, up to " +
                      maximum.memory.ToString() + ".",
       .default_value = defaults.memory.ToString(),
       .minimum = static_cast<double>(kMinMemory.count),
       .maximum = static_cast<double>(maximum.memory.count),
       .choices = {}},
  };
}

bool Has(const Sandboxes& sandboxes, bool (*has)(const core::Profile&)) {
  const std::vector<EnabledProfile>& enabled = sandboxes.enabled();
  return std::any_of(enabled.begin(), enabled.end(),
                     [&](const EnabledProfile& each) { return has(each.profile); });
}

bool HasNetwork(const core::Profile& profile) { return profile.egress.has_value(); }
bool HasWorkspace(const core::Profile& profile) { return profile.workspace.has_value(); }

// Parameters that apply only to profiles of certain tiers.
std::vector<Parameter> TierParameters(const Sandboxes& sandboxes) {
  return {
      {.name = "files",
       .type = Type::kFiles,
       .description = "Files to create in the working directory, with profile filesystem. Up to " +
                      SizeText(kMaxFileContent) + " in all.",
       .default_value = {},
       .max_bytes = kMaxFileContent.count,
       .max_items = kMaxFiles,
       .is_unlisted = !Has(sandboxes, HasWorkspace),
       .choices = {}},
      {.name = "allowed_domains",
       .type = Type::kTextList,
       .description = "Chooses profile network, with only these of the hosts that it allows.",
       .default_value = {},
       .max_bytes = kMaxDomain,
       .max_items = 100,
       .is_unlisted = !Has(sandboxes, HasNetwork),
       .choices = {}},
  };
}

std::string PackagesText(const Sandboxes& sandboxes) {
  std::string allowed;
  for (const std::string& pattern : sandboxes.packages().allowed()) {
    allowed += (allowed.empty() ? "" : ", ") + pattern;
  }
  return "Packages to install before the run, with use_container; the first call with a set waits "
         "for it. Allowed: " +
         allowed + ".";
}

// What the program reads when it starts.
std::vector<Parameter> InputParameters() {
  return {
      {.name = "stdin",
       .type = Type::kText,
       .description = "What input() and sys.stdin read.",
       .default_value = {},
       .max_bytes = kMaxStdin.count,
       .may_hold_nul = true,
       .choices = {}},
      {.name = "args",
       .type = Type::kTextList,
       .description = "sys.argv[1:].",
       .default_value = {},
       .max_bytes = host::kMaxArgument,
       .max_items = host::kMaxArguments,
       .choices = {}},
      {.name = "env",
       .type = Type::kTextMap,
       .description = "os.environ, which has nothing else.",
       .default_value = {},
       .max_bytes = host::kMaxArgument,
       .max_items = host::kMaxArguments,
       .choices = {}},
  };
}

std::vector<Parameter> ContainerParameters(const Sandboxes& sandboxes) {
  return {
      {.name = "packages",
       .type = Type::kTextList,
       .description = PackagesText(sandboxes),
       .default_value = {},
       .max_bytes = container::packages::kMaxRequirement,
       .max_items = container::packages::kMaxRequirements,
       .is_unlisted = !sandboxes.gives_packages(),
       .choices = {}},
      {.name = "use_container",
       .type = Type::kBoolean,
       .description = "Also isolates the run in a container.",
       .default_value = false,
       .is_unlisted = !sandboxes.containers().state().enabled,
       .choices = {}},
  };
}

std::vector<Parameter> ExecuteParameters(const Sandboxes& sandboxes, const AnswersConfig& answers) {
  std::vector<Parameter> parameters = {CodeParameter(sandboxes, "A whole Python program.")};
  const auto add = [&](std::vector<Parameter> more) {
    for (Parameter& parameter : more) parameters.push_back(std::move(parameter));
  };
  add(LimitParameters(sandboxes));
  add({{.name = "capture_output",
        .type = Type::kBoolean,
        .description = "false: only the value is returned.",
        .default_value = true,
        .choices = {}},
       {.name = "allowed_imports",
        .type = Type::kTextList,
        .description = "The only modules that the code may import.",
        .default_value = {},
        .max_bytes = 200,
        .max_items = 500,
        .choices = {}}});
  add(InputParameters());
  add(TierParameters(sandboxes));
  add({ProfileParameter(sandboxes)});
  add(ContainerParameters(sandboxes));
  add({DetailParameter(
      answers, "full: the complete object, with isolation, limits, usage and all output.")});
  return parameters;
}

std::string LanguageText(const Sandboxes& sandboxes) {
  const EnabledProfile& defaults = sandboxes.default_profile();
  if (sandboxes.LanguageOf(defaults) == outside::Language::kFull) {
    return "All of Python is available, with installed packages. ";
  }
  const std::string lacks = std::string(HasWorkspace(defaults.profile) ? "" : "files, ") +
                            (HasNetwork(defaults.profile) ? "" : "network, ");
  return "Profile " + defaults.profile.name + ": the standard library without " + lacks +
         "processes and pip. ";
}

// What a call may use besides the default profile, and what it has to name for that.
std::string OtherProfilesText(const Sandboxes& sandboxes) {
  std::string text;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    const core::Profile& profile = each.profile;
    if (&each == &sandboxes.default_profile()) continue;
    const bool is_chosen = !HasNetwork(profile) && !profile.full_language;
    text += "- " + profile.name + (is_chosen ? "" : " (only if named)") + ": " + profile.summary;
    if (HasWorkspace(profile)) text += " Files that the code writes come back.";
    if (profile.name == "data-science") text += " Figures come back as images.";
    text += '\n';
  }
  if (text.empty()) return "";
  return " Others that are enabled, chosen by what the code imports or by profile:\n" + text;
}

std::string DescriptionText(const Sandboxes& sandboxes) {
  const core::Limits& defaults = sandboxes.default_profile().limits;
  return "Runs a Python program in a fresh process: nothing is left of earlier calls. Answers with "
         "what it printed and the value of its last expression (or of the variable named result), "
         "or with its error, the line and a hint.\n\n" +
         LanguageText(sandboxes) + "get_sandbox_info lists the modules." +
         OtherProfilesText(sandboxes) +
         "\n\nLimits: at timeout or memory_limit the program is stopped, with its output so far; "
         "output after " +
         SizeText(defaults.output) +
         " is lost. The middle of a long part is left out, and a note says where it can be "
         "read.\n\n"
         "Example: {\"code\": \"import math\\nprint('area')\\nmath.pi * 2 ** 2\"} answers\n"
         "stdout:\narea\n\nvalue:\n12.566370614359172";
}

ToolDescription DescribeExecute(const Sandboxes& sandboxes, const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kExecuteName;
  description.title = "Run Python code";
  description.description = DescriptionText(sandboxes);
  description.input_schema = parameters.Schema();
  description.output_schema = AnswerSchema();
  // All effects of a run are confined to its worker, which is destroyed, unless the profile has a
  // network: remote effects persist. Packages also come from outside and are kept for later calls.
  const bool has_network = Has(sandboxes, HasNetwork);
  const bool installs = sandboxes.gives_packages();
  description.read_only = !has_network && !installs;
  description.destructive = has_network;
  description.idempotent = false;  // clocks and random numbers differ
  description.open_world = has_network || installs;
  return description;
}

ToolResult NoContainer(const Sandboxes& sandboxes) {
  outside::SandboxOptions options;
  options.isolation = sandboxes.isolation();
  const std::vector<std::string> layers = outside::RequiredLayers(options);
  std::string list;
  for (const std::string& layer : layers) list += (list.empty() ? "" : ", ") + layer;
  ToolResult result;
  result.is_error = true;
  result.text =
      "execute_code: use_container is true, but containers are not enabled on this server; an "
      "operator enables them with SANDBOX_ENABLE_CONTAINER_MODE=true. Nothing was run. Call again "
      "without use_container: the run is then sealed by " +
      std::to_string(layers.size()) + " kernel layers (" + list +
      "), and memory_limit and timeout apply as well.";
  return result;
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
                                      outside::Language language, bool is_complete,
                                      std::vector<std::string>& problems) {
  const std::optional<ModuleList> requested = arguments.Texts("allowed_imports");
  if (!requested) return profile.modules;
  if (language == outside::Language::kFull) {
    problems.push_back("allowed_imports restricts the language policy, which is disabled " +
                       std::string(profile.profile.full_language
                                       ? "in profile " + profile.profile.name
                                       : "on this server") +
                       "; omit it");
    return std::nullopt;
  }
  const ModuleList known = profile.modules ? GivenModules(profile.profile, *profile.modules)
                                           : outside::ModuleNames(profile.profile);
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

std::string_view RootOf(std::string_view module) { return module.substr(0, module.find('.')); }

// Whether the module or one of its parent packages is a module of the profile.
bool IsOfProfile(const core::Profile& profile, std::string_view module) {
  return std::any_of(
      profile.modules.begin(), profile.modules.end(),
      [&](const core::ModuleExports& each) { return RootOf(each.name) == RootOf(module); });
}

// The profiles for which `has` is true, as alternatives for a call whose profile lacks the feature:
// combined with that profile if possible, so that the call loses nothing.
std::string ProfilesWith(const Sandboxes& sandboxes, const Caller& caller,
                         const core::Profile& named, bool (*has)(const core::Profile&)) {
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

// Files and domains are rejected where they could have no effect, since the caller relies on them.
// An empty list changes nothing, so it is accepted.
void TakeTiers(const Arguments& arguments, const Sandboxes& sandboxes, const Caller& caller,
               const core::Profile& profile, host::Request& request,
               std::vector<std::string>& problems) {
  const auto refuse = [&](const char* argument, const char* what,
                          bool (*has)(const core::Profile&)) {
    const std::string names = ProfilesWith(sandboxes, caller, profile, has);
    problems.push_back(std::string(argument) + ": profile " + profile.name + " has no " + what +
                       (names.empty() ? "; no profile that this caller may use has one"
                                      : "; use one that has: " + names));
  };
  if (auto files = arguments.Files("files")) {
    if (!profile.workspace && !files->empty()) {
      refuse("files", "workspace", HasWorkspace);
    }
    request.files = std::move(*files);
    const core::Result<void> checked = outside::CheckFiles(request.files, profile);
    if (profile.workspace && !checked) problems.push_back(checked.error().ToString());
  }
  if (auto domains = arguments.Texts("allowed_domains")) {
    if (!profile.egress && !domains->empty()) {
      refuse("allowed_domains", "network", HasNetwork);
    }
    if (std::string problem = profile.egress ? DomainsProblem(sandboxes, *domains) : "";
        !problem.empty()) {
      problems.push_back("allowed_domains: " + problem);
    }
    if (profile.egress) request.allowed_domains = std::move(domains);
  }
}

}  // namespace

// Metrics and the log count the output even if it is not captured.
ToolResult ExecuteCode::ResultOf(host::Outcome& outcome, const Plan& plan,
                                 const Caller& caller) const {
  const bool capture_output = plan.capture_output;
  std::string unsaid_stdout, unsaid_stderr;
  if (!capture_output) {
    unsaid_stdout.swap(outcome.stdout_stream.text);
    unsaid_stderr.swap(outcome.stderr_stream.text);
  }
  ToolResult result;
  result.is_error = !outcome.success();
  if (plan.is_full) {
    result.contents = TakeContents(outcome, kFullContents, caller.name, resources_);
    result.structured = host::OutcomeToJson(outcome);
  } else {
    host::AnswerOptions options{answers_.characters};
    options.uris = KeepLongParts(outcome, options.characters, caller.name, resources_);
    std::set<std::string> taken;
    for (const auto& [part, uri] : options.uris) taken.insert(uri);
    result.contents = TakeContents(outcome, kLeanContents, caller.name, resources_, taken);
    result.structured = host::AnswerJson(outcome, options);
    result.text = host::AnswerText(outcome, options);
  }
  if (!capture_output) {
    unsaid_stdout.swap(outcome.stdout_stream.text);
    unsaid_stderr.swap(outcome.stderr_stream.text);
  }
  return result;
}

ExecuteCode::ExecuteCode(Sandboxes& sandboxes, const AnswersConfig& answers,
                         ResourceStore& resources, CallObserver* observer)
    : sandboxes_(sandboxes),
      answers_(answers),
      resources_(resources),
      observer_(observer),
      parameters_(ExecuteParameters(sandboxes, answers)),
      description_(DescribeExecute(sandboxes, parameters_)) {}

ExecuteCode::Plan ExecuteCode::Prepare(const Arguments& arguments, const Caller& caller,
                                       std::vector<std::string>& problems) const {
  Plan plan;
  plan.profile = ChooseProfile(sandboxes_, arguments, caller, problems);
  if (!plan.profile) return plan;
  host::Request& request = plan.request;
  request.limits = TakeLimits(arguments, *plan.profile, problems);
  plan.in_container = arguments.Boolean("use_container").value_or(false);
  if (const auto packages = arguments.Texts("packages")) {
    plan.packages = sandboxes_.packages().Take(*packages, plan.in_container, problems);
  }
  request.allowed_imports = TakeImports(
      arguments, *plan.profile, sandboxes_.LanguageOf(*plan.profile), !plan.packages, problems);
  if (const std::string* input = arguments.Text("stdin")) {
    const core::Bytes bound = request.limits.memory;
    if (input->size() > bound.count) {
      problems.push_back("stdin is " + std::to_string(input->size()) +
                         " bytes long, more than the memory limit of " + bound.ToString() +
                         "; raise memory_limit");
    }
    request.standard_input = *input;
  }
  request.arguments = arguments.Texts("args").value_or(std::vector<std::string>());
  request.environment = arguments.Pairs("env").value_or(std::vector<std::string>());
  if (const core::Result<void> checked = host::CheckArguments(request); !checked) {
    problems.push_back(checked.error().ToString());
  }
  TakeTiers(arguments, sandboxes_, caller, plan.profile->profile, request, problems);
  if (const std::string* code = arguments.Text("code")) request.source = *code;
  plan.capture_output = arguments.Boolean("capture_output").value_or(true);
  plan.is_full = WantsFull(answers_, arguments, problems);
  return plan;
}

// Modules of requested packages are importable in addition to the lists of modules, which do not
// know them. The exception is a name that the profile has: a package with a json.py must not open
// the module json if the operator's list omits it.
core::Result<container::packages::PreparedPackages> ExecuteCode::Install(
    Plan& plan, const ToolCall& call) const {
  const core::Result<int> cancel_fd =
      call.cancellation ? call.cancellation->fd() : core::Result<int>(-1);
  if (!cancel_fd) return cancel_fd.error();
  core::Result<container::packages::PreparedPackages> prepared =
      sandboxes_.packages().Prepare(plan.profile->profile, *plan.packages, *cancel_fd);
  if (prepared && plan.request.allowed_imports) {
    ModuleList& imports = *plan.request.allowed_imports;
    for (const std::string& module : prepared->lock.tree.modules) {
      if (!IsOfProfile(plan.profile->profile, module)) imports.push_back(module);
    }
  }
  return prepared;
}

core::Result<host::Outcome> ExecuteCode::RunPlan(Plan& plan, const outside::OutputSink* sink,
                                                 const ToolCall& call) const {
  if (!plan.packages) {
    return Run(sandboxes_, *plan.profile, plan.request, sink, call,
               plan.in_container ? &plan.profile->profile : nullptr);
  }
  const core::Result<container::packages::PreparedPackages> prepared = Install(plan, call);
  if (!prepared) return prepared.error();
  plan.packages.reset();  // installed
  core::Result<host::Outcome> outcome =
      Run(sandboxes_, *plan.profile, plan.request, sink, call, &prepared->profile);
  if (outcome && outcome->container) outcome->container->packages = prepared->lock.Names();
  return outcome;
}

ToolResult ExecuteCode::Failure(const Plan& plan, const core::Error& error) const {
  if (plan.packages) return PackagesFailed(kExecuteName, error);
  if (plan.in_container) return ContainerFailed(kExecuteName, error);
  return SandboxFailed(kExecuteName, plan.profile->profile.name, error);
}

core::Result<ToolResult> ExecuteCode::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const bool in_container = arguments.Boolean("use_container").value_or(false);
  if (problems.empty() && in_container && !sandboxes_.containers().state().enabled) {
    return NoContainer(sandboxes_);
  }
  Plan plan = Prepare(arguments, call.caller, problems);
  if (!problems.empty()) return RefusedArguments(kExecuteName, problems);
  const bool streams = call.on_output && plan.capture_output;
  OutputForwarder forwarder(call.on_output);
  core::Result<host::Outcome> outcome = RunPlan(plan, streams ? &forwarder.sink() : nullptr, call);
  ToolResult result =
      outcome ? ResultOf(*outcome, plan, call.caller) : Failure(plan, outcome.error());
  Record(observer_, kExecuteName, call, *plan.profile, std::move(plan.request), std::move(outcome));
  return result;
}

}  // namespace belljar::server::tools
