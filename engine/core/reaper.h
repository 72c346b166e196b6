// Reaper: the parent of children that are ours but that another process cloned, and so must wait
// for: a ChildReaper, or the init of a session (workers/session_family.h).
#ifndef BELLJAR_ENGINE_CORE_REAPER_H_
#define BELLJAR_ENGINE_CORE_REAPER_H_

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace belljar::core {

class Reaper {
 public:
  virtual ~Reaper() = default;

  virtual pid_t pid() const = 0;
  // False from the moment it is asked to end: it accepts no further requests.
  virtual bool IsAlive() const = 0;
  // Asks it to end, and its children with it. Any thread.
  virtual void End() const = 0;
  // waitid with __WALL, for a child that has ended or is about to. Without `pidfd` (-1), by its
  // pid. False sets errno. Any thread.
  virtual bool Reap(pid_t pid, int pidfd, siginfo_t* info, rusage* usage) = 0;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_REAPER_H_
