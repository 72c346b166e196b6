// Parent: a process between this one and its children, for a program that has children of its own
// and waits for whichever ends (os.wait, SIGCHLD). It would reap ours, be woken by them, or wait
// for them where it should learn that it has none; with SIGCHLD ignored, the kernel would reap
// them.
//
//   this process ──▶ parent: no exit signal,      ──▶ zygote, workers (CLONE_PARENT)
//                    so wait() and SIGCHLD know nothing of it
//
// A child that execs gets SIGCHLD as its exit signal back, whatever it was cloned with, and clones
// with CLONE_PARENT have that too; so there has to be somebody who never execs. He shares this
// process's memory and descriptors, as a thread does, and has no other: he takes no memory, sees no
// pidfd change its number, and does nothing but clone and wait, each when he is told to. Not a
// thread, since a thread's children are those of its whole process.
//
// What shares the memory of a program has its rights for whoever can write there. So he ends, and
// his children with him, when the program has given up rights since he began: a root that becomes a
// user, new capabilities, no_new_privs, another filter of seccomp. He looks once a second, and
// before he does anything. The next one begins with what rights there are.
//
// x86-64 alone.
#ifndef BELLJAR_ENGINE_CORE_PARENT_H_
#define BELLJAR_ENGINE_CORE_PARENT_H_

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <functional>
#include <memory>
#include <mutex>

#include "engine/core/fd.h"
#include "engine/core/result.h"

struct clone_args;  // <linux/sched.h>

namespace belljar {

class Parent {
 public:
  // Ends with the calling thread, or this process, and its children with it by their parent-death
  // signals.
  static Result<std::shared_ptr<Parent>> Start();
  Parent(const Parent&) = delete;
  ~Parent();

  pid_t pid() const { return pid_; }
  bool IsAlive() const;
  // Tells it to end, which takes no right to send it a signal. Any thread.
  void End() const;

  // As CloneProcess; the copy calls `child`, which does not return. Otherwise the pid, or -1 with
  // errno.
  pid_t Clone(const clone_args& arguments, const std::function<void()>& child);

  // waitid, with __WALL, for one that has ended or is about to; false sets errno. Any thread.
  bool Reap(idtype_t type, int id, siginfo_t* info, rusage* usage);

 private:
  struct Order;
  struct Line;
  Parent() = default;
  static int Main(void* line);
  long Ask(Order& order);

  std::unique_ptr<Line> line_;
  std::unique_ptr<char[]> stack_;
  UniqueFd orders_;
  UniqueFd ended_;  // its pidfd
  pid_t pid_ = -1;
  std::mutex mutex_;  // one order at a time
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_PARENT_H_
