// Layer 5, cgroup v2: a common limit for all workers of a sandbox, if this machine lets us create a
// leaf. No mode requires it; its state is reported.
//
// The leaf is a sibling of our own cgroup. The "no internal processes" rule forbids a child, and a
// sibling does not require moving the host itself. It requires a writable parent that delegates
// memory and pids to its children, which a root shell and a user's systemd have.
#ifndef BELLJAR_ENGINE_SEAL_CGROUP_H_
#define BELLJAR_ENGINE_SEAL_CGROUP_H_

#include <string>

#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::seal {

// The folder in which a leaf can be created, or why there is none. The arguments are for tests:
// mountinfo(5) and cgroup(7) of this process.
core::Result<std::string> FindCgroupParent(
    const std::string& mountinfo_file = "/proc/self/mountinfo",
    const std::string& cgroup_file = "/proc/self/cgroup");

struct CgroupLimits {
  core::Bytes memory;  // memory.max, with memory.swap.max 0
  uint64_t pids = 0;   // pids.max
};

// Four fifths of this machine's memory and eight thousand processes: high enough for any legitimate
// load, low enough to keep the machine usable.
CgroupLimits DefaultCgroupLimits();

// One leaf. Its destructor removes it; it must outlive the processes in it.
class CgroupLeaf {
 public:
  // Also removes leaves of hosts that were killed before they could.
  static core::Result<CgroupLeaf> Create(const std::string& parent, const CgroupLimits& limits);
  CgroupLeaf(CgroupLeaf&& other) noexcept;
  CgroupLeaf& operator=(CgroupLeaf&&) = delete;
  ~CgroupLeaf();

  // For clone3's CLONE_INTO_CGROUP (Linux 5.7).
  int fd() const { return directory_.get(); }
  // "belljar-<pid>-<n>": the last component of the path in /proc/<pid>/cgroup.
  const std::string& name() const { return name_; }

 private:
  CgroupLeaf(std::string parent, std::string name, core::UniqueFd directory)
      : parent_(std::move(parent)), name_(std::move(name)), directory_(std::move(directory)) {}

  std::string parent_;
  std::string name_;
  core::UniqueFd directory_;
};

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_CGROUP_H_
