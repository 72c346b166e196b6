// What a worker and all processes that it has started use together, for languages whose programs
// start others. Reads /proc; a hostile program cannot leave the tree: the worker is the first
// process of their PID namespace, so it becomes the parent of those whose own has ended
// (pid_namespaces(7)).
#ifndef BELLJAR_ENGINE_WORKERS_PROCESS_TREE_H_
#define BELLJAR_ENGINE_WORKERS_PROCESS_TREE_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engine/core/socket.h"

namespace belljar::workers {

struct TreeUsage {
  // CPU time of living processes and of those that have been waited for. If a program ignores
  // SIGCHLD (wait(2)), that of its children is lost, and only the wall clock bounds it.
  std::chrono::microseconds cpu_time{0};
  // Private and shared memory without files, in bytes. Memory that two of them share counts twice.
  uint64_t memory = 0;
  size_t processes = 0;
};

// In place of a process: all of our PID namespace but us and the first, for who has it to itself.
inline constexpr pid_t kAllOthers = 0;

// Zeros once it is gone. Without CONFIG_PROC_CHILDREN, whose file shows a process's children, only
// of the process itself.
TreeUsage UsageOfTree(pid_t root);

// The same memory with what several of them share counted once, as after fork(2) and while vfork(2)
// lasts. Slower: the kernel walks their pages. What it does not tell about (kcmp(2) is refused in
// some containers) counts as often as it is seen.
uint64_t MemoryOfTree(pid_t root);

// The child of `parent` that has this number in its own PID namespace; -1: none.
pid_t ChildInNamespace(pid_t parent, pid_t number);

// Waits until each process that `root` has started is stopped, as it claims; false: one of them
// still runs.
bool AwaitStopped(pid_t root, core::Deadline deadline);

// Waits until `root`, to which SIGSTOP has been sent, and all that it has started are stopped, have
// ended or are about to, so that none executes anything more. False: not so, or the kernel does not
// tell (CONFIG_PROC_CHILDREN).
bool AwaitRest(pid_t root, core::Deadline deadline);

// Kills every process that this one may signal, except itself and the first of its PID namespace.
// Only for who has that namespace to itself.
void KillAllOthers();

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_PROCESS_TREE_H_
