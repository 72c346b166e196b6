#include "engine/workers/zygote_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/core/flat.h"
#include "engine/core/limits.h"
#include "engine/core/thread.h"
#include "engine/core/wire.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/start_message.h"

namespace belljar::workers {
namespace {

constexpr char kClone[] = "clone a worker";

// What the child of the clone needs. All of it is prepared in advance, since between clone and exec
// only async-signal-safe calls are allowed (the host has threads). Nor may they be
// ThreadSanitizer's versions of such calls: their locks may be held by threads that the child does
// not have. So it makes the system calls itself.
struct Descriptors {
  int null;
  int control;
  int errors;
  int maps_written;  // read end of a pipe: one byte once the id maps are written
};

// The exec arguments of a zygote. Lists end with a null.
struct ZygoteProgram {
  const char* path;
  std::vector<const char*> arguments;
  std::vector<const char*> environment;
  core::UniqueFd preload;  // none: the zygote is its own program
};

// The stack of the zygote's only thread, on which every worker's program runs. A Python call that
// goes through C takes up to 900 bytes of it (sorted() with a key: 2,600), and a program that
// raises the recursion limit may nest 100,000. Nothing is reserved: the kernel adds pages as they
// are touched, and they count towards the memory limit of the run.
//
// Set before exec: gVisor maps the whole stack then (up to 128 MiB), and Linux leaves room for it.
// An unlimited one is reduced as well: it would select the kernel's legacy layout
// (ADDR_COMPAT_LAYOUT in personality(2)).
void SetStackLimit() {
  constexpr rlim_t kStack = rlim_t{256} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  limit.rlim_cur = std::min(kStack, limit.rlim_max);
  // If it fails, recursion through C ends the worker earlier; the result says that it was killed.
  (void)setrlimit(RLIMIT_STACK, &limit);
}

// The kernel's struct sigaction, whose layout differs between architectures, with SIG_DFL: zeros.
constexpr char kDefaultAction[32] = {};
constexpr uint64_t kNoSignals = 0;

// What failed and why, on standard error. Without stdio, whose locks and memory are other threads'.
void WriteExecError(const char* path) {
  const char* const why = strerrordesc_np(errno);  // a constant: async-signal-safe
  for (const char* part : {"exec ", path, ": ", why}) {
    syscall(SYS_write, STDERR_FILENO, part, strlen(part));
  }
}

int DuplicateAbove(int fd, int lowest) {
  return static_cast<int>(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest));
}

[[noreturn]] void ExecZygote(const ZygoteProgram& program, const Descriptors& fds,
                             bool namespaces) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kNoSignals, nullptr, sizeof kNoSignals);
  // Signals that the host ignores (SIGHUP under nohup) stay ignored across exec, which must not
  // affect the guest.
  for (int number = 1; number < NSIG; ++number) {
    syscall(SYS_rt_sigaction, number, kDefaultAction, nullptr, sizeof kNoSignals);
  }
  // A process group of its own, with all its workers. The keys of the host's terminal (Ctrl-C) are
  // not for them. And in the host's group, which is orphaned when the shell that started the host
  // ends, the kernel would send SIGHUP to all, because the workers of sessions are stopped.
  syscall(SYS_setpgid, 0, 0);
  char written;
  if (syscall(SYS_read, fds.maps_written, &written, 1) != 1) _exit(1);
  if (namespaces && !seal::KeepCapabilitiesAcrossExec()) _exit(1);
  // It must not outlive the host, even while it loads: Ctrl-C reaches only the host.
  syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  // Above the numbers to which they are about to be moved.
  const int control = DuplicateAbove(fds.control, 10);
  const int errors = DuplicateAbove(fds.errors, 10);
  const int null = DuplicateAbove(fds.null, 10);
  const int preload = program.preload ? DuplicateAbove(program.preload.get(), 10) : -1;
  const auto move = [](int from, int to) { return syscall(SYS_dup3, from, to, 0) == to; };
  if (!move(null, 0) || !move(null, 1) || !move(errors, 2) ||
      !move(control, core::kZygoteControlFd)) {
    _exit(1);
  }
  // The largest descriptor that gVisor of 2022 accepts is the largest int.
  syscall(SYS_close_range, core::kZygoteControlFd + 1, std::numeric_limits<int>::max(),
          CLOSE_RANGE_CLOEXEC);
  if (program.preload && !move(preload, core::kZygotePreloadFd)) _exit(1);
  SetStackLimit();
  syscall(SYS_execve, program.path, program.arguments.data(), program.environment.data());
  WriteExecError(program.path);
  _exit(1);
}

