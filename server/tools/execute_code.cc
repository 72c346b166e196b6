#include "server/tools/execute_code.h"

#include <algorithm>
#include <set>

#include "engine/core/text.h"
#include "engine/host/answer.h"
#include "engine/host/suggest.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/model_text.h"
#include "engine/workspace/workspace.h"
#include "server/tools/artifact_contents.h"
#include "server/tools/call_limits.h"
#include "server/tools/code_parameters.h"
#include "server/tools/failures.h"
#include "server/tools/output_forwarder.h"
#include "server/tools/output_schemas.h"
#include "server/tools/read_output.h"
#include "server/tools/tiers.h"

namespace belljar::server::tools {
namespace {

using Type = Parameter::Type;

constexpr const char* kExecuteName = "execute_code";

// Larger messages are refused by the transports anyway.
constexpr core::Bytes kMaxStdin = core::Bytes::Mebi(16);

Parameter WorkspaceParameter(const Sandboxes& sandboxes) {
  const std::string what = Has(sandboxes, HasWorkspace)
                               ? "Files to create in the working directory, and modules (.py) to "
                                 "import."
                               : "Modules (.py) to import.";
  return FilesParameter(what + " Up to " + SizeText(kMaxFileContent) + " in all.");
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

// The program's inputs.
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
      ContainerParameter(sandboxes, "Also isolates the run in a container."),
  };
}

constexpr const char* kNewSession = "new";

std::vector<Parameter> CellParameters(bool has_sessions) {
  Parameter session = SessionParameter();
  session.description =
      "A session, which keeps names, imports and files from call to call; \"new\" opens one.";
  session.required = false;
  Parameter wait = WaitParameter();
  wait.description = "Seconds to wait while the session is busy; 0: fail at once.";
  session.is_unlisted = wait.is_unlisted = !has_sessions;
  return {std::move(session), std::move(wait)};
}

std::vector<Parameter> ExecuteParameters(const Sandboxes& sandboxes, const AnswersConfig& answers,
                                         bool has_sessions) {
  std::vector<Parameter> parameters = {CodeParameter(
      sandboxes, sandboxes.languages().empty() ? "A whole Python program." : "A whole program.")};
  const auto add = [&](std::vector<Parameter> more) {
    for (Parameter& parameter : more) parameters.push_back(std::move(parameter));
  };
  add({TimeoutParameter(sandboxes), MemoryParameter(sandboxes)});
  add({{.name = "capture_output",
        .type = Type::kBoolean,
        .description = "false: only the value is returned.",
        .default_value = true,
        .choices = {}},
       ImportsParameter()});
  add(InputParameters());
  add({WorkspaceParameter(sandboxes), DomainsParameter(sandboxes), ProfileParameter(sandboxes),
       LanguageParameter(sandboxes)});
  add(CellParameters(has_sessions));
  add(ContainerParameters(sandboxes));
  add({DetailParameter(
      answers, "full: the complete object, with isolation, limits, usage and all output.")});
  return parameters;
}

// Those that most programs use; get_sandbox_info lists all.
std::vector<std::string> MainPackages(const core::Profile& profile,
                                      const installation::Installation& installation) {
  constexpr size_t kMaxShown = 12;
  std::vector<std::string> packages = profiles::PackagesOf(profile, installation.Missing(profile));
  if (packages.size() > kMaxShown) {
    packages.resize(kMaxShown);
    packages.back() += " and others";
  }
  return packages;
}

std::string DefaultProfileText(const Sandboxes& sandboxes,
                               const installation::Installation& installation) {
  const EnabledProfile& defaults = sandboxes.default_profile();
  const core::Profile& profile = defaults.profile;
  const bool is_full = sandboxes.PolicyOf(defaults) == outside::Policy::kOff;
  return "Profile " + profile.name + ": " +
         profiles::OfferText(profile, is_full, MainPackages(profile, installation), "") + ". ";
}

// What a call may use besides the default profile, and what it must name for that.
std::string OtherProfilesText(const Sandboxes& sandboxes,
                              const installation::Installation& installation) {
  std::string text;
  for (const EnabledProfile& each : sandboxes.enabled()) {
    const core::Profile& profile = each.profile;
    if (&each == &sandboxes.default_profile()) continue;
    const bool is_chosen = !HasNetwork(profile) && !profile.without_policy;
    text += "- " + profile.name + (is_chosen ? "" : " (only if named)") + ": " + profile.summary;
    const std::vector<std::string> packages = MainPackages(profile, installation);
    if (!packages.empty()) text += " Has " + core::Joined(packages) + ".";
    if (HasWorkspace(profile)) text += " Files that the code writes come back.";
    if (profile.name == "data-science") text += " Figures come back as images.";
    text += '\n';
  }
  if (text.empty()) return "";
  return " Others that are enabled, chosen by what the code imports or by profile:\n" + text;
}

std::string DescriptionText(const Sandboxes& sandboxes,
                            const installation::Installation& installation, bool has_sessions) {
  const core::Limits& defaults = sandboxes.default_profile().limits;
  return profiles::kFreshProcess + std::string(has_sessions ? ", except in a session" : "") + ". " +
         profiles::kAnswersWith + "\n\n" + DefaultProfileText(sandboxes, installation) +
         "get_sandbox_info lists the modules." + OtherProfilesText(sandboxes, installation) +
         "\n\n" + profiles::LimitsText("timeout or memory_limit", SizeText(defaults.output)) +
         ", and a note says where to read it.\n\n"
         "Example: {\"code\": \"import math\\nprint('area')\\nmath.pi * 2 ** 2\"} answers\n"
         "stdout:\narea\n\nvalue:\n12.566370614359172";
}

ToolDescription DescribeExecute(const Sandboxes& sandboxes,
                                const installation::Installation& installation,
                                const ParameterTable& parameters, bool has_sessions) {
  ToolDescription description;
  description.name = kExecuteName;
  description.title = "Run Python code";
  description.description = DescriptionText(sandboxes, installation, has_sessions);
  description.input_schema = parameters.Schema();
  description.output_schema = AnswerSchema();
  // All effects of a run are confined to its worker, which is destroyed, unless the profile has
  // network access: remote effects persist. Packages also come from outside and are kept for later
  // calls.
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
  result.fault = ToolResult::Fault::kArguments;
  result.text = std::string("execute_code: use_container is true, but ") + kContainersNotEnabled +
                ". Nothing was run. Call again without use_container: the run is then sealed by " +
                std::to_string(layers.size()) + " kernel layers (" + list +
                "), and memory_limit and timeout apply as well.";
  return result;
}

// Whether the module or one of its parent packages is a module of the profile.
bool IsOfProfile(const core::Profile& profile, std::string_view module) {
  return std::any_of(profile.modules.begin(), profile.modules.end(),
                     [&](const core::ModuleExports& each) {
                       return core::TopLevelName(each.name) == core::TopLevelName(module);
                     });
}

// Files are rejected where they could have no effect, since the caller relies on them. An empty
// list changes nothing, so it is accepted.
void TakeFiles(const Arguments& arguments, const Sandboxes& sandboxes, const Caller& caller,
               const core::Profile& profile, host::Request& request,
               std::vector<std::string>& problems) {
  auto files = arguments.Files("files");
  if (!files) return;
  request.files = std::move(*files);
  if (!profile.workspace &&
      !std::ranges::all_of(request.files, workspace::IsModule, &host::InputFile::path)) {
    problems.push_back(
        LacksFeature("files", "workspace", sandboxes, caller, profile, HasWorkspace));
    return;
  }
  const core::Result<void> checked = workspace::CheckFiles(request.files, profile);
  if (!checked) problems.push_back(checked.error().ToString());
}

}  // namespace

