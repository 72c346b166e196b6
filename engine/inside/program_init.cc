#include "engine/inside/program_init.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/core/process.h"
#include "engine/core/text.h"
#include "engine/inside/capture.h"
#include "engine/inside/child_processes.h"
#include "engine/inside/host_channel.h"

namespace belljar::inside {
namespace {

// How much of the end of standard error is searched for the program's error.
constexpr size_t kErrorTail = size_t{16} << 10;

void DoNotBlock(const core::UniqueFd& fd) {
  (void)fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

struct Pipe {
  core::UniqueFd read;
  core::UniqueFd write;
  static std::optional<Pipe> Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    return Pipe{core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
  }
};

// The same file, above the numbers that a program's descriptors get. None of none.
core::UniqueFd AboveThem(const core::UniqueFd& fd) {
  constexpr int kAbove = 10;
  return fd ? core::UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, kAbove)) : core::UniqueFd();
}

// posix_spawn(3). 0: started.
int SpawnProgram(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment, const std::vector<int>& descriptors,
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

std::string ReadProc(pid_t process, const char* file) {
  constexpr size_t kMaxFile = size_t{16} << 10;
  const core::Result<std::string> text =
      core::ReadFile("/proc/" + std::to_string(process) + "/" + file, kMaxFile);
  return text ? *text : std::string();
}

std::vector<pid_t> ThreadsOf(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code code;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    const std::string name = at->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  return threads;
}

std::string ChildrenOf(pid_t process) {
  std::string children;
  for (const pid_t thread : ThreadsOf(process)) {
    children += ReadProc(process, ("task/" + std::to_string(thread) + "/children").c_str());
  }
  return children;
}

// Whether it is the only other process. Requires that it can start no more. In this order: those
// that it has started become children of this process when it ends.
bool IsAlone(pid_t program) {
  const bool has_children = !core::Words(ChildrenOf(program)).empty();
  const std::string own = ChildrenOf(getpid());
  return !has_children &&
         core::Words(own) == std::vector<std::string_view>{std::to_string(program)};
}

uint64_t PeakMemory(pid_t process) {
  constexpr std::string_view kPeak = "VmHWM:";
  const std::string status = ReadProc(process, "status");
  const size_t at = status.find(kPeak);
  if (at == status.npos) return 0;
  const std::vector<std::string_view> words =
      core::Words(std::string_view(status).substr(at + kPeak.size(), 40));
  uint64_t kibibytes = 0;
  if (!words.empty())
    std::from_chars(words[0].data(), words[0].data() + words[0].size(), kibibytes);
  return kibibytes * 1024;
}

// One that is no longer there has ended.
bool IsExiting(pid_t process, pid_t thread) {
  constexpr size_t kFlags = 6;
  const std::string stat = ReadProc(process, ("task/" + std::to_string(thread) + "/stat").c_str());
  const std::vector<std::string_view> fields = core::StatFields(stat);
  if (fields.empty()) return true;
  uint64_t flags = 0;
  if (fields.size() > kFlags)
    std::from_chars(fields[kFlags].data(), fields[kFlags].data() + fields[kFlags].size(), flags);
  return (flags & core::kExitingFlag) != 0;
}

// Until no thread of a process that is being killed can execute anything more. False: not yet, or
// unknown.
bool AwaitExiting(pid_t process) {
  constexpr int kTries = 200;
  constexpr useconds_t kPause = 20;
  for (int i = 0; i < kTries; ++i) {
    const std::vector<pid_t> threads = ThreadsOf(process);
    if (threads.empty()) return false;
    if (std::ranges::all_of(threads, [&](pid_t thread) { return IsExiting(process, thread); }))
      return true;
    (void)usleep(kPause);
  }
  return false;
}

}  // namespace

bool ProgramInit::Begin() {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGINT);
  if (pthread_sigmask(SIG_BLOCK, &watched, nullptr) != 0) return false;
  signal(SIGPIPE, SIG_IGN);
  signals_ = core::UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  return static_cast<bool>(signals_);
}

core::ProgramEnd ProgramInit::Run(const std::vector<std::string>& command,
                                  const std::vector<std::string>& environment,
                                  std::string_view input) {
  const int failed = Start(command, environment, {}, -1);
  return failed == 0 ? Finish(input) : core::ProgramEnd{.not_started = failed};
}

std::optional<Dialogue> ProgramInit::StartDialogue(const std::vector<std::string>& command,
                                                   const std::vector<std::string>& environment,
                                                   const core::UniqueFd& input) {
  std::optional<Pipe> requests = Pipe::Open(), answers = Pipe::Open();
  if (!requests || !answers) return std::nullopt;
  const core::UniqueFd requests_read = AboveThem(requests->read);
  const core::UniqueFd answers_write = AboveThem(answers->write);
  const core::UniqueFd own_input = AboveThem(input);
  requests->read.Reset();
  answers->write.Reset();
  if (Start(command, environment, {requests_read.get(), answers_write.get()}, own_input.get()) != 0)
    return std::nullopt;
  return Dialogue{std::move(requests->write), std::move(answers->read)};
}

