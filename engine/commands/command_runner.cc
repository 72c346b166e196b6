#include "engine/commands/command_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/core/flat.h"
#include "engine/core/profile.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"
#include "engine/seal/privileges.h"
#include "engine/workers/process_tree.h"

namespace belljar::commands {
namespace {

using core::CommandEvent;
using core::CommandOrder;

constexpr char kStart[] = "start a command";
// For the worker to take an order: microseconds, unless the machine is busy.
constexpr std::chrono::seconds kSendTimeout{20};
// For a command and its descendants to end once they have been killed.
constexpr std::chrono::seconds kEndTimeout{2};
// As a process fills memory; twice as long each time that nothing has used the processor.
constexpr std::chrono::milliseconds kMemoryInterval{20};
constexpr std::chrono::milliseconds kMaxMemoryInterval{250};
constexpr int kPipeSize = 1 << 20;
// Between two looks at what nobody reads and most of which is dropped: a flood must not keep a
// processor of the host busy.
constexpr std::chrono::milliseconds kRest{4};
constexpr size_t kMaxArguments = size_t{2} << 20;  // as Linux allows (execve(2))

core::Error Unusable(std::string why) { return core::MakeError(kStart, std::move(why)); }

core::Result<void> CheckText(const std::string& text, const char* what) {
  if (text.find('\0') == text.npos) return {};
  return Unusable(std::string(what) + " contains a NUL byte");
}

core::Result<void> CheckRequest(const CommandRequest& request) {
  if (request.arguments.empty() || request.arguments.front().empty())
    return Unusable("there is no command: give at least the name of a program");
  size_t size = 0;
  for (const std::string& argument : request.arguments) {
    size += argument.size() + 1;
    if (core::Result<void> checked = CheckText(argument, "an argument"); !checked) return checked;
  }
  for (const std::string& variable : request.environment) {
    size += variable.size() + 1;
    if (core::Result<void> checked = CheckText(variable, "a variable of its environment"); !checked)
      return checked;
    if (variable.find('=') == variable.npos || variable.front() == '=')
      return Unusable(core::Quoted(variable) + " is no variable: it has the form NAME=value");
  }
  if (size > kMaxArguments) {
    return Unusable("its arguments and environment have " + std::to_string(size) +
                    " bytes; at most " + std::to_string(kMaxArguments) +
                    " are possible: give them in a file or on standard input");
  }
  return CheckText(request.directory, "the directory");
}

core::Result<void> CheckTime(std::chrono::milliseconds wanted, std::chrono::milliseconds most,
                             const char* what) {
  if (wanted <= most) return {};
  return Unusable(std::string(what) + " is " + core::FormatDuration(wanted) + "; at most " +
                  core::FormatDuration(most) + " are allowed");
}

std::string DirectoryOf(const CommandRequest& request) {
  const std::filesystem::path folder =
      std::filesystem::path(core::kWorkspacePath) / request.directory;
  return folder.lexically_normal().string();
}

struct Pipe {
  core::UniqueFd read;
  core::UniqueFd write;
};

// `hosts`: the end that stays here, which never blocks. The guest's user must be able to open its
// own end again (/dev/stdout).
core::Result<Pipe> OpenPipe(core::UniqueFd Pipe::*hosts) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::SystemError(kStart);
  Pipe pipe{core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
  (void)fcntl(pipe.write.get(), F_SETPIPE_SZ, kPipeSize);
  if (geteuid() == 0 && fchown(pipe.write.get(), seal::kSandboxUid, seal::kSandboxUid) != 0)
    return core::SystemError(kStart);
  if (fcntl((pipe.*hosts).get(), F_SETFL, O_NONBLOCK) != 0) return core::SystemError(kStart);
  return pipe;
}

// A terminal in the worker's own /dev/pts: its other end, which stays here, and itself.
core::Result<std::pair<core::UniqueFd, core::UniqueFd>> OpenTerminal(int terminals,
                                                                     TerminalSize size) {
  if (terminals < 0) return Unusable("there are no terminals here");
  core::UniqueFd other(openat(terminals, "ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  const int unlocked = 0;
  if (!other || ioctl(other.get(), TIOCSPTLCK, &unlocked) != 0) {
    return core::SystemError("open a terminal", errno == ENOSPC ? "too many are open" : "");
  }
  core::UniqueFd terminal(ioctl(other.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  const winsize wanted{size.rows, size.columns, 0, 0};
  if (!terminal || ioctl(other.get(), TIOCSWINSZ, &wanted) != 0)
    return core::SystemError("open a terminal");
  return std::pair(std::move(other), std::move(terminal));
}

// Programs of the machine, which a shell session shows.
std::vector<std::string> Programs() {
  std::vector<std::string> names;
  std::error_code code;
  for (const char* folder : {"/usr/local/bin", "/usr/bin"}) {
    for (std::filesystem::directory_iterator at(folder, code), end; !code && at != end;
         at.increment(code)) {
      names.push_back(at->path().filename().string());
    }
  }
  return names;
}

std::string WhyNotStarted(const CommandRequest& request, const CommandEvent& event) {
  const std::string& name = request.arguments.front();
  const std::string reason = strerrordesc_np(event.status);
  if (event.step == CommandEvent::kDirectory)
    return "the directory " + core::Quoted(DirectoryOf(request)) + ": " + reason;
  if (event.step == CommandEvent::kFork) return "no process could be started: " + reason;
  if (event.status != ENOENT) return core::Quoted(name) + " cannot be executed: " + reason;
  if (name.find('/') != name.npos) {
    return "there is no file " + core::Quoted(name) +
           ", or the interpreter that its first line names is not there";
  }
  return "there is no command " + core::Quoted(name) + host::Suggestion(name, Programs());
}

}  // namespace

core::Result<std::unique_ptr<CommandRunner>> CommandRunner::Begin(workers::Worker worker,
                                                                  CommandTerms terms) {
  core::Result<waiting::Event> wake = waiting::Event::Create(kStart);
  if (!wake) return wake.error();
  std::unique_ptr<CommandRunner> runner(
      new CommandRunner(std::move(worker), std::move(terms),
                        std::make_shared<const waiting::Event>(std::move(*wake))));
  if (core::Result<void> begun = runner->BeginSession(); !begun) return begun.error();
  if (core::Result<void> started =
          runner->thread_.Start(kStart, [runner = runner.get()] { runner->Serve(); });
      !started) {
    return started.error();
  }
  return runner;
}

CommandRunner::CommandRunner(workers::Worker worker, CommandTerms terms,
                             std::shared_ptr<const waiting::Event> wake)
    : terms_(std::move(terms)), worker_(std::move(worker)), wake_(std::move(wake)) {}

CommandRunner::~CommandRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_->Raise();
  thread_.Join();
  EndAll("the session has ended");
  terms_.retire(std::move(worker_));
}

core::Result<void> CommandRunner::BeginSession() {
  // A worker that has been taken over must not hold up the thread.
  const timeval patience{.tv_sec = kEndTimeout.count(), .tv_usec = 0};
  if (setsockopt(worker_.socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
    return core::SystemError("begin a session");
  return workers::BeginSession(worker_, terms_.limits);
}

// --- starting ------------------------------------------------------------------------------------

core::Result<void> CommandRunner::Send(const CommandOrder& order, std::string_view bytes,
                                       std::span<const int> descriptors) {
  const std::lock_guard lock(sending_);
  const int socket = worker_.socket.get();
  if (auto sent = core::SendMessage(socket, core::AsBytes(order), descriptors); !sent) return sent;
  const std::string_view parts[] = {bytes};
  return core::SendAll(socket, parts, core::Clock::now() + kSendTimeout);
}

// The guest's ends.
core::Result<core::Descriptors> CommandRunner::Connect(Command& command) {
  core::Descriptors guests;
  const CommandRequest& request = command.request();
  if (request.terminal) {
    auto terminal = OpenTerminal(worker_.resources.terminals.get(), *request.terminal);
    if (!terminal) return terminal.error();
    for (size_t i = 0; i < core::kCommandDescriptors; ++i) {
      guests.emplace_back(fcntl(terminal->second.get(), F_DUPFD_CLOEXEC, 0));
    }
    command.sources_[0] = core::UniqueFd(fcntl(terminal->first.get(), F_DUPFD_CLOEXEC, 0));
    command.input_.to = core::UniqueFd(fcntl(terminal->first.get(), F_DUPFD_CLOEXEC, 0));
    command.terminal_ = std::move(terminal->first);
    return guests;
  }
  core::Result<Pipe> in = OpenPipe(&Pipe::write);
  if (!in) return in.error();
  guests.push_back(std::move(in->read));
  command.input_.to = std::move(in->write);
  for (core::UniqueFd& source : command.sources_) {
    core::Result<Pipe> out = OpenPipe(&Pipe::read);
    if (!out) return out.error();
    guests.push_back(std::move(out->write));
    source = std::move(out->read);
  }
  return guests;
}

bool CommandRunner::IsOver(const std::shared_ptr<Command>& command) {
  const std::lock_guard lock(command->mutex_);
  return command->IsOver();
}

void CommandRunner::Remember(const std::shared_ptr<Command>& command) {
  if (commands_.size() >= kMaxRemembered) {
    const auto over = std::ranges::find_if(commands_, IsOver);
    if (over != commands_.end()) commands_.erase(over);
  }
  commands_.push_back(command);
}

core::Result<std::shared_ptr<Command>> CommandRunner::Start(CommandRequest request,
                                                            const waiting::Wait& wait) {
  if (core::Result<void> checked = CheckRequest(request); !checked) return checked.error();
  for (const auto& [wanted, most, what] :
       {std::tuple{request.timeout, terms_.most.timeout, "timeout"},
        std::tuple{request.cpu, terms_.most.cpu, "cpu"}}) {
    if (core::Result<void> checked = CheckTime(wanted, most, what); !checked)
      return checked.error();
  }
  if (request.cpu.count() == 0) request.cpu = terms_.most.cpu;
  // Not kept longer than it is needed.
  const bool has_input = request.input.has_value();
  std::string input = has_input ? std::move(*std::exchange(request.input, "")) : std::string();
  core::CommandStart start;
  start.arguments = request.arguments;
  start.environment = terms_.environment;
  for (const std::string& variable : request.environment) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(start.environment,
                  [&](const std::string& each) { return each.starts_with(name); });
    start.environment.push_back(variable);
  }
  start.directory = DirectoryOf(request);
  start.has_terminal = request.terminal.has_value();

  std::shared_ptr<Command> command;
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_ || HasEnded()) return Unusable("the session has ended");
    const auto over = std::ranges::count_if(commands_, IsOver);
    if (commands_.size() - static_cast<size_t>(over) >= kMaxRunning) {
      return core::SystemErrorOf(
          EBUSY, kStart,
          std::to_string(kMaxRunning) + " commands of the session run: end some, or wait for them");
    }
    command = std::make_shared<Command>(++last_, std::move(request), wake_);
  }
  core::Result<core::Descriptors> guests = Connect(*command);
  if (!guests) return guests.error();
  {
    const std::lock_guard lock(command->mutex_);
    if (has_input) {
      command->input_.pending = std::move(input);
      command->input_.closes = true;
      command->FlushInput();
    }
    command->check_ = core::Clock::now();
  }
  {
    const std::lock_guard lock(mutex_);
    Remember(command);
  }
  const std::string bytes = core::ToFlat(start);
  const CommandOrder order{
      .kind = CommandOrder::kStart, .command = command->number(), .value = bytes.size()};
  std::vector<int> descriptors;
  for (const core::UniqueFd& each : *guests) descriptors.push_back(each.get());
  if (auto sent = Send(order, bytes, descriptors); !sent) {
    const std::lock_guard lock(command->mutex_);
    command->End(CommandState::kLost, "the session has ended");
    return Unusable("the session has ended: " + sent.error().ToString());
  }
  guests->clear();
  wake_->Raise();
  std::unique_lock lock(command->mutex_);
  while (!command->has_begun_ && !command->HasEnded()) {
    const auto late = [] { return std::string("it has not been executed in time"); };
    if (auto waited = command->waiters_.Take(lock, wait, kStart, late); !waited) {
      command->is_to_end_ = true;
      wake_->Raise();
      return waited.error();
    }
  }
  return command;
}

std::vector<std::shared_ptr<Command>> CommandRunner::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

std::shared_ptr<Command> CommandRunner::Find(uint64_t number) const {
  for (const std::shared_ptr<Command>& each : commands()) {
    if (each->number() == number) return each;
  }
  return nullptr;
}

// --- serving -------------------------------------------------------------------------------------

void CommandRunner::Serve() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
    }
    std::vector<std::shared_ptr<Command>> live = commands();
    std::erase_if(live, IsOver);
    Watch(live);
    ReportEnds(live);
    if (HasEnded()) return EndAll("the processes of the session have been killed");
  }
}

