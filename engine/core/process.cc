#include "engine/core/process.h"

#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace belljar {
namespace {

std::chrono::microseconds Duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

pid_t CloneProcess(const clone_args& arguments) {
  const long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid >= 0 || errno != ENOSYS) return static_cast<pid_t>(pid);
  const uint64_t flags = (arguments.flags & 0xffffffff) | arguments.exit_signal;
  // clone writes the pidfd where clone3 would write the parent's tid.
  return static_cast<pid_t>(syscall(SYS_clone, flags, nullptr, arguments.pidfd, nullptr, nullptr));
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    Destroy();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
  }
  return *this;
}

void Process::Kill() const {
  if (pidfd_) syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
}

void Process::Stop() const {
  if (!pidfd_) return;
  Kill();
  pollfd ended = {pidfd_.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) continue;
}

ExitReport Process::Wait() {
  ExitReport report;
  if (!pidfd_) return report;
  siginfo_t info{};
  rusage usage{};
  long waited;
  // The raw call, because glibc's waitid drops the rusage. __WALL: a clone may carry any exit
  // signal.
  do {
    waited = syscall(SYS_waitid, P_PIDFD, pidfd_.get(), &info, WEXITED | __WALL, &usage);
  } while (waited != 0 && errno == EINTR);
  if (waited == 0) {
    report.known = true;
    if (info.si_code == CLD_EXITED) {
      report.exit_code = info.si_status;
    } else {
      report.signal = info.si_status;
    }
    report.cpu_time = Duration(usage.ru_utime) + Duration(usage.ru_stime);
    report.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  pidfd_.Reset();
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

}  // namespace belljar