ToolResult ExecuteCode::ResultOf(const std::shared_ptr<host::Outcome>& shared, const Plan& plan,
                                 const ToolCall& call) const {
  host::Outcome& outcome = *shared;
  const std::string& owner = call.caller.name;
  // Metrics and the log count the output even if it is not captured.
  std::string unsaid_stdout, unsaid_stderr;
  if (!plan.capture_output) {
    unsaid_stdout.swap(outcome.stdout_stream.text);
    unsaid_stderr.swap(outcome.stderr_stream.text);
  }
  ToolResult result;
  result.is_error = !outcome.success();
  if (call.form == ToolCall::Form::kOutcome) {
    result.contents = TakeContents(outcome, kFullContents, owner, resources_);
    result.outcome = plan.capture_output ? shared : std::make_shared<const host::Outcome>(outcome);
  } else if (plan.is_full) {
    result.contents = TakeContents(outcome, kFullContents, owner, resources_);
    result.structured = host::OutcomeToJson(outcome);
  } else {
    host::AnswerOptions options{answers_.characters};
    options.is_new_session = plan.opens_session;
    options.reader = kReadName;
    options.output_limit = "execution.max_output";
    options.uris = KeepLongParts(outcome, options.characters, owner, resources_);
    std::set<std::string> taken;
    for (const auto& [part, uri] : options.uris) taken.insert(uri);
    result.contents = TakeContents(outcome, kLeanContents, owner, resources_, taken);
    result.structured = host::AnswerJson(outcome, options);
    if (call.form == ToolCall::Form::kAnswer) result.text = host::AnswerText(outcome, options);
  }
  if (!plan.capture_output) {
    unsaid_stdout.swap(outcome.stdout_stream.text);
    unsaid_stderr.swap(outcome.stderr_stream.text);
  }
  return result;
}

