#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/container_options.h"
#include "cli/exit_code.h"
#include "cli/interruption.h"
#include "cli/language_choice.h"
#include "cli/limit_options.h"
#include "cli/network_options.h"
#include "cli/repl/branches.h"
#include "cli/repl/history_file.h"
#include "cli/repl/live.h"
#include "cli/repl/loop.h"
#include "cli/repl/printer.h"
#include "cli/repl/saver.h"
#include "cli/run_files.h"
#include "cli/sandbox_choice.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::cli::repl {
namespace {

using StringList = std::vector<std::string>;

struct ReplArguments {
  StringList environment;
  std::optional<StringList> allowed_imports;
  StringList files;
  std::optional<std::string> output;
  bool force = false;
  SandboxChoice sandbox;
  const CLI::Option* isolation = nullptr;  // to distinguish its default from an explicit value
  ContainerArguments container;
  LimitOptions limits;
  std::optional<std::string> input_timeout;
  NetworkArguments network;
  PolicyChoice policy;
  size_t checkpoints = 16;
  const CLI::Option* checkpoints_given = nullptr;
  std::optional<std::string> history;
  bool no_history = false;
  std::string colors = "auto";
};

// The resolved arguments.
struct Plan {
  outside::SandboxOptions sandbox;
  std::optional<container::backend::ContainerOptions> container;
  SessionStart start;
  host::Request request;
  std::chrono::milliseconds input_timeout{};
  std::optional<SaveDirectory> output;
  std::optional<HistoryFile> history;
};

bool IsAtTerminal() { return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO); }

// All cells, if they are known before the first is run: if standard input is a file of such a size.
std::optional<std::string> CellsOfFile() {
  constexpr off_t kMaxSize = 16 << 20;
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
  if (start < 0 || status.st_size < start || status.st_size - start > kMaxSize) return std::nullopt;
  std::string cells(static_cast<size_t>(status.st_size - start), '\0');
  const ssize_t count = pread(STDIN_FILENO, cells.data(), cells.size(), start);
  if (count != static_cast<ssize_t>(cells.size())) return std::nullopt;
  return cells;
}

core::Result<void> TakeImports(const ReplArguments& arguments, Plan& plan) {
  if (!arguments.allowed_imports) return {};
  if (plan.sandbox.policy == outside::Policy::kOff) {
    return NoImportsToRestrict(plan.sandbox.profile);
  }
  plan.request.allowed_imports = arguments.allowed_imports;
  return profiles::CheckAllowedImports(*arguments.allowed_imports, plan.sandbox.profile,
                                       "--allow-import");
}

core::Result<void> TakeHistory(const ReplArguments& arguments, Plan& plan) {
  if (arguments.no_history && arguments.history) {
    return UsersError("--history and --no-history are mutually exclusive");
  }
  if (arguments.no_history || (!arguments.history && !IsAtTerminal())) return {};
  const core::Profile& profile = plan.sandbox.profile;
  const std::string path = arguments.history.value_or(
      DefaultHistoryPath(profile.program ? profile.name : std::string()));
  if (path.empty() && !arguments.history) return {};
  core::Result<HistoryFile> history = HistoryFile::Open(path);
  if (history) {
    plan.history = std::move(*history);
    return {};
  }
  if (arguments.history) return history.error();
  Say("belljar: " + history.error().ToString() + "; this session's is not kept\n");
  return {};
}

// Creates a directory, so this is the last step.
core::Result<void> TakeOutput(const ReplArguments& arguments, Plan& plan) {
  if (!arguments.output) return {};
  core::Result<SaveDirectory> directory =
      SaveDirectory::Open(*arguments.output, arguments.force, "--output");
  if (!directory) return directory.error();
  plan.output = std::move(*directory);
  return {};
}

