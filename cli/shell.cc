#include "cli/shell.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/interruption.h"
#include "cli/language_choice.h"
#include "cli/pending_changes.h"
#include "cli/run_files.h"
#include "engine/commands/command.h"
#include "engine/core/fd.h"
#include "engine/core/thread.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/waiting/event.h"

namespace belljar::cli {
namespace {

using StringList = std::vector<std::string>;

constexpr char kShell[] = "shell";
constexpr int kNoSuchCommand = 127;  // as shells say

// The resolved arguments.
struct Plan {
  const char* name = "shell";
  outside::SandboxOptions sandbox;
  sessions::SessionOptions session;
  std::optional<PackageSelection> packages;  // installed before it is opened
  std::vector<host::InputFile> files;
  commands::CommandRequest request;
};

std::optional<commands::TerminalSize> SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return std::nullopt;
  const commands::TerminalSize usual;
  return commands::TerminalSize{size.ws_col > 0 ? size.ws_col : usual.columns,
                                size.ws_row > 0 ? size.ws_row : usual.rows};
}

// Errors are the user's.
core::Result<Plan> Prepare(const ShellArguments& arguments,
                           const profiles::ProfileCatalogue& catalogue) {
  Plan plan{.name = arguments.name};
  core::Result<outside::SandboxOptions> sandbox = ResolveSandbox(arguments.sandbox, catalogue);
  if (!sandbox) return sandbox.error();
  plan.sandbox = std::move(*sandbox);
  core::Result<std::optional<core::Profile>> language =
      ChooseSessionLanguage(kShell, catalogue.installation());
  if (!language) return language.error();
  plan.sandbox.profile = std::move(**language);
  const core::Profile& profile = plan.sandbox.profile;
  core::Result<core::Limits> limits = ResolveLimits(arguments.limits, profile);
  if (!limits) return limits.error();
  plan.session.limits = *limits;
  plan.session.project = arguments.project.value_or("");
  if (arguments.project && arguments.project->empty())
    return UsersError("--project needs a folder");
  core::Result<std::optional<PackageSelection>> packages = ResolvePackages(arguments.packages, "");
  if (!packages) return packages.error();
  plan.packages = std::move(*packages);
  core::Result<std::vector<host::InputFile>> files = ReadInputFiles(arguments.files, profile);
  if (!files) return files.error();
  plan.files = std::move(*files);
  commands::CommandRequest& request = plan.request;
  request.arguments = arguments.command.empty() ? StringList{"bash"} : arguments.command;
  request.environment = arguments.environment;
  request.directory = arguments.directory.value_or("");
  request.input = std::nullopt;
  request.waits_for_reader = true;
  // A person ends what takes too long.
  if (arguments.limits.timeout) request.timeout = limits->timeout;
  if (arguments.limits.cpu) request.cpu = limits->cpu;
  const bool is_at_terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (is_at_terminal && !arguments.no_terminal) {
    request.terminal = SizeOfTerminal();
    // Before that of the user, which --env gives.
    const char* const kind = getenv("TERM");  // NOLINT(concurrency-mt-unsafe): one thread
    if (kind) request.environment.insert(request.environment.begin(), std::string("TERM=") + kind);
  }
  return plan;
}

// What is typed goes to the command as it is, and also Ctrl-C and Ctrl-Z are the command's.
class RawTerminal {
 public:
  explicit RawTerminal(bool is_wanted) {
    if (!is_wanted || tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    cfmakeraw(&raw);
    is_raw_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  RawTerminal(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (is_raw_) (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

// One stream of a command, written to a descriptor until the command has ended.
void Copy(commands::Command& command, commands::Stream stream, int to, Interruption& interruption) {
  constexpr size_t kPiece = size_t{256} << 10;
  waiting::Wait wait;
  wait.cancel_fd = interruption.fd();
  for (uint64_t from = 0;;) {
    const core::Result<commands::Piece> piece = command.Read(stream, from, kPiece, wait);
    if (!piece) return;
    // The reader is gone.
    if (!WriteAll(to, piece->bytes)) return interruption.Raise(SIGPIPE);
    if (piece->is_end) return;
    from = piece->end;
  }
}

// Moves what is typed or piped in, and the size of the terminal, until the command has ended.
class Feeder {
 public:
  Feeder(commands::Command& command, const Interruption& interruption)
      : command_(command), interruption_(interruption) {
    sigset_t resized;
    sigemptyset(&resized);
    sigaddset(&resized, SIGWINCH);
    (void)pthread_sigmask(SIG_BLOCK, &resized, nullptr);
    resized_ = core::UniqueFd(signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // `ended`: readable once the command has ended.
  void RunUntil(int ended) {
    std::array<pollfd, 4> watched = {{{ended, POLLIN, 0},
                                      {interruption_.fd(), POLLIN, 0},
                                      {STDIN_FILENO, POLLIN, 0},
                                      {resized_.get(), POLLIN, 0}}};
    for (;;) {
      if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
      if (watched[1].revents != 0) return command_.Kill();
      if (watched[0].revents != 0) return;
      if (watched[3].revents != 0) Resize();
      if (watched[2].revents != 0 && !Feed()) watched[2].fd = -1;
    }
  }

 private:
  // False: there is no more.
  bool Feed() {
    std::array<char, 64 << 10> piece{};
    const ssize_t size = read(STDIN_FILENO, piece.data(), piece.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (size <= 0) {
      (void)command_.CloseInput();
      return false;
    }
    waiting::Wait wait;
    wait.cancel_fd = interruption_.fd();
    return command_.Write({piece.data(), static_cast<size_t>(size)}, wait).ok();
  }

  void Resize() {
    signalfd_siginfo info;
    while (read(resized_.get(), &info, sizeof info) > 0) continue;
    if (const auto size = SizeOfTerminal()) (void)command_.Resize(*size);
  }

  commands::Command& command_;
  const Interruption& interruption_;
  core::UniqueFd resized_;
};

// Until it has ended.
core::Result<commands::CommandStatus> Attend(commands::Command& command,
                                             Interruption& interruption) {
  constexpr char kAttend[] = "attend to a command";
  core::Result<waiting::Event> ended = waiting::Event::Create(kAttend);
  if (!ended) return ended.error();
  const RawTerminal raw(command.request().terminal.has_value());
  Feeder feeder(command, interruption);
  const std::function<void()> tasks[] = {
      [&] { Copy(command, commands::Stream::kOutput, STDOUT_FILENO, interruption); },
      [&] { Copy(command, commands::Stream::kErrors, STDERR_FILENO, interruption); },
      [&] {
        (void)command.Await({});
        ended->Raise();
      }};
  std::array<core::Thread, std::size(tasks)> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (core::Result<void> started = threads[i].Start(kAttend, tasks[i]); !started) {
      command.Kill();
      return started.error();
    }
  }
  feeder.RunUntil(ended->fd());
  return command.Await({});
}

int ExitOf(const commands::CommandStatus& status, const char* name) {
  if (status.state == commands::CommandState::kExited) return status.exit_code;
  Say(std::string("belljar ") + name + ": " + status.why + "\n");
  return status.state == commands::CommandState::kNotStarted ? kNoSuchCommand : kExitStopped;
}

// One command in an open session.
int RunCommand(sessions::Session& session, const Plan& plan, Interruption& interruption) {
  if (!plan.files.empty()) {
    if (core::Result<void> put = session.WriteFiles(plan.files, {}); !put)
      return OwnFailure(put.error());
  }
  waiting::Wait wait;
  wait.cancel_fd = interruption.fd();
  core::Result<std::shared_ptr<commands::Command>> started =
      session.StartCommand(plan.request, wait);
  if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
  if (!started && started.error().error_number == 0)
    return UsageError(plan.name, started.error().ToString());
  if (!started) return OwnFailure(started.error());
  commands::Command& command = **started;
  if (command.status().state == commands::CommandState::kNotStarted)
    return ExitOf(command.status(), plan.name);
  const core::Result<commands::CommandStatus> status = Attend(command, interruption);
  if (!status) return OwnFailure(status.error());
  if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
  return ExitOf(*status, plan.name);
}

int RunPlan(Plan plan) {
  Interruption interruption;
  if (plan.packages) {
    const core::Result<void> shown =
        ShowPackages(*plan.packages, interruption.fd(), plan.sandbox.profile);
    if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
    if (!shown) return OwnFailure(shown.error());
  }
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      outside::Sandbox::Open(std::move(plan.sandbox));
  if (!sandbox) return OwnFailure(sandbox.error());
  run::RunOptions opening;
  opening.cancel_fd = interruption.fd();
  core::Result<std::shared_ptr<sessions::Session>> session =
      (*sandbox)->OpenSession(plan.session, opening);
  if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
  if (!session && session.error().error_number == 0)
    return UsageError(plan.name, session.error().ToString());
  if (!session) return OwnFailure(session.error());
  const int exit_code = RunCommand(**session, plan, interruption);
  if (plan.session.project.empty()) return exit_code;
  // Also what an interrupted command has changed.
  const core::Result<projects::ProjectChanges> changes = (*session)->Changes();
  const core::Result<void> kept = changes ? KeepChanges(*changes) : changes.error();
  return kept ? exit_code : OwnFailure(kept.error());
}

}  // namespace

int RunShell(const ShellArguments& arguments) {
  core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  core::Result<Plan> plan = Prepare(arguments, *catalogue);
  if (!plan) return UsageError(arguments.name, plan.error().ToString());
  return RunPlan(std::move(*plan));
}

Command MakeShellCommand(CLI::App& app) {
  auto arguments = std::make_shared<ShellArguments>();
  CLI::App* shell = AddCommand(app, "shell", "Run commands in the sandbox, with a terminal");
  AddText(shell, "--project", arguments->project, "DIR",
          "a folder as the workspace: nothing in it changes, and belljar changes shows what the "
          "session did");
  AddRepeatable(shell, "--file", arguments->files, "FILE[:DST]",
                "copy a file or a folder into the workspace, where the command starts; repeatable");
  AddText(shell, "--directory", arguments->directory, "DIR",
          "where the command starts: below the workspace, or absolute");
  AddRepeatable(shell, "--env", arguments->environment, "NAME=VALUE",
                "environment variable of the command; repeatable. None are inherited but TERM");
  AddFlag(shell, "--no-terminal", arguments->no_terminal,
          "give it pipes, also at a terminal: its output and errors stay apart");
  AddPackageOptions(shell, arguments->packages, PackageKinds::kAll);
  LimitOptions& limits = arguments->limits;
  AddText(shell, "--timeout", limits.timeout, "TIME",
          "stop the command after this time: 30, 500ms or 2m (default: none)");
  AddText(shell, "--cpu", limits.cpu, "TIME",
          "CPU time of the command with all that it starts (default: an hour)");
  AddText(shell, "--memory", limits.memory, "SIZE",
          "memory of all commands together, and data of each process (default: 1g)");
  AddIsolationOption(shell, arguments->sandbox);
  SetExamples(shell, {"belljar shell  # Bash in the sandbox, with this machine's programs",
                      "belljar shell --project . -- pytest -q  # one command over this folder",
                      "belljar shell --package pytest -- pytest -q  # from PIP_INDEX_URL",
                      "belljar shell -- make -j2 > build.log  # its exit code is this command's"});
  return {shell, [arguments] { return RunShell(*arguments); }, &arguments->command};
}

}  // namespace belljar::cli
