// ChildReaper: an intermediate process between this one and its children, for a host program that
// waits for any of its own children (os.wait, SIGCHLD). Without it, the program would reap our
// children, be woken by them, or block in wait() when it has no children of its own. If it ignores
// SIGCHLD, the kernel would reap them.
//
//   this process ──▶ reaper: no exit signal,      ──▶ zygote, workers (CLONE_PARENT)
//                    invisible to wait() and SIGCHLD
//
// exec resets a child's exit signal to SIGCHLD, however it was cloned, and clones with CLONE_PARENT
// inherit that signal, so the parent must be a process that never execs. The reaper shares this
// process's memory and descriptor table, as a thread does: it costs no memory, and pidfds keep
// their numbers. It only clones and waits, on request. A thread would not do, because a thread's
// children belong to its whole process.
//
// Code that can write to this process's memory gets the reaper's rights. The reaper therefore ends,
// and its children with it, once the program has permanently given up rights since the reaper
// started: a root that becomes a user, dropped capabilities, no_new_privs, another seccomp filter.
// Changes that a thread can undo itself, such as setfsuid, do not count. The reaper checks once a
// second and before each request. Its successor starts with the rights that are left.
//
// Once the reaper has ended, nothing reports how its children ended. Their runs have then failed on
// our side; this is never reported as an outcome of the guest (ExitReport::reaper_ended).
#ifndef BELLJAR_ENGINE_WORKERS_CHILD_REAPER_H_
#define BELLJAR_ENGINE_WORKERS_CHILD_REAPER_H_

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/reaper.h"
#include "engine/core/result.h"

struct clone_args;  // <linux/sched.h>

namespace belljar::workers {

class ChildReaper : public core::Reaper {
 public:
  // Ends with the calling thread or this process. Its children then end too, by their parent-death
  // signals.
  static core::Result<std::shared_ptr<ChildReaper>> Start();
  ChildReaper(const ChildReaper&) = delete;
  ~ChildReaper() override;

  pid_t pid() const override { return pid_; }
  bool IsAlive() const override;
  // Needs no permission to signal it.
  void End() const override;

  // Like CloneProcess; the copy calls `child`, which does not return. Otherwise returns the pid, or
  // -1 with errno: ECHILD means that the reaper itself has ended; the system call never returns it.
  pid_t Clone(const clone_args& arguments, const std::function<void()>& child);

  bool Reap(pid_t pid, int pidfd, siginfo_t* info, rusage* usage) override;

 private:
  struct Order;
  struct Channel;
  ChildReaper() = default;
  static int Main(void* channel);
  long Submit(Order& order);

  std::unique_ptr<Channel> channel_;
  std::unique_ptr<char[]> stack_;
  core::UniqueFd orders_;
  core::UniqueFd ended_;  // its pidfd
  mutable std::atomic<bool> is_ending_ = false;
  pid_t pid_ = -1;
  std::mutex mutex_;  // one order at a time
};

// The error of `operation`, which failed because the reaper has ended.
core::Error ParentEnded(std::string operation);

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_CHILD_REAPER_H_