ExecuteCode::ExecuteCode(Sandboxes& sandboxes, const installation::Installation& installation,
                         const AnswersConfig& answers, ResourceStore& resources,
                         SessionRegistry* sessions, CallObserver* observer)
    : sandboxes_(sandboxes),
      answers_(answers),
      resources_(resources),
      sessions_(sessions),
      observer_(observer),
      parameters_(ExecuteParameters(sandboxes, answers, sessions != nullptr)),
      description_(DescribeExecute(sandboxes, installation, parameters_, sessions != nullptr)) {}

ExecuteCode::Plan ExecuteCode::Prepare(const Arguments& arguments, const ToolCall& call,
                                       std::vector<std::string>& problems) const {
  Plan plan;
  if (const std::string* const session = arguments.Text("session")) {
    PrepareSession(*session, arguments, call, plan, problems);
  } else {
    PrepareTerms(arguments, call.caller, plan, problems);
  }
  if (plan.profile && call.cpu_limit) {
    std::chrono::milliseconds& cpu = plan.request.limits.cpu;
    cpu = std::min(cpu, *call.cpu_limit);
  }
  plan.request.compile_time = call.compile_limit;
  if (plan.profile) PrepareInput(arguments, call, plan, problems);
  return plan;
}

// Profile, limits, modules and hosts, given by the arguments if the session is new.
void ExecuteCode::PrepareSession(const std::string& session, const Arguments& arguments,
                                 const ToolCall& call, Plan& plan,
                                 std::vector<std::string>& problems) const {
  if (!sessions_) {
    problems.push_back(
        "session: this server has no sessions; an operator enables them with sessions.enabled");
    return;
  }
  plan.patience = TakePatience(arguments);
  if (session == kNewSession) {
    plan.opens_session = true;
    if (!arguments.Texts("packages")) return PrepareTerms(arguments, call.caller, plan, problems);
    problems.push_back("packages: a session has only those of its profile; omit one of the two");
    return;
  }
  core::Result<SessionUse> found = SessionUse::Find(*sessions_, session, call);
  if (!found) {
    problems.push_back(found.error().ToString());
    return;
  }
  plan.session.emplace(std::move(*found));
  PrepareCell(arguments, call.caller, plan, problems);
}

// The same as given by the arguments.
void ExecuteCode::PrepareTerms(const Arguments& arguments, const Caller& caller, Plan& plan,
                               std::vector<std::string>& problems) const {
  plan.profile = ChooseProfile(sandboxes_, arguments, caller, plan.opens_session, problems);
  if (!plan.profile) return;
  plan.request.limits = TakeLimits(arguments, *plan.profile, problems);
  plan.in_container = arguments.Boolean("use_container").value_or(false);
  if (const auto packages = arguments.Texts("packages")) {
    plan.packages = sandboxes_.packages().Take(*packages, plan.in_container, problems);
  }
  plan.request.allowed_imports = TakeImports(
      arguments, *plan.profile, sandboxes_.PolicyOf(*plan.profile), !plan.packages, problems);
  plan.request.allowed_domains =
      TakeDomains(arguments, sandboxes_, caller, plan.profile->profile, problems);
}

