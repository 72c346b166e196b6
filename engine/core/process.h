// Process: the owner of one child, held by pidfd, so that a recycled pid can never be hit.
//
// gVisor of 2022 has no pidfds. There the child is held by its pid, which is nobody else's until it
// is reaped, and only the owner reaps; a thread waits for its end, in place of poll.
//
// Its end is the end of the child: the destructor kills and reaps. In the host a Process is a
// zygote or a worker; both are the host's own children (workers are cloned with CLONE_PARENT), or,
// where a program around it waits for children of its own, those of a ChildReaper.
#ifndef BELLJAR_ENGINE_CORE_PROCESS_H_
#define BELLJAR_ENGINE_CORE_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/result.h"

struct clone_args;  // <linux/sched.h>

namespace belljar::core {

class ChildReaper;

// clone3, or clone where there is none: Docker's filter answers ENOSYS to clone3, whose flags a
// filter cannot see. What clone has no room for (CLONE_CLEAR_SIGHAND, CLONE_INTO_CGROUP) is left
// out then. Returns the child's pid, 0 in the child, or -1 with errno. Async-signal-safe.
pid_t CloneProcess(const clone_args& arguments);

// Of a child that nobody holds: until it is reaped its pid is nobody else's. `parent` as for
// Process.
void KillAndReap(pid_t pid, ChildReaper* reaper);

// How a child ended, as the kernel told its parent.
struct ExitReport {
  bool known = false;  // false: somebody else in this program reaped it (SIGCHLD set to SIG_IGN)
  // Its Parent ended before it did, or at least before it could tell: then `known` is false, and
  // the child was most likely killed by its parent-death signal.
  bool reaper_ended = false;
  int exit_code = -1;  // of a child that called exit; else -1
  int signal = 0;      // that killed it; else 0
  std::chrono::microseconds cpu_time{0};
  uint64_t max_rss_bytes = 0;
};

class Process {
 public:
  Process() = default;
  // An unreaped child: of `parent`, if there is one, else of this process. Without `pidfd` it is
  // held by its pid; where not even that can be done (no descriptor, no thread left), the child
  // ends and the owner is empty.
  Process(pid_t pid, UniqueFd pidfd, std::shared_ptr<ChildReaper> reaper = nullptr);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process() { Destroy(); }

  // As the host's PID namespace numbers it; valid until Wait or Destroy, since the child stays a
  // zombie until then.
  pid_t pid() const { return pid_; }
  // Readable once the child has ended; borrowed, and good for nothing but waiting for that.
  int ended_fd() const { return ended_.get(); }
  explicit operator bool() const { return static_cast<bool>(ended_); }

  // Whose child it is, as its status names it.
  pid_t parent_pid() const;

  void Kill() const;
  // Nothing of the child runs, until Resume. It can be killed all the same.
  void Pause() const;
  void Resume() const;
  // Kill, and blocks until nothing of the child runs any more, nor of what is below it where it is
  // the init of a PID namespace. It stays to be reaped.
  void Stop() const;
  // Blocks until the child has ended, and reaps it. Afterwards the owner is empty.
  ExitReport Wait();
  // Kill and Wait. Any thread.
  ExitReport Destroy();

  // CPU time used so far by a child that has not been reaped.
  std::chrono::microseconds CpuTime() const;

 private:
  bool HoldByPid();
  bool Send(int signal) const;
  bool has_pidfd() const { return !waiter_.joinable(); }

  pid_t pid_ = -1;
  UniqueFd ended_;                       // the pidfd, or an eventfd that the waiter raises
  std::shared_ptr<ChildReaper> reaper_;  // null: this process itself
  std::thread waiter_;  // where there is no pidfd; returns once the child has ended
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROCESS_H_
