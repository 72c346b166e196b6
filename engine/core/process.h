// Process: owns one child, held by pidfd, so that a recycled pid is never signalled.
//
// gVisor of 2022 has no pidfds. There the child is held by its pid, which cannot be reused before
// the child is reaped, and only the owner reaps it. A thread waits for its end instead of poll.
//
// The destructor kills and reaps the child. In the host a Process is a zygote or a worker. Both are
// children of the host (workers are cloned with CLONE_PARENT), of a ChildReaper if the surrounding
// program waits for children of its own, or of the init of a session.
#ifndef BELLJAR_ENGINE_CORE_PROCESS_H_
#define BELLJAR_ENGINE_CORE_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

struct clone_args;  // <linux/sched.h>

namespace belljar::core {

class Reaper;

// clone3, or clone where clone3 is not available: Docker's filter answers clone3 with ENOSYS, since
// a filter cannot see its flags. Features that clone cannot express (CLONE_CLEAR_SIGHAND,
// CLONE_INTO_CGROUP) are then left out. Returns the child's pid, 0 in the child, or -1 with errno.
// Async-signal-safe.
pid_t CloneProcess(const clone_args& arguments);

// For a child without an owner. Its pid is not reused before it is reaped. `reaper` as for Process.
void KillAndReap(pid_t pid, Reaper* reaper);

// How a child ended, as reported by the kernel.
struct ExitReport {
  bool known = false;  // false: other code in this process reaped it (SIGCHLD set to SIG_IGN)
  // The reaper ended before the child, or before it could report. `known` is then false, and the
  // child was most likely killed by its parent-death signal.
  bool reaper_ended = false;
  int exit_code = -1;  // if the child called exit; else -1
  int signal = 0;      // that killed it, or 0
  std::chrono::microseconds cpu_time{0};
  uint64_t max_rss_bytes = 0;
};

// The fields of proc_pid_stat(5) from the third, the state, on. The name before them may contain
// anything, but ends with the last parenthesis. Empty: the text is none.
std::vector<std::string_view> StatFields(std::string_view stat);
inline constexpr uint64_t kExitingFlag = 4;  // PF_EXITING, of the seventh of them

class Process {
 public:
  Process() = default;
  // An unreaped child of `reaper`, or of this process if `reaper` is null. Without `pidfd` it is
  // held by its pid. If that fails too (no descriptor or thread left), the child is killed and the
  // Process is empty.
  Process(pid_t pid, UniqueFd pidfd, std::shared_ptr<Reaper> reaper = nullptr);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process() { Destroy(); }

  // As numbered in the host's PID namespace. Valid until Wait or Destroy: the child stays a zombie
  // until then.
  pid_t pid() const { return pid_; }
  // Readable once the child has ended. Borrowed, and only for waiting.
  int ended_fd() const { return ended_.get(); }
  bool HasEnded() const;  // or is empty
  explicit operator bool() const { return static_cast<bool>(ended_); }

  // The child's parent, as in its /proc status.
  pid_t parent_pid() const;

  void Kill() const;
  void Interrupt() const;  // SIGINT
  void Signal(int number) const;
  // Pause stops the child until Resume. A paused child can still be killed.
  void Pause() const;
  void Resume() const;
  // Kills the child and blocks until it no longer runs, nor anything below it if it is the init of
  // a PID namespace. It still has to be reaped.
  void Stop() const;
  // Blocks until the child has ended, and reaps it. The Process is empty afterwards.
  ExitReport Wait();
  // Kill and Wait. Any thread.
  ExitReport Destroy();

  // CPU time used so far by a child that has not been reaped.
  std::chrono::microseconds CpuTime() const;

 private:
  bool HoldByPid();
  bool Send(int signal) const;
  bool has_pidfd() const { return !waiter_; }

  pid_t pid_ = -1;
  UniqueFd ended_;                  // the pidfd, or an eventfd that the waiter signals
  std::shared_ptr<Reaper> reaper_;  // null: the parent is this process
  Thread waiter_;                   // without a pidfd; returns once the child has ended
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_PROCESS_H_
