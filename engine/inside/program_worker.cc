#include "engine/inside/program_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/mapping.h"
#include "engine/core/text.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr size_t kPiece = size_t{64} << 10;
// Of the end of what a program wrote to standard error, where its error is looked for.
constexpr size_t kErrorTail = size_t{16} << 10;
constexpr size_t kMaxChildren = size_t{1} << 20;
// Of a PID namespace; in a container this is another process.
constexpr pid_t kFirst = 1;
constexpr char kBinary[] = "/tmp/program";
constexpr char kCompileError[] = "CompileError";
constexpr char kExitStatus[] = "ExitStatus";

// How a program or its compiler ended.
struct End {
  int not_started = 0;  // errno
  int exit_code = 0;    // 128 + number for a signal, as shells say
  int signal = 0;
  bool ok() const { return not_started == 0 && exit_code == 0; }
};

struct Pipe {
  core::UniqueFd read;
  core::UniqueFd write;
  static std::optional<Pipe> Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
  }
};

void DoNotBlock(const core::UniqueFd& fd) {
  (void)fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What becomes the descriptors of a program, from 0; from 3 on none of them among those numbers.
using Passed = std::vector<int>;

// posix_spawn(3). 0: started.
int SpawnProgram(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment, const Passed& descriptors,
                 pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0) return ENOMEM;
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return ENOMEM;
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    (void)posix_spawn_file_actions_adddup2(&actions, descriptors[i], static_cast<int>(i));
  }
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  (void)posix_spawnattr_setsigmask(&attributes, &none);
  (void)posix_spawnattr_setsigdefault(&attributes, &ignored);
  (void)posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int failed = posix_spawn(pid, command.front().c_str(), &actions, &attributes,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// Runs one command at a time as the first process of a PID namespace.
class Init {
 public:
  // SIGCHLD becomes readable, so that it cannot come between looking and waiting.
  bool Begin() {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (pthread_sigmask(SIG_BLOCK, &children, nullptr) != 0) return false;
    signal(SIGPIPE, SIG_IGN);
    children_ = core::UniqueFd(signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    return static_cast<bool>(children_);
  }

  End Run(const std::vector<std::string>& command, const std::vector<std::string>& environment,
          std::string_view input) {
    const int failed = Start(command, environment, {});
    return failed == 0 ? Finish(input) : End{.not_started = failed};
  }

  // The parts of Run. `more`: descriptors of the program after its standard ones. Returns an errno.
  int Start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            const Passed& more) {
    std::optional<Pipe> out = Pipe::Open(), err = Pipe::Open(), in = Pipe::Open();
    if (!out || !err || !in) return errno;
    Passed descriptors = {in->read.get(), out->write.get(), err->write.get()};
    descriptors.insert(descriptors.end(), more.begin(), more.end());
    const int failed = SpawnProgram(command, environment, descriptors, &program_);
    if (failed != 0) return failed;
    tail_.clear();
    input_to_ = std::move(in->write);
    output_ = {std::move(out->read), std::move(err->read)};
    for (const core::UniqueFd* fd : {&output_[0], &output_[1], &input_to_}) DoNotBlock(*fd);
    return 0;
  }

  End Finish(std::string_view input) {
    input_ = input;
    if (input.empty()) input_to_.Reset();
    const int status = Watch();
    EndAll();
    for (const size_t stream : {0, 1}) Drain(stream);
    if (WIFSIGNALED(status))
      return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
    return {.exit_code = WEXITSTATUS(status)};
  }

  // Instead of Finish: ends what has been started, as if it had not been.
  void Abandon() {
    (void)kill(program_, SIGKILL);
    EndAll();
  }

  // Used by the program that has been started and not finished.
  uint64_t CpuMicroseconds() const {
    clockid_t clock{};
    timespec used{};
    if (program_ < 0 || clock_getcpuclockid(program_, &clock) != 0 ||
        clock_gettime(clock, &used) != 0) {
      return 0;
    }
    return static_cast<uint64_t>(used.tv_sec) * 1'000'000 +
           static_cast<uint64_t>(used.tv_nsec) / 1000;
  }

  // The end of what the last command wrote to standard error.
  const std::string& tail() const { return tail_; }

 private:
  // Until the program itself ends. What it has started may still run.
  int Watch() {
    for (;;) {
      std::array<pollfd, 4> watched = {{{children_.get(), POLLIN, 0},
                                        {output_[0].get(), POLLIN, 0},
                                        {output_[1].get(), POLLIN, 0},
                                        {input_to_ ? input_to_.get() : -1, POLLOUT, 0}}};
      if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) _exit(kReportFailed);
      for (const size_t stream : {0, 1}) {
        if (watched[stream + 1].revents != 0) Drain(stream);
      }
      if (watched[3].revents != 0) PassInputOn();
      if (watched[0].revents == 0) continue;
      if (const std::optional<int> status = ReapProgram()) return *status;
    }
  }

  // Reaps whatever has ended; the status of the program once it is among them.
  std::optional<int> ReapProgram() {
    signalfd_siginfo ignored;
    while (read(children_.get(), &ignored, sizeof ignored) > 0) {
    }
    std::optional<int> ended;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == program_) ended = status;
    }
    return ended;
  }

  // What the program has left behind. As the first process of its namespace, kill reaches all
  // others and this one not. In a container they are its children, some of them once their own
  // parents have ended; the host kills any that it misses.
  void EndAll() {
    if (getpid() == kFirst) (void)kill(-1, SIGKILL);
    do {
      if (getpid() != kFirst && !KillChildren()) break;
    } while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
    input_to_.Reset();
  }

  // False: there are none, or the kernel does not tell them.
  static bool KillChildren() {
    const core::Result<std::string> children =
        core::ReadFile("/proc/thread-self/children", kMaxChildren);
    if (!children) return false;
    const std::vector<std::string_view> pids = core::Words(*children);
    for (const std::string_view pid : pids) {
      pid_t number = 0;
      std::from_chars(pid.data(), pid.data() + pid.size(), number);
      if (number > 0) (void)kill(number, SIGKILL);
    }
    return !pids.empty();
  }

  void Drain(size_t stream) {
    const auto kind = stream == 0 ? CaptureStreamKind::kStdout : CaptureStreamKind::kStderr;
    // Bounded, so that a flood on one stream holds up neither the other nor the program's end.
    for (int i = 0; i < 16; ++i) {
      const ssize_t size = read(output_[stream].get(), piece_.data(), piece_.size());
      if (size == 0) output_[stream].Reset();
      if (size <= 0) return;
      const std::string_view bytes(piece_.data(), static_cast<size_t>(size));
      WriteOutput(kind, bytes);
      if (stream == 1) KeepTail(bytes);
    }
  }

  void KeepTail(std::string_view bytes) {
    tail_ += bytes;
    if (tail_.size() > 2 * kErrorTail) tail_.erase(0, tail_.size() - kErrorTail);
  }

  void PassInputOn() {
    const ssize_t size = write(input_to_.get(), input_.data(), std::min(input_.size(), kPiece));
    if (size > 0) input_.remove_prefix(static_cast<size_t>(size));
    const bool is_refused = size < 0 && errno != EAGAIN && errno != EINTR;
    if (is_refused || input_.empty()) input_to_.Reset();
  }

  core::UniqueFd children_;
  pid_t program_ = -1;
  std::array<core::UniqueFd, 2> output_;
  core::UniqueFd input_to_;
  std::string_view input_;
  std::string tail_;
  std::array<char, kPiece> piece_{};
};