// Entries per command: its two sources and its input.
void CommandRunner::Watch(const std::vector<std::shared_ptr<Command>>& commands) {
  constexpr size_t kEach = 3;
  core::Deadline next = core::Deadline::max();
  const core::Deadline now = core::Clock::now();
  std::vector<pollfd> polled = {{wake_->fd(), POLLIN, 0},
                                {worker_.socket.get(), POLLIN, 0},
                                {worker_.process.ended_fd(), POLLIN, 0}};
  CheckMemory(commands, now);
  next = std::min(next, memory_check_);
  for (const std::shared_ptr<Command>& each : commands) {
    const std::lock_guard lock(each->mutex_);
    next = std::min(next, Check(*each, now));
    for (size_t i = 0; i < each->sources_.size(); ++i) {
      const bool rests = now < each->rests_until_[i];
      if (rests) next = std::min(next, each->rests_until_[i]);
      const bool reads = each->sources_[i] && !each->streams_[i].IsFull() && !rests;
      polled.push_back({reads ? each->sources_[i].get() : -1, POLLIN, 0});
    }
    polled.push_back({each->HasPendingInput() ? each->input_.to.get() : -1, POLLOUT, 0});
  }
  const int timeout = next == core::Deadline::max() ? -1 : core::PollTimeout(next);
  if (poll(polled.data(), polled.size(), timeout) < 0) return;  // EINTR
  if (polled[0].revents != 0) wake_->Lower();
  for (size_t i = 0; i < commands.size(); ++i) {
    Move(*commands[i], &polled[kEach + i * kEach]);
    CarryOut(*commands[i]);
  }
  if (polled[1].revents != 0 && !ReceiveEvents()) worker_.process.Stop();
}