// The same, as fixed for an open session.
void ExecuteCode::PrepareCell(const Arguments& arguments, const Caller& caller, Plan& plan,
                              std::vector<std::string>& problems) const {
  const SessionTerms& terms = (*plan.session)->terms();
  const auto refuse = [&](const char* argument, const std::string& has) {
    problems.push_back(std::string(argument) + " is fixed when a session is opened" + has +
                       "; omit it, or open another session with it");
  };
  if (const std::string* const name = arguments.Text("profile")) {
    const core::Result<const EnabledProfile*> named = sandboxes_.Choose(name, caller);
    if (!named) {
      problems.push_back(named.error().ToString());
    } else if (*named != terms.profile) {
      refuse("profile", ", and this one has " + terms.profile->profile.name);
    }
  }
  const std::optional<bool> in_container = arguments.Boolean("use_container");
  if (in_container && *in_container != terms.in_container) {
    refuse("use_container", terms.in_container ? ", and this one runs in a container"
                                               : ", and this one does not run in a container");
  }
  for (const char* argument : {"allowed_imports", "allowed_domains", "packages"}) {
    if (arguments.Texts(argument)) refuse(argument, "");
  }
  const EnabledProfile* profile = terms.profile;
  if (const std::string* const language = arguments.Text("language")) {
    const core::Result<const EnabledProfile*> named =
        ChooseKernel(sandboxes_, *language, terms, caller);
    if (!named) return problems.push_back(named.error().ToString());
    profile = *named;
  }
  const bool is_own = profile == terms.profile;
  if (!is_own) plan.request.language = profiles::LanguageOf(profile->profile);
  const core::Limits& limits = is_own ? terms.limits : profile->limits;
  const std::optional<core::Bytes> memory = arguments.Size("memory_limit");
  if (memory && *memory != limits.memory) {
    refuse("memory_limit", ", and this one has " + limits.memory.ToString());
  }
  plan.request.limits = TakeLimits(arguments, *profile, problems);
  plan.request.limits.memory = limits.memory;
  plan.request.allowed_imports =
      is_own ? terms.allowed_imports
             : TakeImports(arguments, *profile, sandboxes_.PolicyOf(*profile), true, problems);
  // The hosts of the session are those of each of its kernels that has a network.
  plan.request.allowed_domains = profile->profile.egress ? terms.allowed_domains : std::nullopt;
  if (CheckCode(*profile, arguments, problems)) plan.profile = profile;
}

// The program's initial state: files, input, arguments.
void ExecuteCode::PrepareInput(const Arguments& arguments, const ToolCall& call, Plan& plan,
                               std::vector<std::string>& problems) const {
  host::Request& request = plan.request;
  if (const std::string* input = arguments.Text("stdin")) {
    const core::Bytes bound = request.limits.memory;
    if (input->size() > bound.count) {
      problems.push_back("stdin is " + std::to_string(input->size()) +
                         " bytes long, more than the memory limit of " + bound.ToString() +
                         (call.profile_setting.empty() ? "; raise memory_limit" : ""));
    }
    request.standard_input = *input;
  } else if (call.ask_for_line && !plan.profile->profile.program) {
    request.functions.emplace_back(host::kAsksInput);
  }
  request.arguments = arguments.Texts("args").value_or(std::vector<std::string>());
  request.environment = arguments.Pairs("env").value_or(std::vector<std::string>());
  if (const core::Result<void> checked = host::CheckArguments(request); !checked) {
    problems.push_back(checked.error().ToString());
  }
  TakeFiles(arguments, sandboxes_, call.caller, plan.profile->profile, request, problems);
  if (const std::string* code = arguments.Text("code")) request.source = *code;
  plan.capture_output = arguments.Boolean("capture_output").value_or(true);
  plan.is_full = WantsFull(answers_, arguments, problems);
}

