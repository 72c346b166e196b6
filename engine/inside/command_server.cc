#include "engine/inside/command_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/command_messages.h"
#include "engine/core/fd.h"
#include "engine/core/flat.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/child_processes.h"
#include "engine/inside/host_channel.h"

namespace belljar::inside {
namespace {

using core::CommandEvent;
using core::CommandOrder;
using core::CommandStart;

constexpr size_t kMaxStart = size_t{4} << 20;
constexpr int kNotExecuted = 127;

// From a pipe. False: it has been closed before.
bool ReadWhole(int pipe, void* to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = read(pipe, static_cast<char*>(to) + done, size - done);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) done += static_cast<size_t>(got);
  }
  return true;
}

void Add(const rusage& usage, CommandEvent& event) {
  event.cpu_microseconds += Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime);
  event.max_rss_bytes =
      std::max(event.max_rss_bytes, static_cast<uint64_t>(usage.ru_maxrss) * 1024);
}

// Why a command has not been executed, through a pipe that its execution closes.
struct Failure {
  uint32_t step = 0;
  int32_t error_number = 0;
};

[[noreturn]] void Execute(const CommandStart& start, const core::Descriptors& given, int failures) {
  const auto fail = [&](CommandEvent::Step step) {
    const Failure failure{step, errno};
    (void)core::WriteBytes(failures, core::AsBytes(failure));
    _exit(kNotExecuted);
  };
  for (int i = 0; i < static_cast<int>(core::kCommandDescriptors); ++i) {
    if (dup2(given[static_cast<size_t>(i)].get(), i) < 0) fail(CommandEvent::kFork);
  }
  if (setsid() < 0) fail(CommandEvent::kFork);
  if (start.has_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) fail(CommandEvent::kFork);
  if (chdir(start.directory.c_str()) != 0) fail(CommandEvent::kDirectory);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  (void)pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> environment = Pointers(start.environment);
  environ = environment.data();
  (void)execvp(start.arguments.front().c_str(), Pointers(start.arguments).data());
  fail(CommandEvent::kExecute);
  abort();
}

// One command, and what it has started. A process of its own.
class Supervisor {
 public:
  Supervisor(uint64_t command, core::UniqueFd events, core::UniqueFd orders)
      : events_(std::move(events)), orders_(std::move(orders)) {
    event_.command = command;
  }

  [[noreturn]] void Run(const CommandStart& start, core::Descriptors given) {
    if (const std::optional<Failure> failure = Start(start, std::move(given))) {
      event_.status = failure->error_number;
      event_.step = failure->step;
      Report(CommandEvent::kNotStarted);
      EndAll();
      _exit(0);
    }
    event_.status = program_;
    Report(CommandEvent::kStarted);
    while (Reap()) Wait();
    event_.status = 0;
    Report(CommandEvent::kGone);
    _exit(0);
  }

 private:
  std::optional<Failure> Start(const CommandStart& start, core::Descriptors given) {
    const auto failed = [] { return Failure{CommandEvent::kFork, errno}; };
    // EINVAL: gVisor of 2022.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL) return failed();
    // Its signals must not be those of a terminal's process group.
    if (setsid() < 0) return failed();
    sigset_t watched;
    sigfillset(&watched);
    (void)pthread_sigmask(SIG_BLOCK, &watched, nullptr);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    signals_ = core::UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    int ends[2];
    if (!signals_ || pipe2(ends, O_CLOEXEC) != 0) return failed();
    const core::UniqueFd failures(ends[0]);
    core::UniqueFd failing(ends[1]);
    program_ = fork();
    if (program_ < 0) return failed();
    if (program_ == 0) Execute(start, given, failing.get());
    failing.Reset();
    given.clear();
    Failure failure;
    if (!ReadWhole(failures.get(), &failure, sizeof failure)) return std::nullopt;
    return failure;
  }

  // False: nothing is left.
  bool Reap() {
    int status = 0;
    rusage usage{};
    pid_t pid = 0;
    bool has_exited = false;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
      Add(usage, event_);
      if (pid != program_) continue;
      program_ = -1;
      event_.status = status;
      has_exited = true;
    }
    event_.step = pid == 0 ? CommandEvent::kOthersRun : CommandEvent::kFork;
    if (has_exited) Report(CommandEvent::kExited);
    return pid == 0;
  }

  void Wait() {
    std::array<pollfd, 2> watched = {{{signals_.get(), POLLIN, 0}, {orders_.get(), POLLIN, 0}}};
    if (poll(watched.data(), watched.size(), -1) < 0) return;
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) > 0) continue;
    if (watched[1].revents != 0) EndAll();
  }

  // The children of those that are killed become its own.
  void EndAll() {
    while (Reap()) {
      // What cannot be listed cannot be killed: then the server kills everything.
      if (!KillChildren()) _exit(kReportFailed);
      siginfo_t ended;
      (void)waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
    }
  }

  void Report(CommandEvent::Kind kind) {
    event_.kind = kind;
    (void)core::WriteBytes(events_.get(), core::AsBytes(event_));
  }

  const core::UniqueFd events_;
  const core::UniqueFd orders_;  // readable: kill everything
  core::UniqueFd signals_;
  pid_t program_ = -1;
  CommandEvent event_;
};