void CommandRunner::Move(Command& command, const pollfd* polled) {
  const std::lock_guard lock(command.mutex_);
  bool has_changed = false;
  for (size_t i = 0; i < command.sources_.size(); ++i) {
    // The descriptors are only replaced by this thread.
    if (polled[i].revents == 0) continue;
    if (!command.streams_[i].ReadFrom(command.sources_[i].get())) {
      command.sources_[i].Reset();
      command.streams_[i].Close();
    }
    if (command.streams_[i].IsDropping()) command.rests_until_[i] = core::Clock::now() + kRest;
    has_changed = true;
  }
  if (polled[2].revents != 0) {
    command.FlushInput();
    has_changed = true;
  }
  if (has_changed) command.Changed();
}

// What callers have asked for.
void CommandRunner::CarryOut(Command& command) {
  std::vector<int> signals;
  {
    const std::lock_guard lock(command.mutex_);
    signals.swap(command.signals_);
    if (std::exchange(command.is_to_end_, false))
      Condemn(command, CommandState::kKilled, "it was killed by its caller");
  }
  for (const int number : signals) {
    (void)Send({.kind = CommandOrder::kSignal,
                .command = command.number(),
                .value = static_cast<uint64_t>(number)});
  }
}

// Requires its mutex_.
void CommandRunner::Condemn(Command& command, CommandState state, std::string reason) {
  const bool is_over = command.HasEnded() && !command.status_.has_processes;
  if (is_over || command.verdict_ != CommandState::kRunning) return;
  command.verdict_ = state;
  command.reason_ = std::move(reason);
  command.last_resort_ = core::Clock::now() + kEndTimeout;
  (void)Send({.kind = CommandOrder::kEnd, .command = command.number()});
}