// Another language has its own profile, which stands in the place of one of Python's.
core::Result<void> TakeLanguage(const ReplArguments& arguments,
                                const profiles::ProfileCatalogue& catalogue, Plan& plan) {
  const std::optional<std::string> named = NamedLanguage(arguments.policy);
  if (!named) return {};
  core::Result<std::optional<core::Profile>> language =
      ChooseSessionLanguage(*named, catalogue.installation());
  if (!language) return language.error();
  if (!*language) return {};
  for (const auto& [is_given, option] :
       {std::pair{arguments.container.container, "--container"},
        {arguments.allowed_imports.has_value(), "--allow-import"},
        {arguments.input_timeout.has_value(), "--input-timeout"},
        {arguments.checkpoints_given->count() > 0, "--checkpoints"}}) {
    if (is_given) {
      return UsersError(std::string(option) + " is for sessions in Python, not in " +
                        (*language)->program->title);
    }
  }
  core::Result<core::Profile> connected =
      WithChosenNetwork(std::move(**language), plan.sandbox.profile, arguments.sandbox.profile,
                        arguments.network.names_hosts(), catalogue);
  if (!connected) return connected.error();
  plan.sandbox.profile = std::move(*connected);
  return {};
}

// Errors are the user's.
core::Result<Plan> Prepare(const ReplArguments& arguments,
                           const profiles::ProfileCatalogue& catalogue) {
  Plan plan;
  core::Result<outside::SandboxOptions> sandbox = ResolveSandbox(arguments.sandbox, catalogue);
  if (!sandbox) return sandbox.error();
  plan.sandbox = std::move(*sandbox);
  if (core::Result<void> taken = TakeLanguage(arguments, catalogue, plan); !taken) {
    return taken.error();
  }
  // In a container only basic, for which there is an image.
  if (!arguments.sandbox.profile && !arguments.container.container &&
      !plan.sandbox.profile.program) {
    const std::optional<std::string> cells = CellsOfFile();
    const profiles::ProgramNeeds needs{
        .source = cells ? std::string_view(*cells) : std::string_view(),
        .modules = arguments.allowed_imports.value_or(StringList()),
        .files = !arguments.files.empty() || (cells && cells->find("%put") != cells->npos),
        .hosts = arguments.network.names_hosts(),
        .continues = !cells};
    const core::Result<void> chosen =
        ChooseUnnamed(arguments.sandbox, needs, catalogue, plan.sandbox);
    if (!chosen) return chosen.error();
  }
  core::Result<std::optional<container::backend::ContainerOptions>> container =
      ResolveContainer(arguments.container, *arguments.isolation, plan.sandbox);
  if (!container) return container.error();
  plan.container = std::move(*container);
  // %reset opens a session before it closes the other.
  if (plan.container) plan.container->max_containers = 2;
  const core::Result<outside::Policy> policy =
      ResolvePolicy(arguments.policy, plan.sandbox.profile);
  if (!policy) return policy.error();
  plan.sandbox.policy = *policy;
  const outside::SandboxOptions& options = plan.sandbox;
  core::Result<core::Limits> limits = ResolveLimits(arguments.limits, options.profile);
  if (!limits) return limits.error();
  plan.request.limits = *limits;
  core::Result<std::chrono::milliseconds> input = ResolveInputTimeout(arguments.input_timeout);
  if (!input) return input.error();
  plan.input_timeout = *input;
  plan.request.environment = arguments.environment;
  plan.start.options.limits = *limits;
  plan.start.options.checkpoints = arguments.checkpoints;
  if (core::Result<void> checked = host::CheckArguments(plan.request); !checked) {
    return checked.error();
  }
  if (core::Result<void> network = ResolveNetwork(arguments.network, plan.sandbox); !network) {
    return network.error();
  }
  core::Result<std::vector<host::InputFile>> files =
      ReadInputFiles(arguments.files, options.profile);
  if (!files) return files.error();
  plan.start.files = std::move(*files);
  for (const auto take : {TakeImports, TakeHistory, TakeOutput}) {
    if (core::Result<void> taken = take(arguments, plan); !taken) return taken.error();
  }
  return plan;
}