class CommandServer {
 public:
  explicit CommandServer(int socket) : socket_(socket) {
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    signals_ = core::UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) _exit(kReportFailed);
  }

  [[noreturn]] void Serve() {
    for (;;) {
      std::vector<pollfd> watched = {{socket_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      for (const Running& each : running_) watched.push_back({each.events.get(), POLLIN, 0});
      if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) _exit(kReportFailed);
      ForwardFrom(watched.data() + 2);
      if (watched[1].revents != 0) Reap();
      if (watched[0].revents != 0) Receive();
    }
  }

 private:
  struct Running {
    uint64_t command = 0;
    pid_t supervisor = -1;
    pid_t program = -1;
    core::UniqueFd events;
    core::UniqueFd ends;  // closed: kills everything
  };

  void Send(const CommandEvent& event) const {
    const std::string_view parts[] = {core::AsBytes(event)};
    if (!core::SendAll(socket_, parts, core::Clock::now() + std::chrono::hours(24))) _exit(kUnused);
  }

  // `watched`: an entry for each that runs, in order.
  void ForwardFrom(const pollfd* watched) {
    for (auto each = running_.begin(); each != running_.end(); ++watched) {
      const bool goes_on = watched->revents == 0 || Forward(*each);
      if (running_.empty()) return;
      each = goes_on ? std::next(each) : running_.erase(each);
    }
  }

  // False: that was the last event.
  bool Forward(Running& running) {
    CommandEvent event;
    if (ReadWhole(running.events.get(), &event, sizeof event)) {
      event.command = running.command;
      event.supervisor = running.supervisor;
      running.program = event.kind == CommandEvent::kStarted ? event.status : -1;
      Send(event);
      return event.kind != CommandEvent::kGone && event.kind != CommandEvent::kNotStarted;
    }
    // Its supervisor has been killed, and what it has started can no longer be told from others.
    (void)kill(-1, SIGKILL);
    for (const Running& each : std::exchange(running_, {}))
      Send({.kind = CommandEvent::kGone, .command = each.command, .status = SIGKILL});
    return false;
  }

  void Reap() const {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof info) > 0) continue;
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }

  void Receive() {
    core::Result<core::Message> message = core::ReceiveMessage(socket_, sizeof(CommandOrder));
    CommandOrder order;
    if (!message || message->bytes.size() != sizeof order) _exit(kUnused);
    memcpy(&order, message->bytes.data(), sizeof order);
    if (order.magic != CommandOrder{}.magic) _exit(kUnused);
    if (order.kind == CommandOrder::kStart) return Start(order, std::move(message->descriptors));
    if (order.kind == CommandOrder::kEndAll) (void)kill(-1, SIGKILL);
    const auto found = std::ranges::find(running_, order.command, &Running::command);
    if (found == running_.end()) return;
    if (order.kind == CommandOrder::kEnd) {
      found->ends.Reset();
      (void)kill(found->supervisor, SIGCONT);  // another program may have stopped it
    }
    // It leads a session, so its group has its number.
    if (order.kind == CommandOrder::kSignal && found->program > 0)
      (void)kill(-found->program, static_cast<int>(order.value));
  }

  void Start(const CommandOrder& order, core::Descriptors given) {
    std::string bytes(std::min<size_t>(order.value, kMaxStart), '\0');
    if (!core::ReceiveExactly(socket_, bytes.data(), bytes.size())) _exit(kUnused);
    const core::Result<CommandStart> start = core::FromFlat<CommandStart>("command", bytes);
    if (!start || given.size() != core::kCommandDescriptors || start->arguments.empty())
      _exit(kUnused);
    const int error_number = Fork(order.command, *start, std::move(given));
    if (error_number == 0) return;
    Send({.kind = CommandEvent::kNotStarted, .command = order.command, .status = error_number});
  }

  // Returns an errno.
  int Fork(uint64_t command, const CommandStart& start, core::Descriptors given) {
    int events[2], orders[2];
    if (pipe2(events, O_CLOEXEC) != 0) return errno;
    core::UniqueFd events_read(events[0]), events_write(events[1]);
    if (pipe2(orders, O_CLOEXEC) != 0) return errno;
    core::UniqueFd orders_read(orders[0]), orders_write(orders[1]);
    const pid_t pid = fork();
    if (pid < 0) return errno;
    if (pid == 0) {
      // What the server holds of other commands.
      running_.clear();
      signals_.Reset();
      (void)close(socket_);
      events_read.Reset();
      orders_write.Reset();
      Supervisor(command, std::move(events_write), std::move(orders_read))
          .Run(start, std::move(given));
    }
    running_.push_back({command, pid, -1, std::move(events_read), std::move(orders_write)});
    return 0;
  }

  const int socket_;
  core::UniqueFd signals_;
  std::list<Running> running_;
};

}  // namespace

void ServeCommands(int socket) { CommandServer(socket).Serve(); }

}  // namespace belljar::inside