// Requires its mutex_. When to look again.
core::Deadline CommandRunner::Check(Command& command, core::Deadline now) {
  const CommandRequest& request = command.request_;
  core::Deadline next = core::Deadline::max();
  if (now >= command.last_resort_) {
    // First everything of the session, then the session.
    if (command.is_last_resort_) {
      worker_.process.Kill();
      return now + kEndTimeout;
    }
    command.is_last_resort_ = true;
    command.last_resort_ = now + kEndTimeout;
    (void)Send({.kind = CommandOrder::kEndAll});
  }
  if (!command.HasEnded() && command.verdict_ == CommandState::kRunning) {
    if (request.timeout.count() > 0) {
      next = command.began_ + request.timeout;
      if (now >= next)
        Condemn(command, CommandState::kTimeout,
                "stopped after " + core::FormatDuration(request.timeout) + " of wall time");
    }
    if (now >= command.check_ && command.supervisor_ > 0) {
      static const auto processors = std::max(1u, std::thread::hardware_concurrency());
      const auto used = workers::UsageOfTree(command.supervisor_).cpu_time;
      const auto left = request.cpu - used;
      if (left <= left.zero())
        Condemn(command, CommandState::kCpuLimit,
                "stopped after " + core::FormatDuration(request.cpu) + " of CPU time");
      command.check_ =
          now + std::max<std::chrono::microseconds>(left / processors, kMemoryInterval);
    }
    if (command.supervisor_ > 0) next = std::min(next, command.check_);
  }
  return std::min(next, command.last_resort_);
}

