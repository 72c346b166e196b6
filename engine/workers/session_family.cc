#include "engine/workers/session_family.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/workers/observe.h"
#include "engine/workers/worker.h"

namespace belljar::workers {
namespace {

// Orders take a millisecond, unless the machine is busy.
constexpr std::chrono::seconds kObeyTimeout{20};
constexpr char kAsk[] = "ask a session's init";
constexpr char kCopy[] = "copy a session's process";
constexpr char kWake[] = "wake a session's process";

core::Result<core::InitReply> ReceiveReply(int control, core::Deadline deadline) {
  if (core::Result<void> ready = core::WaitReadable(control, deadline); !ready) {
    return ready.error();
  }
  core::InitReply reply;
  core::Result<core::Message> message = core::ReceiveMessage(control, sizeof reply);
  if (!message) return message.error();
  if (message->bytes.size() != sizeof reply) return core::MakeError(kAsk, "it has ended");
  memcpy(&reply, message->bytes.data(), sizeof reply);
  return reply;
}

// A hostile process may send less, or nothing.
core::Result<core::WorkerSignal> ReceiveSignal(int socket, core::Deadline deadline,
                                               const char* operation) {
  core::WorkerSignal signal;
  if (core::Result<void> ready = core::WaitReadable(socket, deadline); !ready) {
    return ready.error();
  }
  // A signal is sent at once, and arrives at once.
  const ssize_t got = recv(socket, &signal, sizeof signal, MSG_DONTWAIT);
  if (got != static_cast<ssize_t>(sizeof signal)) {
    return core::MakeError(operation, "it died, or sent something else");
  }
  return signal;
}

timeval TimeOf(int64_t microseconds) {
  return {static_cast<time_t>(microseconds / 1'000'000),
          static_cast<suseconds_t>(microseconds % 1'000'000)};
}

core::Result<void> SetSoft(pid_t pid, __rlimit_resource resource, rlim_t soft) {
  rlimit limit{};
  if (prlimit(pid, resource, nullptr, &limit) != 0) return core::SystemError("prlimit");
  limit.rlim_cur = std::min(soft, limit.rlim_max);
  if (prlimit(pid, resource, &limit, nullptr) != 0) return core::SystemError("prlimit");
  return {};
}

core::Result<void> Lower(pid_t pid, __rlimit_resource resource, rlim_t by) {
  rlimit limit{};
  if (prlimit(pid, resource, nullptr, &limit) != 0) return core::SystemError("prlimit");
  limit.rlim_cur -= std::min(by, limit.rlim_cur);
  limit.rlim_max = limit.rlim_cur;
  if (prlimit(pid, resource, &limit, nullptr) != 0) return core::SystemError("prlimit");
  return {};
}

// The parent of a process, from its /proc stat; -1: it is gone; nullopt: this machine lacks what is
// needed to find out.
std::optional<pid_t> ParentOf(const std::string& pid) {
  const core::UniqueFd file(open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return core::IsExhaustion(errno) ? std::nullopt : std::optional<pid_t>(-1);
  std::array<char, 256> buffer{};  // a name has at most 15 bytes
  const ssize_t got = read(file.get(), buffer.data(), buffer.size());
  const std::string_view text(buffer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
  // "pid (name) state ppid": the name may have any characters.
  const size_t name_end = text.rfind(") ");
  if (name_end == std::string_view::npos || text.size() < name_end + 5) return -1;
  pid_t parent = -1;
  std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);
  return parent;
}

// `descriptor` is borrowed.
core::Result<void> Order(Worker& worker, const core::SessionOrder& order, int descriptor) {
  const int descriptors[] = {descriptor};
  worker.process.Resume();
  return core::SendMessage(worker.socket.get(), core::AsBytes(order), descriptors);
}

}  // namespace

core::Result<void> SessionFamily::AdoptFirst(Worker& worker, core::Deadline deadline) {
  core::Result<core::InitReply> ready = ReceiveReply(control_.get(), deadline);
  if (!ready) return ready.error();
  core::Result<core::Process> process = Adopt(worker.socket.get(), deadline);
  if (!process) return process.error();
  worker.process = std::move(*process);
  worker.family = shared_from_this();
  worker.use = WorkerUse::kSession;
  const std::lock_guard lock(mutex_);
  Know(worker.process.pid());
  return {};
}

// The process that sent the next unread message of `socket`. A process cannot name another one as
// the sender, and its pid is not reused before the init reaps it.
core::Result<core::Process> SessionFamily::Adopt(int socket, core::Deadline deadline) {
  constexpr char kAdopt[] = "adopt a session's process";
  if (core::Result<void> ready = core::WaitReadable(socket, deadline); !ready) return ready.error();
  const core::Result<pid_t> pid = core::SenderOfNext(socket);
  if (!pid) return pid.error();
  if (*pid <= 0) return core::MakeError(kAdopt, "its pid is not known");
  core::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!pidfd) return core::SystemError(kAdopt);
  const core::Result<core::InitReply> reply = Ask(core::InitOrder::kRecognise, pidfd.get());
  if (!reply) return reply.error();
  if (reply->error_number != 0) return core::SystemErrorOf(reply->error_number, kAdopt);
  return core::Process(*pid, std::move(pidfd), shared_from_this());
}

core::Result<void> SessionFamily::Limit(Worker& worker, const core::Limits& ceiling,
                                        const core::Limits& limits, uint32_t threads) {
  threads_ = threads;
  const pid_t pid = worker.process.pid();
  if (core::Result<void> done = Lower(pid, RLIMIT_AS, ceiling.memory.count - limits.memory.count);
      !done) {
    return done;
  }
  if (core::Result<void> done =
          Lower(pid, RLIMIT_FSIZE, ceiling.file_size.count - limits.file_size.count);
      !done) {
    return done;
  }
  worker.process.Pause();
  return {};
}

core::Result<void> SessionFamily::LimitProcesses(pid_t pid, size_t more) const {
  return SetSoft(pid, RLIMIT_NPROC, known_.size() + more);
}

core::Result<Worker> SessionFamily::Copy(Worker& from, const std::vector<core::PageRange>& hot) {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  if (core::Result<void> noted = core::NoteSenders(pair->first.get()); !noted) return noted.error();
  // Reserved for the copy's pidfd, which must not fail once the copy exists.
  core::UniqueFd reserved(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!reserved) return core::SystemError(kCopy);
  Worker copy;
  copy.socket = std::move(pair->first);
  copy.self_report = from.self_report;
  copy.family = from.family;
  copy.use = from.use;
  const std::lock_guard lock(mutex_);
  if (unexpected_may_live_) KillUnexpectedChildren();
  core::Result<void> copied = OrderCopy(from, hot, std::move(pair->second));
  bool is_sound = copied || copied.error().cause == core::Cause::kRefusedByKernel;
  if (copied) {
    reserved.Reset();
    copied = AdoptCopy(copy);
    // Another thread may have taken the reserved descriptor meanwhile.
    is_sound = copied || core::IsExhaustion(copied.error().error_number);
  }
  from.process.Pause();
  if (copied) {
    copy.process.Pause();
    return copy;
  }
  // It may have cloned itself nevertheless.
  KillUnexpectedChildren();
  if (!is_sound) from.process.Stop();
  return copied.error();
}

// Requires mutex_.
core::Result<void> SessionFamily::OrderCopy(Worker& from, const std::vector<core::PageRange>& hot,
                                            core::UniqueFd copys_socket) {
  const core::Deadline deadline = core::Clock::now() + kObeyTimeout;
  if (core::Result<void> allowed = LimitProcesses(from.process.pid(), 1); !allowed) return allowed;
  core::SessionOrder order;
  order.kind = core::SessionOrder::kCopy;
  order.hot_ranges = static_cast<uint32_t>(hot.size());
  if (core::Result<void> sent = Order(from, order, copys_socket.get()); !sent) return sent;
  const std::string_view ranges[] = {
      {reinterpret_cast<const char*>(hot.data()), hot.size() * sizeof(core::PageRange)}};
  if (core::Result<void> sent = core::SendAll(from.socket.get(), ranges, deadline); !sent) {
    return sent;
  }
  copys_socket.Reset();
  core::Result<core::WorkerSignal> answer = ReceiveSignal(from.socket.get(), deadline, kCopy);
  if (!answer) return answer.error();
  if (answer->kind != core::WorkerSignal::kCopied) {
    return core::MakeError(kCopy, "it sent something else");
  }
  if (answer->value != 0) {
    return core::WithCause(core::Cause::kRefusedByKernel,
                           core::SystemErrorOf(static_cast<int>(answer->value), kCopy));
  }
  return {};
}

// Requires mutex_.
core::Result<void> SessionFamily::AdoptCopy(Worker& copy) {
  const core::Deadline deadline = core::Clock::now() + kObeyTimeout;
  core::Result<core::Process> process = Adopt(copy.socket.get(), deadline);
  if (!process) return process.error();
  copy.process = std::move(*process);
  // The process that was to be copied may have sent this itself.
  if (!Know(copy.process.pid())) {
    return core::MakeError(kCopy, "it is not a new process");
  }
  core::Result<core::WorkerSignal> word = ReceiveSignal(copy.socket.get(), deadline, kCopy);
  if (!word) return word.error();
  if (word->kind != core::WorkerSignal::kCopied) {
    return core::MakeError(kCopy, "the copy sent something else");
  }
  return {};
}

core::Result<void> SessionFamily::Wake(Worker& copy, core::CaptureLayout layout, bool reseeds) {
  // Steps that this machine may fail come first: until it gets its order, the copy is unchanged.
  core::Result<CaptureReader> capture = CaptureReader::Create(layout);
  if (!capture) return capture.error();
  core::Result<core::UniqueFd> status = OpenStatus(copy.process.pid());
  if (!status) return status.error();
  if (core::Result<void> started = Start(copy.process.pid()); !started) return started;
  core::SessionOrder order;
  order.kind = core::SessionOrder::kWake;
  order.reseeds = reseeds ? 1 : 0;
  const core::Result<void> woken = [&]() -> core::Result<void> {
    if (core::Result<void> sent = Order(copy, order, capture->memory_fd()); !sent) return sent;
    core::Result<core::WorkerSignal> word =
        ReceiveSignal(copy.socket.get(), core::Clock::now() + kObeyTimeout, kWake);
    if (!word) return word.error();
    if (word->kind == core::WorkerSignal::kAwake) return {};
    return core::MakeError(kWake, "it sent something else");
  }();
  Halt(copy.process.pid());
  copy.process.Pause();
  if (!woken) {
    copy.process.Stop();
    return woken;
  }
  capture->CloseMemory();
  copy.capture = std::move(*capture);
  copy.status_fd = std::move(*status);
  return {};
}

// Before a process runs: it cannot clone, except for threads, even while others are reaped.
core::Result<void> SessionFamily::Start(pid_t pid) {
  const std::lock_guard lock(mutex_);
  if (unexpected_may_live_) KillUnexpectedChildren();
  if (core::Result<void> done = LimitProcesses(pid, threads_ - 1); !done) return done;
  running_.insert(pid);
  return {};
}

void SessionFamily::Halt(pid_t pid) {
  const std::lock_guard lock(mutex_);
  running_.erase(pid);
}

core::Result<void> SessionFamily::BeginCell(Worker& worker, std::chrono::milliseconds cpu) {
  const pid_t pid = worker.process.pid();
  worker.cpu_before = worker.process.CpuTime();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(worker.cpu_before) +
                       std::chrono::ceil<std::chrono::seconds>(cpu) + std::chrono::seconds(1);
  if (core::Result<void> done = SetSoft(pid, RLIMIT_CPU, static_cast<rlim_t>(seconds.count()));
      !done) {
    return done;
  }
  if (core::Result<void> done = Start(pid); !done) return done;
  worker.process.Resume();
  return {};
}

size_t SessionFamily::EndCell(Worker& worker) {
  worker.process.Pause();
  const std::lock_guard lock(mutex_);
  running_.erase(worker.process.pid());
  // Without threads, it cannot have cloned anything.
  return threads_ > 1 || unexpected_may_live_ ? KillUnexpectedChildren() : 0;
}

// Kills children of the init that the host has not requested: clones that a cell created in place
// of threads. Requires mutex_. None is reaped before all are dead: a dead one keeps its place under
// RLIMIT_NPROC, so that they cannot replace each other forever. If the search fails, it is repeated
// before the next process runs.
size_t SessionFamily::KillUnexpectedChildren() {
  std::map<pid_t, core::UniqueFd> unexpected;
  unexpected_may_live_ = false;
  for (bool found = true; found;) {
    found = false;
    std::error_code code;
    for (const auto& folder : std::filesystem::directory_iterator("/proc", code)) {
      const std::string name = folder.path().filename();
      pid_t pid = -1;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
      if (read.ptr != name.data() + name.size() || known_.contains(pid)) continue;
      if (unexpected.contains(pid)) continue;
      const std::optional<pid_t> parent = ParentOf(name);
      if (parent && *parent != init_.pid()) continue;
      core::UniqueFd pidfd;
      if (parent) pidfd.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
      if (!parent || (!pidfd && core::IsExhaustion(errno))) {
        unexpected_may_live_ = true;
        continue;
      }
      // It may have ended, and another have its number, since its parent was read.
      const core::Result<core::InitReply> reply =
          pidfd ? Ask(core::InitOrder::kRecognise, pidfd.get()) : core::InitReply{ECHILD};
      if (!reply || reply->error_number != 0) continue;
      (void)syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
      unexpected.emplace(pid, std::move(pidfd));
      found = true;
    }
    if (core::IsExhaustion(code.value())) unexpected_may_live_ = true;
    const core::Deadline deadline = core::Clock::now() + kObeyTimeout;
    for (const auto& [pid, pidfd] : unexpected)
      (void)core::WaitReadable(pidfd.get(), deadline).ok();
  }
  for (const auto& [pid, pidfd] : unexpected) (void)Ask(core::InitOrder::kReap, pidfd.get()).ok();
  return unexpected.size();
}

// False: it was known. Requires mutex_, or that nobody else has this object yet.
bool SessionFamily::Know(pid_t pid) {
  const std::lock_guard lock(known_mutex_);
  return known_.insert(pid).second;
}

std::vector<pid_t> SessionFamily::processes() const {
  const std::lock_guard lock(known_mutex_);
  std::vector<pid_t> all{init_.pid()};
  all.insert(all.end(), known_.begin(), known_.end());
  return all;
}

bool SessionFamily::IsAlive() const { return !init_.HasEnded(); }

void SessionFamily::Finish() {
  const std::lock_guard lock(mutex_);
  const std::lock_guard asking(asking_);
  {
    // processes() may be asked meanwhile.
    const std::lock_guard known(known_mutex_);
    init_.Destroy();
  }
  control_.Reset();
}

bool SessionFamily::Reap(pid_t pid, int pidfd, siginfo_t* info, rusage* usage) {
  const std::lock_guard lock(mutex_);
  {
    const std::lock_guard known(known_mutex_);
    known_.erase(pid);
  }
  running_.erase(pid);
  // Before the number of processes decreases: no running process may take the free place.
  for (const pid_t running : running_) (void)LimitProcesses(running, threads_ - 1).ok();
  const core::Result<core::InitReply> reply = Ask(core::InitOrder::kReap, pidfd);
  if (!reply || reply->error_number != 0) {
    errno = reply ? reply->error_number : ECHILD;
    return false;
  }
  if (info) {
    *info = {};
    info->si_pid = pid;
    info->si_code = reply->code;
    info->si_status = reply->status;
  }
  if (usage) {
    *usage = {};
    usage->ru_utime = TimeOf(reply->user_time);
    usage->ru_stime = TimeOf(reply->system_time);
    usage->ru_maxrss = reply->max_rss;
  }
  return true;
}

core::Result<core::InitReply> SessionFamily::Ask(core::InitOrder::Kind kind, int pidfd) {
  const std::lock_guard lock(asking_);
  core::InitOrder order;
  order.kind = kind;
  const int descriptors[] = {pidfd};
  if (core::Result<void> sent =
          core::SendMessage(control_.get(), core::AsBytes(order), descriptors);
      !sent) {
    return sent.error();
  }
  core::Result<core::InitReply> reply =
      ReceiveReply(control_.get(), core::Clock::now() + kObeyTimeout);
  // A late answer would be mistaken for the next one's.
  if (!reply) End();
  return reply;
}

}  // namespace belljar::workers