int RunPlan(const ReplArguments& arguments, Plan plan) {
  const bool is_interactive = IsAtTerminal();
  Interruption interruption(is_interactive ? Interruption::Kind::kRepeated
                                           : Interruption::Kind::kOnce);
  const core::Profile& profile = plan.sandbox.profile;
  const std::string what = profile.program ? profile.program->title
                                           : std::string("CPython ") + host::kPythonVersion +
                                                 ", profile " + core::Printable(profile.name);
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      plan.container
          ? container::backend::OpenContainerSandbox(std::move(plan.sandbox), *plan.container)
          : outside::Sandbox::Open(std::move(plan.sandbox));
  if (!sandbox) return OwnFailure(sandbox.error());
  Branches branches(**sandbox, std::move(plan.start));
  if (!is_interactive) {
    const core::Result<void> opened = branches.EnsureOpen(interruption.fd());
    if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
    if (!opened) return OwnFailure(opened.error());
  }
  Printer printer(interruption, arguments.colors);
  Saver saver(std::move(plan.output), arguments.force);
  Live live{**sandbox,      interruption,      printer, saver, branches, std::move(plan.request),
            is_interactive, plan.input_timeout};
  if (!is_interactive) return RunFromInput(live);
  printer.Answer(std::string("Belljar ") + host::kBelljarVersion + ", " + what +
                 ". %help lists the commands, Ctrl-D ends.\n");
  return RunAtTerminal(live, std::move(plan.history));
}

int ExecuteRepl(const ReplArguments& arguments) {
  core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  core::Result<Plan> plan = Prepare(arguments, *catalogue);
  if (!plan) return UsageError("repl", plan.error().ToString());
  return RunPlan(arguments, std::move(*plan));
}

void AddFileOptions(CLI::App* parser, ReplArguments& arguments) {
  AddRepeatable(
      parser, "--file", arguments.files, "FILE[:DST]",
      "file to copy into the session's workspace, under its own name or as DST; repeatable");
  AddText(parser, "--output", arguments.output, "DIR",
          "write all that cells produce into DIR, created if missing: figures, tables, files "
          "(default: only figures, in the working directory)");
  AddFlag(parser, "--force", arguments.force, "overwrite existing files");
}

}  // namespace

Command MakeReplCommand(CLI::App& app) {
  auto arguments = std::make_shared<ReplArguments>();
  CLI::App* parser = AddCommand(app, "repl", "Interactive prompt with a live session and undo");
  AddFileOptions(parser, *arguments);
  AddRepeatable(parser, "--env", arguments->environment, "NAME=VALUE",
                "environment variable of the session; repeatable. None are inherited");
  arguments->isolation = AddSandboxOptions(parser, arguments->sandbox);
  AddLimitOptions(parser, arguments->limits);
  AddInputTimeout(parser, arguments->input_timeout);
  AddContainerOptions(parser, arguments->container);
  AddImportsOption(parser, arguments->allowed_imports);
  AddNetworkOptions(parser, arguments->network);
  AddPolicyAndLanguage(parser, arguments->policy, "the code",
                       "language of the session: bash, javascript, r, or a file such as ./own.toml "
                       "(default: python)");
  arguments->checkpoints_given = parser
                                     ->add_option("--checkpoints", arguments->checkpoints,
                                                  "number of checkpoints kept; the oldest go first")
                                     ->type_name("N")
                                     ->check(CLI::Range(1, 256))
                                     ->capture_default_str();
  AddText(parser, "--history", arguments->history, kFileType,
          "history file (default: ~/.local/state/belljar/history)");
  AddFlag(parser, "--no-history", arguments->no_history, "do not keep a history");
  AddChoice(parser, "--color", arguments->colors, {"auto", "always", "never"},
            "colours; auto: on a terminal, unless NO_COLOR is set");
  SetExamples(parser, {"belljar repl  # a prompt; %help lists its commands",
                       "belljar repl --profile basic  # ready at once, without packages and files",
                       "belljar repl --file a.csv  # a file to work on, if filesystem is enabled",
                       "belljar repl --output out  # keep figures, tables and files",
                       "belljar repl --timeout 5 --memory 512m  # per cell, per session",
                       "belljar repl --container  # in a container, and without %undo",
                       "belljar repl --language bash  # another language: bash, javascript, r",
                       "belljar repl < cells.py  # cells, separated by empty lines"});
  return {parser, [arguments] { return ExecuteRepl(*arguments); }};
}

}  // namespace belljar::cli::repl