// Of all commands together. The one that uses the most is killed.
void CommandRunner::CheckMemory(const std::vector<std::shared_ptr<Command>>& commands,
                                core::Deadline now) {
  std::vector<std::pair<uint64_t, std::shared_ptr<Command>>> alive;
  for (const std::shared_ptr<Command>& each : commands) {
    const std::lock_guard lock(each->mutex_);
    if (each->supervisor_ > 0) alive.emplace_back(0, each);
  }
  if (alive.empty()) {
    memory_check_ = core::Deadline::max();
    return;
  }
  if (memory_check_ == core::Deadline::max()) {
    memory_interval_ = kMemoryInterval;
    memory_check_ = now + memory_interval_;
    return;
  }
  if (now < memory_check_) return;
  const uint64_t limit = terms_.limits.memory.count;
  const workers::TreeUsage usage = workers::UsageOfTree(pid());
  // Counted closely only where it matters, and twice (run/execution.cc).
  if (usage.memory > limit && workers::MemoryOfTree(pid()) > limit &&
      workers::MemoryOfTree(pid()) > limit) {
    for (auto& [memory, command] : alive) memory = workers::MemoryOfTree(command->supervisor_);
    Command& largest = *std::ranges::max_element(alive)->second;
    const std::lock_guard lock(largest.mutex_);
    Condemn(largest, CommandState::kMemoryLimit,
            "stopped: the commands of the session together had more than " +
                terms_.limits.memory.ToString() + " of memory, and this one had the most");
  }
  const bool rests = usage.cpu_time == cpu_seen_;
  cpu_seen_ = usage.cpu_time;
  memory_interval_ = rests ? std::min(2 * memory_interval_, kMaxMemoryInterval) : kMemoryInterval;
  memory_check_ = now + memory_interval_;
}

// --- what the worker says ------------------------------------------------------------------------