// All zygotes of a user share one limit on pinned memory (inside/hot_pages.h), by default 8 MiB,
// which is enough for a handful. Raise it for this one as far as permitted; workers do not keep it.
void RaisePinLimit(pid_t zygote) {
  constexpr rlim_t kAll = rlim_t{1} << 30;
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur >= kAll) return;
  const rlimit raised{kAll, std::max(limit.rlim_max, kAll)};
  if (prlimit(zygote, RLIMIT_MEMLOCK, &raised, nullptr) == 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)prlimit(zygote, RLIMIT_MEMLOCK, &limit, nullptr);
}

// Nothing from the host's environment: it may contain secrets, and Python is configured without it.
std::vector<const char*> Environment(const ZygoteOptions& options) {
  std::vector<const char*> variables = {"LC_ALL=C.UTF-8", "TZ=UTC", core::kZygoteBindsNow};
  for (const std::string& variable : options.environment) variables.push_back(variable.c_str());
  return variables;
}

// Points into `options`.
core::Result<ZygoteProgram> ProgramOf(const ZygoteOptions& options) {
  const installation::Installation& from = options.installation;
  if (options.program) {
    return ZygoteProgram{
        from.launcher.c_str(), {"belljar-launcher", nullptr}, {"LC_ALL=C.UTF-8", nullptr}, {}};
  }
  ZygoteProgram program{from.zygote.c_str(), {"belljar-zygote"}, Environment(options), {}};
  if (!from.interpreter.empty()) {
    const std::string preload =
        std::filesystem::path(from.zygote).parent_path() / "belljar-preload.so";
    program.preload = core::UniqueFd(open(preload.c_str(), O_RDONLY | O_CLOEXEC));
    if (!program.preload) return core::SystemError("open " + preload, "reinstall Belljar");
    program.path = from.interpreter.c_str();
    program.arguments.push_back(from.zygote.c_str());
    program.environment.push_back(core::kZygotePreload);
  }
  program.arguments.push_back(nullptr);
  program.environment.push_back(nullptr);
  return program;
}

// JSON: module -> the command that installs its package set.
std::string MissingModules(const ZygoteOptions& options) {
  nlohmann::json commands = nlohmann::json::object();
  for (const installation::MissingPackages& missing : options.missing) {
    for (const std::string& module : missing.modules) commands[module] = missing.command;
  }
  return commands.dump();
}

// JSON: see inside/runner/package_folders.py.
std::string ProfilePackages(const ZygoteOptions& options) {
  nlohmann::json folders = nlohmann::json::array();
  for (const installation::PackageFolder& folder : options.packages) {
    folders.push_back({{"path", folder.path}, {"entries", folder.entries}});
  }
  return folders.dump();
}

// JSON: null for all.
std::string NamedModules(const ZygoteOptions& options) {
  return options.kind.modules ? nlohmann::json(*options.kind.modules).dump() : "null";
}

core::Result<std::string> StartMessage(const ZygoteOptions& options) {
  if (options.program) {
    return core::ToFlat(seal::LauncherStart{options.kind.single_run, *options.program,
                                            options.layout, options.plan});
  }
  const installation::Installation& from = options.installation;
  try {
    return core::ToFlat(
        seal::ZygoteStart{.single_run = options.kind.single_run,
                          .interpreter = from.interpreter,
                          .package_paths = {from.runner, from.policy, from.site_packages},
                          .profile_packages = ProfilePackages(options),
                          .missing_modules = MissingModules(options),
                          .named_modules = NamedModules(options),
                          .profile = options.profile_document,
                          .other_profiles = options.other_profiles,
                          .hot_blocks = from.hot_blocks,
                          .package_sets = options.package_sets,
                          .huge_pages = options.huge_pages,
                          .layout = options.layout,
                          .plan = options.plan});
  } catch (const nlohmann::json::exception&) {
    return core::MakeError("start zygote",
                           "the path of the installation is not UTF-8: " + from.runner);
  }
}