int ProgramInit::Start(const std::vector<std::string>& command,
                       const std::vector<std::string>& environment, const std::vector<int>& more,
                       int input) {
  std::optional<Pipe> out = Pipe::Open(), err = Pipe::Open(), in = Pipe::Open();
  if (!out || !err || !in) return errno;
  std::vector<int> descriptors = {input >= 0 ? input : in->read.get(), out->write.get(),
                                  err->write.get()};
  descriptors.insert(descriptors.end(), more.begin(), more.end());
  const int failed = SpawnProgram(command, environment, descriptors, &program_);
  if (failed != 0) return failed;
  tail_.clear();
  if (input < 0) input_to_ = std::move(in->write);
  output_ = {std::move(out->read), std::move(err->read)};
  for (const core::UniqueFd* fd : {&output_[0], &output_[1], &input_to_}) {
    if (*fd) DoNotBlock(*fd);
  }
  return 0;
}

core::ProgramEnd ProgramInit::Finish(std::string_view input, const core::UniqueFd& source,
                                     const std::function<bool()>& receive) {
  input_ = input;
  if (input.empty()) input_to_.Reset();
  const std::optional<int> status = Watch(&source, receive);
  return status ? Ended(*status) : EndDone();
}

std::optional<core::ProgramEnd> ProgramInit::RunUntil(const core::UniqueFd& source,
                                                      const std::function<bool()>& receive) {
  // An interrupt may have come too late for what ran before.
  if (const std::optional<int> ended = HandleSignals(false)) return Ended(*ended);
  const std::optional<int> status = Watch(&source, receive);
  if (status) return Ended(*status);
  for (const size_t stream : {0, 1}) Drain(stream);
  return std::nullopt;
}

core::ProgramEnd ProgramInit::Ended(int status) {
  EndAll();
  for (const size_t stream : {0, 1}) Drain(stream);
  core::ProgramEnd end{.max_rss_bytes = max_rss_bytes_};
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_code = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

// To give its memory back takes the kernel longer than a short program runs (7 ms for R's 60 MiB);
// nobody needs to wait for that once it cannot run any more. A hostile program gains nothing by
// saying that it is done: whatever it does then, it is killed, and so is what it has started.
core::ProgramEnd ProgramInit::EndDone() {
  core::ProgramEnd end{.max_rss_bytes = PeakMemory(program_),
                       .cpu_microseconds = CpuMicroseconds()};
  (void)kill(getpid() == kFirst ? -1 : program_, SIGKILL);
  if (getpid() != kFirst || !AwaitExiting(program_) || !IsAlone(program_)) return Ended(0);
  input_to_.Reset();
  for (const size_t stream : {0, 1}) Drain(stream);
  return end;
}

void ProgramInit::Abandon() {
  (void)kill(program_, SIGKILL);
  EndAll();
}

// As the first process of its namespace, kill reaches all others and this one not.
void ProgramInit::StopAll() const {
  if (getpid() == kFirst) (void)kill(-1, SIGSTOP);
}

void ProgramInit::ContinueAll() const {
  if (getpid() == kFirst) (void)kill(-1, SIGCONT);
}

uint64_t ProgramInit::CpuMicroseconds() const {
  clockid_t clock{};
  timespec used{};
  if (program_ < 0 || clock_getcpuclockid(program_, &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(used.tv_nsec) / 1000;
}

// Until the program itself ends: its status; what it has started may still run. Or until `receive`
// wants no more of `source`: nullopt.
std::optional<int> ProgramInit::Watch(const core::UniqueFd* source,
                                      const std::function<bool()>& receive) {
  for (;;) {
    std::array<pollfd, 5> watched = {{{signals_.get(), POLLIN, 0},
                                      {output_[0].get(), POLLIN, 0},
                                      {output_[1].get(), POLLIN, 0},
                                      {input_to_ ? input_to_.get() : -1, POLLOUT, 0},
                                      {source && *source ? source->get() : -1, POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) _exit(kReportFailed);
    for (const size_t stream : {0, 1}) {
      if (watched[stream + 1].revents != 0) Drain(stream);
    }
    if (watched[3].revents != 0) PassInputOn();
    if (watched[4].revents != 0 && !receive()) return std::nullopt;
    if (watched[0].revents == 0) continue;
    if (const std::optional<int> ended = HandleSignals(true)) return ended;
  }
}

// Reaps whatever has ended: the status of the program once it is among them. `interrupts`: passes
// an interrupt of the host on.
std::optional<int> ProgramInit::HandleSignals(bool interrupts) {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) > 0) {
    // The host is in another PID namespace, so its signals have no sender here. To the program's
    // process group: it leads a session of its own.
    const bool is_hosts = info.ssi_signo == SIGINT && info.ssi_pid == 0;
    if (interrupts && is_hosts) (void)kill(-program_, SIGINT);
  }
  std::optional<int> ended;
  int status = 0;
  rusage usage{};
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    if (pid != program_) continue;
    ended = status;
    max_rss_bytes_ = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  return ended;
}

// In a container they are its children, some of them once their own parents have ended; the host
// kills any that it misses.
void ProgramInit::EndAll() {
  if (getpid() == kFirst) (void)kill(-1, SIGKILL);
  do {
    if (getpid() != kFirst && !KillChildren()) break;
  } while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
  input_to_.Reset();
}

void ProgramInit::Drain(size_t stream) {
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

void ProgramInit::KeepTail(std::string_view bytes) {
  tail_ += bytes;
  if (tail_.size() > 2 * kErrorTail) tail_.erase(0, tail_.size() - kErrorTail);
}

void ProgramInit::PassInputOn() {
  const ssize_t size = write(input_to_.get(), input_.data(), std::min(input_.size(), kPiece));
  if (size > 0) input_.remove_prefix(static_cast<size_t>(size));
  const bool is_refused = size < 0 && errno != EAGAIN && errno != EINTR;
  if (is_refused || input_.empty()) input_to_.Reset();
}

}  // namespace belljar::inside