// False: it has ended, or is not what it was.
bool CommandRunner::ReceiveEvents() {
  std::array<char, 64 * sizeof(CommandEvent)> piece{};
  const ssize_t got = recv(worker_.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  received_.append(piece.data(), static_cast<size_t>(got));
  size_t at = 0;
  for (; received_.size() - at >= sizeof(CommandEvent); at += sizeof(CommandEvent)) {
    CommandEvent event;
    memcpy(&event, received_.data() + at, sizeof event);
    if (event.magic != CommandEvent{}.magic) return false;
    Take(event);
  }
  received_.erase(0, at);
  return true;
}

void CommandRunner::Take(const CommandEvent& event) {
  const std::shared_ptr<Command> command = Find(event.command);
  if (!command) return;
  if (event.kind == CommandEvent::kStarted) {
    const pid_t supervisor = workers::ChildInNamespace(pid(), event.supervisor);
    const std::lock_guard lock(command->mutex_);
    command->supervisor_ = supervisor;
    command->has_begun_ = true;
    return command->Changed();
  }
  const std::lock_guard lock(command->mutex_);
  CommandStatus& status = command->status_;
  status.cpu_time = std::chrono::microseconds(event.cpu_microseconds);
  status.max_rss_bytes = event.max_rss_bytes;
  Drain(*command);
  if (event.kind == CommandEvent::kNotStarted) {
    return command->End(CommandState::kNotStarted, WhyNotStarted(command->request_, event));
  }
  if (event.kind == CommandEvent::kExited) {
    status.signal = WIFSIGNALED(event.status) ? WTERMSIG(event.status) : 0;
    status.exit_code = status.signal != 0 ? 128 + status.signal : WEXITSTATUS(event.status);
    if (command->verdict_ != CommandState::kRunning) return;  // once all of it has ended
    status.has_processes = event.step == CommandEvent::kOthersRun;
    return command->End(CommandState::kExited, "");
  }
  status.has_processes = false;
  command->terminal_.Reset();
  command->input_.to.Reset();
  command->supervisor_ = -1;
  command->last_resort_ = core::Deadline::max();
  const bool is_lost = command->verdict_ == CommandState::kRunning;
  command->End(is_lost ? CommandState::kLost : command->verdict_,
               is_lost ? "a program has killed the process that watches over it, so all commands "
                         "of the session were ended"
                       : command->reason_);
  command->Changed();
}

// What has been written so far. Requires its mutex_.
void CommandRunner::Drain(Command& command) {
  constexpr size_t kMost = size_t{4} << 20;  // more than a pipe holds
  for (size_t i = 0; i < command.sources_.size(); ++i) {
    OutputBuffer& stream = command.streams_[i];
    const int source = command.sources_[i].get();
    const uint64_t until = stream.extent().end + kMost;
    int waits = 0;
    while (command.sources_[i] && !stream.IsFull() && stream.extent().end < until &&
           ioctl(source, FIONREAD, &waits) == 0 && waits > 0) {
      if (!stream.ReadFrom(source)) break;
    }
    waits = 0;
    if (command.sources_[i]) (void)ioctl(source, FIONREAD, &waits);
    if (!command.HasEnded())
      command.ends_[i] = stream.extent().end + static_cast<uint64_t>(std::max(waits, 0));
  }
}

void CommandRunner::EndAll(const std::string& why) {
  for (const std::shared_ptr<Command>& each : commands()) {
    const std::lock_guard lock(each->mutex_);
    Drain(*each);
    each->End(CommandState::kLost, why);
    each->status_.has_processes = false;
    for (size_t i = 0; i < each->sources_.size(); ++i) {
      each->sources_[i].Reset();
      each->streams_[i].Close();
    }
    each->input_.to.Reset();
    each->terminal_.Reset();
    each->Changed();
  }
  ReportEnds(commands());
}

void CommandRunner::ReportEnds(const std::vector<std::shared_ptr<Command>>& commands) {
  for (const std::shared_ptr<Command>& each : commands) {
    {
      const std::lock_guard lock(each->mutex_);
      if (!each->HasEnded() || std::exchange(each->is_reported_, true)) continue;
    }
    if (each->request_.on_end) each->request_.on_end(*each);
  }
}

}  // namespace belljar::commands