core::Result<void> SendStart(const ZygoteOptions& options, int control) {
  const core::Result<std::string> message = StartMessage(options);
  if (!message) return message.error();
  const core::Result<core::UniqueFd> file = core::CreateMemoryFile("belljar-start", *message);
  if (!file) return file.error();
  const int descriptors[] = {file->get()};
  return core::SendMessage(control, "start", descriptors);
}

// A single run's worker is the zygote, which must also be the first process of a PID namespace.
uint64_t NamespaceFlags(const ZygoteOptions& options) {
  if (options.plan.without_namespaces) return 0;
  return seal::ZygoteNamespaceFlags() |
         (options.kind.single_run ? seal::WorkerNamespaceFlags(false, false) : 0);
}

// The kernel function in which a process waits (wchan in proc(5)), and the number of its system
// call. Empty: it is running, or we may not read that.
std::string KernelFunctionOf(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  constexpr size_t kMax = 4096;
  const core::Result<std::string> function = core::ReadFile(folder + "/wchan", kMax);
  if (!function || function->empty() || *function == "0") return "";
  const core::Result<std::string> call = core::ReadFile(folder + "/syscall", kMax);
  if (!call || call->empty() || !isdigit(static_cast<unsigned char>(call->front())))
    return *function;
  return *function + " (system call " + call->substr(0, call->find(' ')) + ")";
}

std::string Advice(int error_number) {
  if (error_number == EPERM || error_number == ENOSPC || error_number == EINVAL) {
    return "this machine does not allow user namespaces here; \"belljar doctor\" shows details, "
           "and --isolation standard runs without them";
  }
  return core::ProcessAdvice(error_number);
}

}  // namespace

core::Result<ZygoteProcess> ZygoteProcess::Launch(const ZygoteOptions& options, int cgroup_fd,
                                                  std::shared_ptr<ChildReaper> reaper) {
  auto pair = core::CreateSocketPair(SOCK_SEQPACKET);
  if (!pair) return pair.error();
  core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return core::SystemError("open /dev/null");
  core::UniqueFd errors(memfd_create("belljar-zygote-errors", MFD_CLOEXEC));
  if (!errors) return core::SystemError("create memory file");
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return core::SystemError("pipe");
  const core::UniqueFd pipe_read(pipe_ends[0]);
  core::UniqueFd pipe_write(pipe_ends[1]);

  const core::Result<ZygoteProgram> program = ProgramOf(options);
  if (!program) return program.error();
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | NamespaceFlags(options);
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<uint64_t>(cgroup_fd);
  }
  const int write_end = pipe_write.get();
  const std::function<void()> become_zygote = [&] {
    syscall(SYS_close, write_end);
    ExecZygote(*program, {null.get(), pair->second.get(), errors.get(), pipe_read.get()},
               !options.plan.without_namespaces);
  };
  const pid_t pid =
      reaper ? reaper->Clone(arguments, become_zygote) : core::CloneProcess(arguments);
  if (pid < 0) {
    const int refused = errno;
    if (reaper && refused == ECHILD) return ParentEnded("clone a zygote");
    return core::SystemErrorOf(
        refused, "clone a zygote",
        options.plan.without_namespaces ? core::ProcessAdvice(refused) : Advice(refused));
  }
  if (pid == 0) become_zygote();
  core::Process process(pid, core::UniqueFd(pidfd), reaper);
  if (!process)
    return core::SystemErrorOf(EAGAIN, "hold a zygote", "no descriptor or thread is available");
  ZygoteProcess zygote(std::move(process), std::move(pair->first), std::move(errors),
                       std::move(reaper));
  if (!options.kind.single_run) RaisePinLimit(pid);
  if (!options.plan.without_namespaces) {
    if (core::Result<void> done = seal::WriteIdMaps(pid); !done) return done.error();
  }
  if (write(pipe_write.get(), "1", 1) != 1) return core::SystemError("start zygote");

  if (core::Result<void> sent = SendStart(options, zygote.control_.get()); !sent)
    return sent.error();
  return zygote;
}

