// ChildReaper: a process between this one and its children, for a program that has children of its
// own and waits for whichever ends (os.wait, SIGCHLD). It would reap ours, be woken by them, or
// wait for them where it should learn that it has none; with SIGCHLD ignored, the kernel would reap
// them.
//
//   this process ──▶ reaper: no exit signal,      ──▶ zygote, workers (CLONE_PARENT)
//                    so wait() and SIGCHLD know nothing of it
//
// A child that execs gets SIGCHLD as its exit signal back, whatever it was cloned with, and clones
// with CLONE_PARENT have that too; so there has to be somebody who never execs. He shares this
// process's memory and descriptors, as a thread does, and has no other: he takes no memory, sees no
// pidfd change its number, and does nothing but clone and wait, each when he is told to. Not a
// thread, since a thread's children are those of its whole process.
//
// What shares the memory of a program has its rights for whoever can write there. So he ends, and
// his children with him, when the program has given up rights for good since he began: a root that
// becomes a user, capabilities, no_new_privs, another filter of seccomp. What a thread can take
// back by itself, as setfsuid, does not count. He looks once a second, and before he does anything.
// The next one begins with what rights there are.
//
// Once he has ended nobody tells how his children ended. What they were doing has then failed on
// our side, and is never an outcome of the guest's (ExitReport::reaper_ended).
//
// x86-64 alone.
#ifndef BELLJAR_ENGINE_CORE_CHILD_REAPER_H_
#define BELLJAR_ENGINE_CORE_CHILD_REAPER_H_

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/result.h"

struct clone_args;  // <linux/sched.h>

namespace belljar::core {

class ChildReaper {
 public:
  // Ends with the calling thread, or this process, and its children with it by their parent-death
  // signals.
  static Result<std::shared_ptr<ChildReaper>> Start();
  ChildReaper(const ChildReaper&) = delete;
  ~ChildReaper();

  pid_t pid() const { return pid_; }
  // False as soon as it has been told to end, since it takes no more orders.
  bool IsAlive() const;
  // Tells it to end, which takes no right to send it a signal. Any thread.
  void End() const;

  // As CloneProcess; the copy calls `child`, which does not return. Otherwise the pid, or -1 with
  // errno: ECHILD is the parent's own end, which the system call never answers.
  pid_t Clone(const clone_args& arguments, const std::function<void()>& child);

  // waitid, with __WALL, for one that has ended or is about to; false sets errno. Any thread.
  bool Reap(idtype_t type, int id, siginfo_t* info, rusage* usage);

 private:
  struct Order;
  struct Channel;
  ChildReaper() = default;
  static int Main(void* channel);
  long Ask(Order& order);

  std::unique_ptr<Channel> channel_;
  std::unique_ptr<char[]> stack_;
  UniqueFd orders_;
  UniqueFd ended_;  // its pidfd
  mutable std::atomic<bool> is_ending_ = false;
  pid_t pid_ = -1;
  std::mutex mutex_;  // one order at a time
};

// Of `operation`, which failed because the parent has ended.
Error ParentEnded(std::string operation);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_CHILD_REAPER_H_