// What the host says of a program.
struct Program {
  std::string file;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

Program ReadMetadata(const std::string& metadata) {
  const nlohmann::json json = nlohmann::json::parse(metadata);
  Program program;
  json.at("filename").get_to(program.file);
  if (json.contains("arguments")) json.at("arguments").get_to(program.arguments);
  if (json.contains("environment")) json.at("environment").get_to(program.environment);
  return program;
}

std::vector<std::string> Filled(const std::vector<std::string>& command, const std::string& file) {
  std::vector<std::string> filled;
  for (std::string word : command) {
    for (const auto& [name, value] :
         {std::pair<std::string_view, std::string_view>{"{file}", file}, {"{binary}", kBinary}}) {
      if (const size_t at = word.find(name); at != word.npos) word.replace(at, name.size(), value);
    }
    filled.push_back(std::move(word));
  }
  return filled;
}

nlohmann::json Positive(int number) { return number > 0 ? nlohmann::json(number) : nullptr; }

// `what` was run: the type of an error that no pattern names.
nlohmann::json ErrorOf(const End& end, const char* type, const ProgramError& read) {
  std::string message = read.message;
  std::string of_type =
      read.type.empty() || type == std::string_view(kCompileError) ? type : read.type;
  if (end.not_started != 0) {
    message = std::string("the program could not be started: ") + strerrordesc_np(end.not_started);
  } else if (end.signal != 0) {
    const char* const name = sigabbrev_np(end.signal);
    const char* const description = sigdescr_np(end.signal);
    of_type = "SIG" + (name ? std::string(name) : std::to_string(end.signal));
    message = "killed by a signal";
    if (description) message += std::string(": ") + description;
  } else if (message.empty()) {
    message = "exited with status " + std::to_string(end.exit_code);
  }
  return {{"type", of_type},
          {"message", core::ValidUtf8(message)},
          {"line", Positive(read.line)},
          {"column", Positive(read.column)},
          {"end_line", nullptr},
          {"end_column", nullptr},
          {"traceback", nullptr},
          {"hint", nullptr}};
}

// Of all processes that have ended, which is more exact than what the host sees from outside;
// without what was used before the request.
nlohmann::json UsageOfChildren(uint64_t cpu_before) {
  rusage usage{};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
  };
  const uint64_t cpu = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  return {{"cpu_microseconds", cpu - std::min(cpu, cpu_before)},
          {"max_rss_bytes", static_cast<uint64_t>(usage.ru_maxrss) * 1024}};
}

