#include "engine/core/process.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "engine/core/reaper.h"
#include "engine/core/text.h"

namespace belljar::core {
namespace {

std::chrono::microseconds Duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// The raw waitid, since glibc's drops the rusage. __WALL: a clone may have any exit signal.
bool AwaitEnd(idtype_t type, int id, int options, siginfo_t* info, rusage* usage) {
  long waited;
  do {
    waited = syscall(SYS_waitid, type, id, info, WEXITED | __WALL | options, usage);
  } while (waited != 0 && errno == EINTR);
  return waited == 0;
}

void AwaitReadable(int fd) {
  pollfd readable = {fd, POLLIN, 0};
  while (poll(&readable, 1, -1) < 0 && errno == EINTR) continue;
}

bool IsReadable(int ended_fd) {
  pollfd ended = {ended_fd, POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

}  // namespace

std::vector<std::string_view> StatFields(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  return name_end == stat.npos ? std::vector<std::string_view>() : Words(stat.substr(name_end + 1));
}

pid_t CloneProcess(const clone_args& arguments) {
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid >= 0 || errno != ENOSYS) return static_cast<pid_t>(pid);
  const uint64_t flags = (arguments.flags & 0xffffffff) | arguments.exit_signal;
  // clone writes the pidfd where clone3 would write the parent's tid.
  return static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, arguments.pidfd, nullptr, nullptr));
}

void KillAndReap(pid_t pid, Reaper* reaper) {
  // When the reaper has gone, its children have too, and their pids may be reused.
  if (reaper && !reaper->IsAlive()) return;
  kill(pid, SIGKILL);
  if (reaper) {
    (void)reaper->Reap(pid, -1, nullptr, nullptr);
  } else {
    (void)AwaitEnd(P_PID, pid, 0, nullptr, nullptr);
  }
}

Process::Process(pid_t pid, UniqueFd pidfd, std::shared_ptr<Reaper> reaper)
    : pid_(pid), ended_(std::move(pidfd)), reaper_(std::move(reaper)) {
  if (ended_ || pid_ <= 0 || (!reaper_ && HoldByPid())) return;
  KillAndReap(pid_, reaper_.get());
  ended_.Reset();
  pid_ = -1;
}

bool Process::HoldByPid() {
  ended_.Reset(eventfd(0, EFD_CLOEXEC));
  // A duplicate, since the owner may be moved in the meantime.
  const int raised = fcntl(ended_.get(), F_DUPFD_CLOEXEC, 0);
  if (raised < 0) return false;
  const Result<void> started =
      waiter_.Start("wait for a child", [pid = pid_, event = UniqueFd(raised)] {
        // An error means that the child no longer exists.
        siginfo_t ignored;
        (void)AwaitEnd(P_PID, pid, WNOWAIT, &ignored, nullptr);
        eventfd_write(event.get(), 1);
      });
  return started.ok();
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      ended_(std::move(other.ended_)),
      reaper_(std::move(other.reaper_)),
      waiter_(std::move(other.waiter_)) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Destroy();
    pid_ = std::exchange(other.pid_, -1);
    ended_ = std::move(other.ended_);
    reaper_ = std::move(other.reaper_);
    waiter_ = std::move(other.waiter_);
  }
  return *this;
}

// False sets errno.
bool Process::Send(int signal) const {
  if (!ended_) return true;
  if (has_pidfd()) {
    return syscall(SYS_pidfd_send_signal, ended_.get(), signal, nullptr, 0) == 0 || errno == ESRCH;
  }
  // Only we reap it, so the pid is still the child's. Once it has ended, other code in this process
  // might have reaped it.
  return IsReadable(ended_.get()) || kill(pid_, signal) == 0 || errno == ESRCH;
}

void Process::Kill() const {
  // The program has given up the permission to kill it. Ending the reaper ends its children, too.
  if (!Send(SIGKILL) && reaper_) reaper_->End();
}

void Process::Interrupt() const { Signal(SIGINT); }
void Process::Signal(int number) const { (void)Send(number); }
bool Process::HasEnded() const { return !ended_ || IsReadable(ended_.get()); }

void Process::Pause() const { (void)Send(SIGSTOP); }
void Process::Resume() const { (void)Send(SIGCONT); }

void Process::Stop() const {
  if (!ended_) return;
  Kill();
  AwaitReadable(ended_.get());
}

pid_t Process::parent_pid() const { return reaper_ ? reaper_->pid() : getpid(); }

ExitReport Process::Wait() {
  ExitReport report;
  if (!ended_) return report;
  siginfo_t info{};
  rusage usage{};
  const bool by_pidfd = has_pidfd();
  if (!by_pidfd) waiter_.Join();
  // A child held by pid has already ended here, so a reused pid is never waited for. The reaper
  // serves other children too and must not block.
  if (reaper_) AwaitReadable(ended_.get());
  const bool waited = reaper_    ? reaper_->Reap(pid_, ended_.get(), &info, &usage)
                      : by_pidfd ? AwaitEnd(P_PIDFD, ended_.get(), 0, &info, &usage)
                                 : AwaitEnd(P_PID, pid_, WNOHANG, &info, &usage);
  report.reaper_ended = reaper_ && !waited;
  if (waited && info.si_pid != 0) {
    report.known = true;
    if (info.si_code == CLD_EXITED) {
      report.exit_code = info.si_status;
    } else {
      report.signal = info.si_status;
    }
    report.cpu_time = Duration(usage.ru_utime) + Duration(usage.ru_stime);
    report.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  ended_.Reset();
  pid_ = -1;
  return report;
}

ExitReport Process::Destroy() {
  Kill();
  return Wait();
}

std::chrono::microseconds Process::CpuTime() const {
  clockid_t clock;
  timespec time{};
  if (pid_ <= 0 || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::chrono::microseconds(0);
  }
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_nsec / 1000);
}

}  // namespace belljar::core