core::Result<void> ZygoteProcess::FinishStart() {
  core::Result<core::Message> answer = core::ReceiveMessage(control_.get(), core::kMaxZygoteAnswer);
  if (answer && answer->bytes == core::kZygoteReady) return {};
  if (answer && !answer->bytes.empty()) return core::MakeError("start zygote", answer->bytes);
  // It died without writing to the socket, so only its stderr can explain it.
  const core::ExitReport exit = process_.Destroy();
  if (const std::string said = Errors(); !said.empty())
    return core::MakeError("start zygote", said);
  const std::string how = exit.exit_code >= 0
                              ? "it called exit(" + std::to_string(exit.exit_code) + ")"
                              : "it was killed";
  return core::MakeError("start zygote",
                         how + " without a message; a module that it loads may have caused that");
}

core::Error ZygoteProcess::AbandonStart(std::chrono::milliseconds after) {
  const std::string waits_in = KernelFunctionOf(process_.pid());
  process_.Destroy();
  std::string detail = "it was not ready after " + core::FormatDuration(after) +
                       ", and was killed; a module that it loads may be waiting for something";
  if (!waits_in.empty()) detail += "; it was waiting in the kernel function " + waits_in;
  if (const std::string said = Errors(); !said.empty()) detail += "; it wrote: " + said;
  return core::MakeError("start zygote", std::move(detail));
}

std::string ZygoteProcess::Errors() const {
  lseek(errors_.get(), 0, SEEK_SET);
  core::Result<std::string> said = core::ReadAll(errors_.get(), 64 * 1024);
  return said ? std::move(*said) : std::string();
}

core::Result<void> ZygoteProcess::RequestWorker(const Given& given) {
  core::SpawnMessage message;
  std::vector<int> descriptors = {given.socket, given.capture_memory};
  if (given.init_socket >= 0) {
    message.kind = core::SpawnMessage::kSession;
    descriptors.push_back(given.init_socket);
  }
  if (given.workspace >= 0) {
    message.has_workspace = 1;
    descriptors.push_back(given.workspace);
  }
  return core::SendMessage(control_.get(), core::AsBytes(message), descriptors);
}

core::Result<core::Process> ZygoteProcess::BecomeWorker(int socket, int capture_memory) {
  if (core::Result<void> requested = RequestWorker({socket, capture_memory}); !requested)
    return requested.error();
  return std::move(process_);
}

core::Result<core::Process> ZygoteProcess::ReceiveWorker() {
  core::SpawnReply reply;
  const ssize_t peeked = recv(control_.get(), &reply, sizeof reply, MSG_PEEK);
  core::Result<core::Message> message =
      core::ReceiveMessage(control_.get(), sizeof(core::SpawnReply));
  if (!message && message.error().error_number == EMSGSIZE && peeked == sizeof reply) {
    // No descriptor was left for the pidfd. The worker is still our child, and its pid is not
    // reused before it is reaped.
    core::KillAndReap(reply.pid, reaper_.get());
    return core::WithCause(
        core::Cause::kRefusedByKernel,
        core::SystemErrorOf(EMFILE, kClone, "no descriptor is available for it"));
  }
  if (!message) return message.error();
  if (message->bytes.size() != sizeof reply) {
    return core::MakeError("spawn worker", "the zygote has died");
  }
  memcpy(&reply, message->bytes.data(), sizeof reply);
  if (reply.error_number != 0) {
    return core::WithCause(
        core::Cause::kRefusedByKernel,
        core::SystemErrorOf(reply.error_number, kClone, core::ProcessAdvice(reply.error_number)));
  }
  if (message->descriptors.size() != 1)
    return core::MakeError("spawn worker",
                           "this kernel has no pidfds (gVisor of 2022): only a single run is "
                           "possible here, as in a container of Belljar");
  return core::Process(reply.pid, std::move(message->descriptors[0]), reaper_);
}

}  // namespace belljar::workers