std::string ReportText(const End& end, nlohmann::json error, uint64_t cpu_before) {
  nlohmann::json program = UsageOfChildren(cpu_before);
  program["signal"] = end.signal;
  const nlohmann::json report = {
      {"program", std::move(program)},
      {"status", end.ok() ? "ok" : "exception"},
      {"has_result", false},
      {"result", nullptr},
      {"result_repr", nullptr},
      {"exit_code", end.signal == 0 ? nlohmann::json(end.exit_code) : nullptr},
      {"variables", nlohmann::json::array()},
      {"error", end.ok() ? nullptr : std::move(error)},
      {"findings", nlohmann::json::array()},
      {"analysis", nullptr},
      {"truncated", nlohmann::json::object()}};
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The program that is started ahead of its request, if the language has one.
class WarmStart {
 public:
  // Blocks until it waits for its request, or has ended.
  void Begin(const ProgramRunner& runner, Init& init) {
    std::optional<Pipe> request = Pipe::Open(), ready = Pipe::Open();
    if (runner.warm.empty() || !request || !ready) return;
    // Above the numbers that they are about to get.
    const core::UniqueFd request_read = Above(request->read);
    core::UniqueFd ready_write = Above(ready->write);
    request->read.Reset();
    ready->write.Reset();
    if (init.Start(runner.warm, runner.environment, {request_read.get(), ready_write.get()}) != 0)
      return;
    ready_write.Reset();
    char waits = 0;
    if (read(ready->read.get(), &waits, 1) == 1) {
      request_ = std::move(request->write);
    } else {
      init.Abandon();
    }
  }

  // Whether the program is now running in it, for Init::Finish.
  bool Take(const Program& program, Init& init) {
    if (!request_) return false;
    // What its environment says has been read already.
    if (!program.environment.empty()) {
      init.Abandon();
      return false;
    }
    const nlohmann::json json = {{"file", program.file}, {"arguments", program.arguments}};
    const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (std::string_view left = text; !left.empty();) {
      const ssize_t size = write(request_.get(), left.data(), left.size());
      if (size <= 0) break;  // it has ended: Finish will say so
      left.remove_prefix(static_cast<size_t>(size));
    }
    request_.Reset();
    return true;
  }

 private:
  static core::UniqueFd Above(const core::UniqueFd& fd) {
    return core::UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 10));
  }

  core::UniqueFd request_;
};

