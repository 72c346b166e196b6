#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/container_options.h"
#include "cli/exit_code.h"
#include "cli/guest_output.h"
#include "cli/interruption.h"
#include "cli/language_choice.h"
#include "cli/limit_options.h"
#include "cli/network_options.h"
#include "cli/outcome_text.h"
#include "cli/package_options.h"
#include "cli/project.h"
#include "cli/receipt.h"
#include "cli/run_files.h"
#include "cli/sandbox_choice.h"
#include "cli/shell.h"
#include "cli/source_file.h"
#include "cli/terminal_input.h"
#include "engine/core/text.h"
#include "engine/host/answer.h"
#include "engine/host/suggest.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/loader.h"
#include "engine/run/input.h"

namespace belljar::cli {
namespace {

using StringList = std::vector<std::string>;
const StringList kLayers = {"namespaces", "privileges", "rlimits", "landlock", "seccomp"};

struct RunArguments {
  std::optional<std::string> file;
  std::optional<std::string> code;
  std::optional<std::string> module;
  std::optional<std::string> standard_input;
  StringList arguments;  // of the program
  std::optional<std::string> project;
  StringList environment;
  std::optional<StringList> allowed_imports;
  std::optional<StringList> without;
  StringList files;
  std::optional<std::string> save_artifacts;
  bool force = false;
  std::optional<std::string> receipt;
  std::optional<std::string> receipt_key;
  SandboxChoice sandbox;
  const CLI::Option* isolation = nullptr;  // to distinguish its default from an explicit value
  ContainerArguments container;
  PackageArguments packages;
  NetworkArguments network;
  LimitOptions limits;
  std::optional<std::string> input_timeout;
  PolicyChoice policy;
  bool show_result = false;
  bool json = false;
  bool lean = false;
  host::AnswerOptions answer;

