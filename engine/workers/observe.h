// Inspects a waiting worker from outside and reports which layers are in force. The isolation in a
// result comes from here, never from the plan.
#ifndef BELLJAR_ENGINE_WORKERS_OBSERVE_H_
#define BELLJAR_ENGINE_WORKERS_OBSERVE_H_

#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/seal/self_report.h"

namespace belljar::workers {

// The parts of the seal that already apply to this process itself. A container that we run in may
// have set them, and children inherit them, so they prove nothing about a worker. Reads /proc/self;
// once is enough.
struct OwnSeal {
  // The inodes that identify the namespaces user, mnt, pid, net, ipc, uts, cgroup; 0: not shown by
  // this kernel.
  std::array<ino_t, 7> namespaces{};
  int seccomp_filters = 0;
  // seal::IsRootOfOneUser: its workers have its own uid, which is 0.
  bool root_of_one_user = false;

  static core::Result<OwnSeal> Read();
};

// `pid` must be a child of `parent` (0: of this process) that has reported that it is sealed. Reads
// `status_fd`, its /proc/<pid>/status, and its ns and limits. `filters` is the number of seccomp
// filters that it must have in addition to those of `own`. `word` is its own report from when it
// still ran only our code. It is used for Landlock, which cannot be seen from outside, and where
// this kernel's /proc lacks a field; the detail says so. `has_loopback`: the plan's. Returns one
// entry per layer, in the order of the seal, except the cgroup.
core::Result<std::vector<host::LayerState>> ObserveSeal(const OwnSeal& own, pid_t pid,
                                                        int status_fd, seal::SelfReport self_report,
                                                        int filters = 1, pid_t parent = 0,
                                                        bool has_loopback = false);

// Whether the process is in the cgroup v2 leaf of this name.
bool IsInCgroup(pid_t pid, const std::string& leaf);

core::Result<core::UniqueFd> OpenStatus(pid_t pid);

// Threads of a process, from its /proc/<pid>/status; 0 once it is gone.
uint64_t ThreadsOf(int status_fd);

// Memory of a process in bytes; 0 once it is gone. Resident: all of it, shared or not; cheap to
// read. Proportional: private memory and a share of shared memory (Pss in proc_pid_smaps(5)); the
// kernel walks all of its pages.
uint64_t ResidentMemory(pid_t pid);
uint64_t ProportionalMemory(pid_t pid);

// Peak resident memory in bytes, or the current value if the kernel does not show the peak (gVisor
// of 2022); 0 once the process is gone.
uint64_t MaxRss(int status_fd);

// Whether its main thread blocks the signal; false if that is not known.
bool BlocksSignal(int status_fd, int number);

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_OBSERVE_H_