// One request, with what is started ahead of it.
class Runner {
 public:
  explicit Runner(const ProgramRunner& runner) : runner_(runner) {}

  bool Begin() {
    if (!init_.Begin()) return false;
    warm_.Begin(runner_, init_);
    return true;
  }

  std::string Execute(const ReceivedRequest& request) {
    const Program program = ReadMetadata(request.metadata);
    const std::string_view input =
        request.standard_input ? *request.standard_input : std::string_view();
    cpu_before_ = init_.CpuMicroseconds();
    if (warm_.Take(program, init_)) return ReportOn(init_.Finish(input), kExitStatus, program);
    std::vector<std::string> environment = runner_.environment;
    environment.insert(environment.end(), program.environment.begin(), program.environment.end());
    if (!runner_.compile.empty()) {
      const End compiled = init_.Run(Filled(runner_.compile, program.file), environment, {});
      if (!compiled.ok()) return ReportOn(compiled, kCompileError, program);
    }
    std::vector<std::string> command = Filled(runner_.command, program.file);
    command.insert(command.end(), program.arguments.begin(), program.arguments.end());
    return ReportOn(init_.Run(command, environment, input), kExitStatus, program);
  }

 private:
  std::string ReportOn(const End& end, const char* type, const Program& program) const {
    const ProgramError error = ReadErrorLines(runner_.errors, init_.tail(), program.file);
    return ReportText(end, ErrorOf(end, type, error), cpu_before_);
  }

  const ProgramRunner& runner_;
  Init init_;
  WarmStart warm_;
  uint64_t cpu_before_ = 0;
};

bool LowerLimits(const ProgramStart& start, const core::RequestHeader& header) {
  if (start.plan.without_rlimits) return true;
  core::Limits limits = start.plan.ceiling;
  limits.memory.count = header.memory_limit;
  limits.file_size.count = header.file_size_limit;
  limits.cpu = std::chrono::seconds(header.cpu_limit_seconds);
  return seal::ApplyProgramRlimits(limits);
}

}  // namespace

void RunProgramWorker(const ProgramStart& start, core::UniqueFd socket,
                      core::UniqueFd capture_memory) {
  core::Result<core::Mapping> region =
      core::Mapping::Map(capture_memory.get(), start.layout.size());
  if (!region) FailSeal(socket.get(), seal::SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), start.layout);
  // Of what it starts; the first process of a namespace is it anyway. gVisor of 2022 has no such
  // thing (EINVAL): there the first process of the container is it.
  if (getpid() != kFirst && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL)
    FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  seal::WorkerResources resources;
  seal::SelfReport self_report = 0;
  const seal::SealFailure failure =
      seal::SealWorker(start.plan, start.prepared, socket.get(), resources, self_report);
  if (failure.step != seal::SealStep::kNone)
    FailSeal(socket.get(), failure.step, failure.error_number);
  (void)capture_memory.Release();  // closed by the seal
  Runner runner(start.runner);
  if (!runner.Begin()) FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  SignalSealed(socket.get(), self_report, std::move(resources));
  const ReceivedRequest request = ReceiveRequest(socket.get());
  if (!LowerLimits(start, request.header)) FailSeal(socket.get(), seal::SealStep::kRlimits, errno);
  SetOutputLimit(request.header.output_limit);
  Report(socket.get(), runner.Execute(request));
  AwaitEnd(socket.get());
}

}  // namespace belljar::inside