// Modules of requested packages are importable in addition to the lists of modules, which do not
// contain them. The exception is a name that the profile has: a package with a json.py must not
// make the module json available if the operator's list omits it.
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

core::Result<host::Outcome> ExecuteCode::RunPlan(Plan& plan, const run::OutputSink* sink,
                                                 const ToolCall& call) const {
  if (plan.session) {
    if (!plan.request.language.empty()) {
      core::Result<void> added =
          plan.session->AddKernel(sandboxes_, *sessions_, *plan.profile, call);
      if (!added) return added.error();
    }
    return RunCell(sandboxes_, **plan.session, *plan.profile, plan.request, sink, call,
                   plan.patience);
  }
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

ToolResult ExecuteCode::Failure(const Plan& plan, const core::Error& error,
                                const Caller& caller) const {
  if (plan.packages) return PackagesFailed(kExecuteName, error);
  if (plan.session) {
    return SessionFailed(kExecuteName, error, **plan.session, *sessions_, caller, plan.patience);
  }
  if (plan.in_container) return ContainerFailed(kExecuteName, error);
  return SandboxFailed(kExecuteName, plan.profile->profile.name, error);
}

core::Result<ToolResult> ExecuteCode::CallSession(Plan& plan, const ToolCall& call) const {
  if (plan.opens_session) {
    const SessionTerms terms{plan.profile, plan.request.limits, plan.request.allowed_imports,
                             plan.request.allowed_domains, plan.in_container};
    core::Result<SessionUse> opened =
        SessionUse::Open(sandboxes_, *sessions_, observer_, terms, call);
    if (!opened) return NotOpened(kExecuteName, terms, opened.error());
    plan.session.emplace(std::move(*opened));
  }
  core::Result<ToolResult> result = RunAndAnswer(plan, call);
  if (result && plan.opens_session) result->session = (*plan.session)->id();
  // Nobody knows its id yet.
  const bool is_lost = call.cancellation && call.cancellation->cancelled();
  if (plan.opens_session && is_lost) {
    (void)sessions_->Close(call.caller.name, (*plan.session)->id(), kCancelledOpening);
  }
  return result;
}

core::Result<ToolResult> ExecuteCode::RunAndAnswer(Plan& plan, const ToolCall& call) const {
  const bool is_watched = call.execution && call.execution->WantsOutput();
  const bool streams = (call.on_output || is_watched) && plan.capture_output;
  const std::function<void(std::string_view)> on_output = [&](std::string_view text) {
    if (call.on_output) call.on_output(text);
    if (is_watched) call.execution->Print(text);
  };
  std::optional<OutputForwarder> forwarder;
  if (streams) forwarder.emplace(on_output);
  core::Result<host::Outcome> ran = RunPlan(plan, forwarder ? &forwarder->sink() : nullptr, call);
  if (!ran) {
    ToolResult result = Failure(plan, ran.error(), call.caller);
    const bool has_run = !plan.session || !IsCallersFault(ran.error(), **plan.session);
    if (has_run) {
      Record(observer_, kExecuteName, call, *plan.profile, std::move(plan.request), ran.error());
    }
    return result;
  }
  const auto outcome = std::make_shared<host::Outcome>(std::move(*ran));
  ToolResult result = ResultOf(outcome, plan, call);
  Record(observer_, kExecuteName, call, *plan.profile, std::move(plan.request),
         std::shared_ptr<const host::Outcome>(outcome));
  return result;
}

core::Result<ToolResult> ExecuteCode::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const bool in_container = arguments.Boolean("use_container").value_or(false);
  if (problems.empty() && in_container && !sandboxes_.containers().state().enabled) {
    return NoContainer(sandboxes_);
  }
  Plan plan = Prepare(arguments, call, problems);
  if (!problems.empty()) return RefusedArguments(kExecuteName, problems);
  const bool is_cell = plan.session || plan.opens_session;
  return is_cell ? CallSession(plan, call) : RunAndAnswer(plan, call);
}

}  // namespace belljar::server::tools