  RunArguments() { answer.output_limit = "--max-output"; }
  bool is_live() const { return !json && !lean; }
};

// The resolved arguments.
struct Job {
  outside::SandboxOptions sandbox;
  std::optional<container::backend::ContainerOptions> container;
  std::optional<PackageSelection> packages;  // installed before the run
  std::vector<std::string> installed;        // the resolved packages
  host::Request request;
  bool has_source = false;
  std::optional<host::Finding> refused;  // the source is too long to be sent to a worker
  std::chrono::milliseconds input_timeout{};
  bool asks = false;  // the person at the terminal for input
  std::optional<SaveDirectory> save_artifacts;
  std::optional<server::audit::SigningKey> receipt_key;
};

// Like python: after -c CODE everything is an argument of the program; after -- the first argument
// is the program, unless it was named before.
void SortArguments(RunArguments& arguments) {
  StringList& rest = arguments.arguments;
  if ((arguments.code || arguments.module) && arguments.file) {
    rest.insert(rest.begin(), *std::exchange(arguments.file, std::nullopt));
  } else if (!arguments.code && !arguments.module && !arguments.file && !rest.empty()) {
    arguments.file = std::move(rest.front());
    rest.erase(rest.begin());
  }
}

// A folder or a module in place of a file.
core::Result<void> TakeProject(RunArguments& arguments) {
  std::error_code error;
  if (!arguments.module &&
      !(arguments.file && std::filesystem::is_directory(*arguments.file, error))) {
    return {};
  }
  if (arguments.module && arguments.code) return UsersError("use either -m or -c");
  core::Result<Project> project =
      arguments.module ? ProjectOf(*arguments.module) : ProjectIn(*arguments.file);
  if (!project) return project.error();
  arguments.file = std::move(project->program);
  if (project->folder) arguments.files.push_back(std::move(*project->folder));
  return {};
}

core::Result<void> TakeArguments(const RunArguments& arguments, Job& job) {
  job.request.arguments = arguments.arguments;
  job.request.environment = arguments.environment;
  return host::CheckArguments(job.request);
}

// The path of the program; "-" for standard input.
core::Result<std::string> ChooseFile(const RunArguments& arguments) {
  if (arguments.file) return *arguments.file;
  if (!isatty(STDIN_FILENO)) return std::string("-");
  return UsersError(
      "which program?\n"
      "  belljar run program.py         a file\n"
      "  belljar run -c 'print(6*7)'    code on the command line\n"
      "  belljar run - < program.py     standard input");
}

core::Result<void> TakeSource(const RunArguments& arguments, Job& job) {
  if (job.has_source) return {};
  job.has_source = true;
  const core::Bytes bound = job.sandbox.profile.maximum_limits.source;
  if (arguments.code) {
    job.request.filename = "<string>";
    job.request.source = *arguments.code;
    return {};
  }
  core::Result<std::string> file = ChooseFile(arguments);
  if (!file) return file.error();
  if (*file == "-" && arguments.standard_input == "-") {
    return UsersError("standard input cannot be both the program and its --stdin");
  }
  core::Result<SourceFile> source = ReadSourceFile(*file, bound);
  if (!source) return source.error();
  job.request.filename = core::Printable(source->name);  // appears in tracebacks
  if (source->is_too_long) job.refused = TooLongFinding(*source, bound);
  job.request.source = std::move(source->bytes);
  return {};
}

// After everything else that is the program's.
core::Result<void> CheckOtherLanguage(const RunArguments& /*arguments*/, Job& job) {
  if (job.refused && job.sandbox.profile.program) {
    return UsersError(job.sandbox.profile.program->title + ": " + job.refused->reason);
  }
  return outside::CheckProgram(job.sandbox.profile, job.request);
}

core::Result<void> TakeStandardInput(const RunArguments& arguments, Job& job) {
  core::Result<std::chrono::milliseconds> timeout = ResolveInputTimeout(arguments.input_timeout);
  if (!timeout) return timeout.error();
  job.input_timeout = *timeout;
  if (!arguments.standard_input && job.sandbox.profile.program) return {};
  if (!arguments.standard_input) {
    // Without its output on the terminal a program's questions could not be seen.
    job.asks = arguments.is_live() && arguments.file != "-" && TerminalInput::IsThere();
    if (job.asks) job.request.functions.emplace_back(host::kAsksInput);
    return {};
  }
  // A guest could not hold more than this, and /dev/zero never ends.
  const core::Bytes bound = job.request.limits.memory;
  core::Result<SourceFile> input = ReadSourceFile(*arguments.standard_input, bound);
  if (!input) return input.error();
  if (input->is_too_long) {
    return UsersError("--stdin " + core::Quoted(*arguments.standard_input) +
                      " is more than the memory limit of " + bound.ToString() + "; raise --memory");
  }
  job.request.standard_input = std::move(input->bytes);
  return {};
}

core::Result<void> TakeFiles(const RunArguments& arguments, Job& job) {
  core::Result<std::vector<host::InputFile>> files =
      ReadInputFiles(arguments.files, job.sandbox.profile, "--file", true);
  if (!files) return files.error();
  job.request.files = std::move(*files);
  return {};
}

// The last step: creates a directory, which must only happen if the run will start.
core::Result<void> TakeSaveDirectory(const RunArguments& arguments, Job& job) {
  if (!arguments.save_artifacts) {
    return arguments.force ? UsersError("--force requires --save-artifacts") : core::Result<void>();
  }
  core::Result<SaveDirectory> directory =
      SaveDirectory::Open(*arguments.save_artifacts, arguments.force);
  if (!directory) return directory.error();
  job.save_artifacts = std::move(*directory);
  return {};
}

// A run whose receipt could not be signed must not start.
core::Result<void> TakeReceiptKey(const RunArguments& arguments, Job& job) {
  if (!arguments.receipt) {
    return arguments.receipt_key ? UsersError("--receipt-key requires --receipt")
                                 : core::Result<void>();
  }
  core::Result<server::audit::SigningKey> key = OpenReceiptKey(arguments.receipt_key);
  if (!key) return key.error();
  job.receipt_key.emplace(std::move(*key));
  return {};
}

core::Result<void> TakeImports(const RunArguments& arguments, Job& job) {
  if (!arguments.allowed_imports) return {};
  if (job.sandbox.policy == outside::Policy::kOff) {
    return NoImportsToRestrict(job.sandbox.profile);
  }
  job.request.allowed_imports = arguments.allowed_imports;
  // The modules of packages are known only after installation.
  if (job.packages) return {};
  return profiles::CheckAllowedImports(*arguments.allowed_imports, job.sandbox.profile,
                                       "--allow-import");
}

core::Result<void> TakeNetwork(const RunArguments& arguments, Job& job) {
  return ResolveNetwork(arguments.network, job.sandbox);
}

core::Result<void> TakeLayers(const RunArguments& arguments, Job& job) {
  for (const std::string& layer : arguments.without.value_or(StringList())) {
    if (std::find(kLayers.begin(), kLayers.end(), layer) == kLayers.end()) {
      return UsersError("--without " + core::Quoted(layer) + " is none of " + JoinChoices(kLayers) +
                        host::Suggestion(layer, kLayers));
    }
    job.sandbox.without_layers.push_back(layer);
  }
  return {};
}

core::Result<void> TakeContainer(const RunArguments& arguments, Job& job) {
  core::Result<std::optional<container::backend::ContainerOptions>> container =
      ResolveContainer(arguments.container, *arguments.isolation, job.sandbox);
  if (!container) return container.error();
  if (!*container) return {};
  if (!job.sandbox.without_layers.empty()) {
    return UsersError(
        "--without cannot be combined with --container: it tests the layers of this machine");
  }
  job.container = std::move(*container);
  return {};
}

core::Result<void> TakePackages(const RunArguments& arguments, Job& job) {
  core::Result<std::optional<PackageSelection>> packages =
      ResolvePackages(arguments.packages, arguments.sandbox.profile.value_or(""));
  if (!packages) return packages.error();
  if (!*packages) return {};
  if (const core::Result<void> checked = container::packages::CheckPlace(
          job.sandbox.profile, (*packages)->requirements, job.container.has_value());
      !checked) {
    return UsersError("--package: " + checked.error().detail);
  }
  if (arguments.container.image) {
    return UsersError("--package builds its own image: omit --image");
  }
  job.packages = std::move(*packages);
  if (job.container) job.packages->options.selection = job.container->selection;
  return {};
}

// Without --profile. In a container only basic, for which there is an image.
core::Result<void> TakeUnnamedProfile(const RunArguments& arguments,
                                      profiles::ProfileCatalogue& catalogue, Job& job) {
  if (core::Result<void> taken = TakeSource(arguments, job); !taken) return taken;
  const std::string text = job.request.source + TextOfModules(arguments.files);
  const profiles::ProgramNeeds needs{.source = text,
                                     .modules = arguments.allowed_imports.value_or(StringList()),
                                     .files = !arguments.files.empty(),
                                     .hosts = arguments.network.names_hosts()};
  if (job.refused || !profiles::NeedsOtherProfiles(needs)) return {};
  if (core::Result<void> read = catalogue.ReadOthers(); !read) return read;
  job.sandbox.other_profiles =
      profiles::ModulesByProfile(catalogue.profiles(), job.sandbox.profile.name);
  if (arguments.container.container) return {};
  return ChooseUnnamed(arguments.sandbox, needs, catalogue, job.sandbox);
}

// Another language has its own profile, which stands in the place of one of Python's.
core::Result<void> TakeLanguage(const RunArguments& arguments,
                                profiles::ProfileCatalogue& catalogue, Job& job) {
  const std::optional<std::string> named = NamedLanguage(arguments.policy);
  if (!named) {
    if (core::Result<void> taken = TakeSource(arguments, job); !taken) return taken;
  }
  core::Result<std::optional<core::Profile>> language = ChooseLanguage(
      named, arguments.file.value_or(""), job.request.source, catalogue.installation());
  if (!language) return language.error();
  if (!*language) return {};
  const std::string& title = (*language)->program->title;
  for (const auto& [is_given, option] :
       {std::pair{arguments.allowed_imports.has_value(), "--allow-import"},
        {arguments.show_result, "--show-result"}}) {
    if (is_given) return UsersError(std::string(option) + " is for Python, not for " + title);
  }
  const bool names_hosts = arguments.network.names_hosts();
  if (names_hosts) {
    if (core::Result<void> read = catalogue.ReadOthers(); !read) return read;
  }
  core::Result<core::Profile> connected =
      WithChosenNetwork(std::move(**language), job.sandbox.profile, arguments.sandbox.profile,
                        names_hosts, catalogue);
  if (!connected) return connected.error();
  job.sandbox.profile = std::move(*connected);
  return {};
}

// Errors are the user's.
core::Result<Job> Prepare(const RunArguments& arguments, profiles::ProfileCatalogue& catalogue) {
  Job job;
  core::Result<outside::SandboxOptions> sandbox = ResolveSandbox(arguments.sandbox, catalogue);
  if (!sandbox) return sandbox.error();
  job.sandbox = std::move(*sandbox);
  if (core::Result<void> taken = TakeLanguage(arguments, catalogue, job); !taken)
    return taken.error();
  if (!arguments.sandbox.profile && !job.sandbox.profile.program) {
    if (core::Result<void> taken = TakeUnnamedProfile(arguments, catalogue, job); !taken)
      return taken.error();
  }
  const core::Result<outside::Policy> policy = ResolvePolicy(arguments.policy, job.sandbox.profile);
  if (!policy) return policy.error();
  job.sandbox.policy = *policy;
  core::Result<core::Limits> limits = ResolveLimits(arguments.limits, job.sandbox.profile);
  if (!limits) return limits.error();
  job.request.limits = *limits;
  for (const auto take : {TakeLayers, TakeContainer, TakePackages, TakeNetwork, TakeImports,
                          TakeSource, TakeArguments, TakeStandardInput, TakeFiles,
                          CheckOtherLanguage, TakeReceiptKey, TakeSaveDirectory}) {
    if (core::Result<void> taken = take(arguments, job); !taken) return taken.error();
  }
  return job;
}

// Reports Belljar's own failure; with --json also as an object, so that there is always one.
int Fail(const core::Error& error, bool json) {
  const int code = OwnFailure(error);
  if (!json) return code;
  const nlohmann::ordered_json object = {
      {"success", false},
      {"status", "error"},
      {"error", {{"type", "BelljarError"}, {"message", error.ToString()}}}};
  return Answer(JsonText(object), code);
}

// The outcome for a program that is too long to be sent to a worker.
host::Outcome Refusal(const Job& job) {
  host::Outcome outcome;
  outcome.status = host::Status::kRefused;
  outcome.findings = {*job.refused};
  outcome.error = host::GuestError{.type = "PolicyError",
                                   .message = job.refused->rule + " " + job.refused->reason,
                                   .traceback = "",
                                   .hint = job.refused->hint};
  outcome.limits = job.request.limits;
  outcome.isolation.mode = outside::ModeName(job.sandbox.isolation);
  outcome.isolation.policy = outside::PolicyName(job.sandbox.policy);
  return outcome;
}

std::string OutcomeJson(const host::Outcome& outcome, const RunArguments& arguments) {
  if (!arguments.lean) return host::OutcomeToJson(outcome, JsonIndent()) + "\n";
  nlohmann::ordered_json object =
      nlohmann::ordered_json::parse(host::AnswerJson(outcome, arguments.answer));
  object["text"] = host::AnswerText(outcome, arguments.answer);
  return JsonText(object);
}

int Report(const host::Outcome& outcome, const RunArguments& arguments, const Job& job) {
  int code = ExitOfStatus(outcome.status);
  std::optional<Saved> saved;
  if (job.save_artifacts) {
    saved = Saved{job.save_artifacts->name, SaveArtifacts(outcome.artifacts, *job.save_artifacts)};
    if (const core::Error* error = saved->first_error()) code = OwnFailure(*error);
  }
  if (arguments.json) return Answer(OutcomeJson(outcome, arguments), code);
  if (arguments.lean) return Answer(host::AnswerText(outcome, arguments.answer) + "\n", code);
  if (arguments.show_result && outcome.result_repr) {
    code = Answer(*outcome.result_repr + "\n", code);
  }
  PrintReport(OutcomeText(outcome, job.request.filename) +
              ArtifactsText(outcome, saved ? &*saved : nullptr));
  return code;
}

// Blocks until the packages are installed, and the engine has the image.
core::Result<void> InstallPackages(Job& job, int cancel_fd) {
  if (!job.container) return ShowPackages(*job.packages, cancel_fd, job.sandbox.profile);
  const core::Result<std::unique_ptr<container::packages::Packages>> packages =
      OpenPackages(*job.packages);
  if (!packages) return packages.error();
  core::Result<container::packages::PreparedPackages> prepared =
      (*packages)->Prepare(job.sandbox.profile, job.packages->requirements, cancel_fd);
  if (!prepared) return prepared.error();
  job.sandbox.profile = std::move(prepared->profile);
  job.container->selection = std::move(prepared->selection);
  job.installed = prepared->lock.Names();
  if (!job.request.allowed_imports) return {};
  return profiles::CheckAllowedImports(*job.request.allowed_imports, job.sandbox.profile,
                                       "--allow-import");
}

core::Result<host::Outcome> RunInContainer(Job& job, const run::RunOptions& options) {
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      container::backend::OpenContainerSandbox(std::move(job.sandbox), *job.container);
  if (!sandbox) return sandbox.error();
  return (*sandbox)->Run(job.request, options);
}

int RunJob(const RunArguments& arguments, Job job) {
  Interruption interruption;
  if (job.packages) {
    const core::Result<void> installed = InstallPackages(job, interruption.fd());
    if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
    if (!installed) return Fail(installed.error(), arguments.json);
  }
  const std::string profile = job.sandbox.profile.name;
  GuestOutput output(interruption);
  if (output.start_error()) return Fail(*output.start_error(), arguments.json);
  run::RunOptions options;
  options.cancel_fd = interruption.fd();
  if (arguments.is_live()) options.sink = &output.sink();
  TerminalInput input(job.input_timeout, LinesOfTerminal(interruption.fd()));
  if (job.asks) {
    options.call = run::AnsweringInput(
        [&](const run::InputQuestion& question) { return input.Ask(question); });
  }
  core::Result<host::Outcome> outcome =
      job.container ? RunInContainer(job, options)
                    : outside::RunOnce(std::move(job.sandbox), job.request, options,
                                       job.receipt_key.has_value());
  if (outcome && outcome->container) outcome->container->packages = job.installed;
  const core::Result<void> written = output.Finish();
  if (interruption.signal() != 0) {
    // A run ended by an interruption is not a failure of ours.
    const int code = ExitOfSignal(interruption.signal());
    if (!outcome) return code;
    if (arguments.json) return Answer(OutcomeJson(*outcome, arguments), code);
    // Where it was.
    const bool is_told = interruption.signal() != SIGPIPE && outcome->error;
    if (is_told && !outcome->error->traceback.empty()) {
      PrintReport(OutcomeText(*outcome, job.request.filename));
    }
    return code;
  }
  if (!outcome) return Fail(outcome.error(), arguments.json);
  NameProfiles(profile, *outcome);
  const int code = Report(*outcome, arguments, job);
  if (job.receipt_key) {
    if (job.asks) job.request.standard_input = input.typed();
    const core::Result<void> receipt =
        WriteReceipt(*arguments.receipt, *job.receipt_key, profile, job.request, *outcome);
    if (!receipt) return OwnFailure(receipt.error());
  }
  return ExitAfterOutput(written, code);
}

// A command instead of a program.
int RunOverProject(RunArguments arguments) {
  const std::pair<bool, const char*> only_for_programs[] = {
      {arguments.code.has_value(), "-c"},
      {arguments.module.has_value(), "-m"},
      {arguments.standard_input.has_value(), "--stdin"},
      {arguments.allowed_imports.has_value(), "--allow-import"},
      {arguments.without.has_value(), "--without"},
      {arguments.save_artifacts.has_value(), "--save-artifacts"},
      {arguments.receipt.has_value(), "--receipt"},
      {arguments.sandbox.profile.has_value(), "--profile"},
      {arguments.container.container, "--container"},
      {arguments.show_result, "--show-result"},
      {arguments.json, "--json"},
      {arguments.lean, "--lean"}};
  for (const auto& [is_given, option] : only_for_programs) {
    if (is_given)
      return UsageError(
          "run", std::string("--project runs a command, and ") + option + " is for programs");
  }
  ShellArguments shell{.name = "run",
                       .command = std::move(arguments.arguments),
                       .project = std::move(arguments.project),
                       .files = std::move(arguments.files),
                       .environment = std::move(arguments.environment),
                       .packages = std::move(arguments.packages),
                       .sandbox = std::move(arguments.sandbox),
                       .limits = std::move(arguments.limits)};
  if (arguments.file) shell.command.insert(shell.command.begin(), *arguments.file);
  if (shell.command.empty())
    return UsageError("run", "--project needs a command: belljar run --project DIR -- make");
  return RunShell(shell);
}

int ExecuteRun(RunArguments arguments) {
  if (arguments.project) return RunOverProject(std::move(arguments));
  SortArguments(arguments);
  if (const core::Result<void> taken = TakeProject(arguments); !taken) {
    return UsageError("run", taken.error().ToString());
  }
  core::Result<profiles::ProfileCatalogue> catalogue =
      arguments.sandbox.profile ? profiles::ProfileCatalogue::Open()
                                : profiles::ProfileCatalogue::OpenWith(profiles::kUnnamedProfile);
  if (!catalogue) return Fail(catalogue.error(), arguments.json);
  core::Result<Job> job = Prepare(arguments, *catalogue);
  if (!job) return UsageError("run", job.error().ToString());
  if (job->refused) {
    if (job->receipt_key) Say("belljar: no receipt: the program was not read\n");
    return Report(Refusal(*job), arguments, *job);
  }
  return RunJob(arguments, std::move(*job));
}

}  // namespace

Command MakeRunCommand(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* parser = app.add_subcommand("run", "Run a program in the sandbox");
  AddText(parser, "FILE", arguments->file, kFileType,
          "the program, or a folder with a __main__.py; - or omitted: standard input. It is "
          "followed by the program's own arguments; its options follow --");
  AddText(parser, "-c", arguments->code, "CODE", "the program as text");
  AddText(parser, "-m", arguments->module, "MODULE",
          "the program as a module or package below the current directory, with its package");
  AddText(
      parser, "--stdin", arguments->standard_input, kFileType,
      "file that the program reads as standard input; -: standard input (default: at a terminal "
      "it asks you for each line; else none)");
  AddRepeatable(
      parser, "--file", arguments->files, "FILE[:DST]",
      "file or folder to copy into the program's workspace, under its own name or as DST; "
      "repeatable. The program can import modules among them, in any profile");
  AddText(parser, "--project", arguments->project, "DIR",
          "run a command over this folder: belljar run --project DIR -- COMMAND. Nothing in it "
          "changes; belljar changes shows what the command did, and applies it");
  AddRepeatable(parser, "--env", arguments->environment, "NAME=VALUE",
                "environment variable of the program; repeatable. None are inherited");
  AddText(parser, "--save-artifacts", arguments->save_artifacts, "DIR",
          "write the program's files into DIR, created if missing");
  parser->add_flag("--force", arguments->force, "let --save-artifacts overwrite existing files");
  AddText(parser, "--receipt", arguments->receipt, kFileType,
          "write a signed receipt: digests of inputs and outputs, limits, and the observed "
          "layers; see belljar receipt verify");
  AddText(parser, "--receipt-key", arguments->receipt_key, kFileType,
          "Ed25519 key that signs it (default: this user's own, created on first use)");
  arguments->isolation = AddSandboxOptions(parser, arguments->sandbox);
  AddContainerOptions(parser, arguments->container);
  AddPackageOptions(parser, arguments->packages, PackageKinds::kAll);
  AddLimitOptions(parser, arguments->limits);
  AddInputTimeout(parser, arguments->input_timeout);
  AddImportsOption(parser, arguments->allowed_imports);
  AddNetworkOptions(parser, arguments->network);
  AddPolicyAndLanguage(
      parser, arguments->policy, "the program",
      "language of the program, one of belljar languages, or a file such as ./own.toml "
      "(default: by the file's name or its first line, else python)");
  AddList(parser, "--without", arguments->without, JoinChoices(kLayers),
          "disable one layer, to test that the others hold; the result reports this");
  parser->add_flag("--show-result", arguments->show_result,
                   "print the repr of the last expression, or else of the variable \"result\"");
  parser->add_flag("--json", arguments->json,
                   "print one JSON object instead of the program's output");
  parser->add_flag(
      "--lean", arguments->lean,
      "print what a model gets: output, value and error as text, long parts cut in the "
      "middle; with --json, omit default fields and add this text");
  parser
      ->add_option("--answer-characters", arguments->answer.characters,
                   "with --lean: length of stdout, stderr, the value and the error, each")
      ->type_name("N")
      ->check(CLI::Range(200, 1'000'000))
      ->capture_default_str();
  SetExamples(parser,
              {"belljar run program.py  # live output and input, errors on stderr",
               "belljar run -c 'print(sum(range(10)))'  # code on the command line",
               "belljar run - < program.py  # a program from standard input",
               "belljar run program.py --stdin data.txt  # data for input() and sys.stdin",
               "belljar run program.py x y -- --verbose  # the program's own arguments",
               "belljar run a.py --file a.csv  # a file to read: needs filesystem",
               "belljar run a.py --file helper.py --file lib/  # modules to import",
               "belljar run script.sh a b  # another language: belljar languages",
               "belljar run project  # its __main__.py; also -m package",
               "belljar run a.py --save-artifacts out  # keep files, figures, tables",
               "belljar run program.py --timeout 5 --memory 64m  # killed at the limits",
               "belljar run program.py --allow-import math,json  # fewer modules",
               "belljar run a.py --profile network --allow-domain a.org  # one host",
               "belljar run program.py --container  # in a container, too: gVisor or Docker",
               "belljar run a.py --container --package six  # from PIP_INDEX_URL",
               "belljar run program.py --json  # result, output, usage, isolation",
               "belljar run program.py --receipt r.json  # signed record of run and isolation",
               "belljar run program.py --lean  # as a model reads it",
               "belljar run --project . -- pytest -q  # a command over a folder"});
  return {parser, [arguments] { return ExecuteRun(*arguments); }, &arguments->arguments};
}

}  // namespace belljar::cli
