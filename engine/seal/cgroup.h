// Layer 5, cgroup v2: a bound on what all workers of a sandbox use together, where this machine
// lets us make a leaf. Not required by any mode: reported.
//
// The leaf is a sibling of our own cgroup, below the same parent: that needs no change to where the
// host itself runs ("no internal processes" forbids a child), only a parent that we may write and
// that hands memory and pids on to its children. A root shell has one, and so has a user's systemd.
#ifndef BELLJAR_ENGINE_SEAL_CGROUP_H_
#define BELLJAR_ENGINE_SEAL_CGROUP_H_

#include <string>

#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::seal {

// The folder below which a leaf may be made, or why there is none. The arguments are for tests:
// mountinfo(5) and cgroup(7) of this process.
core::Result<std::string> FindCgroupParent(
    const std::string& mountinfo_file = "/proc/self/mountinfo",
    const std::string& cgroup_file = "/proc/self/cgroup");

struct CgroupLimits {
  core::Bytes memory;  // memory.max, with memory.swap.max 0
  uint64_t pids = 0;   // pids.max
};

// Four fifths of this machine's memory and a thousand processes: so much that no honest load meets
// it, so little that the machine stays usable.
CgroupLimits DefaultCgroupLimits();

// One leaf; removed with its owner, which must outlive the processes in it.
class CgroupLeaf {
 public:
  // Also removes leaves whose host was killed before it could.
  static core::Result<CgroupLeaf> Create(const std::string& parent, const CgroupLimits& limits);
  CgroupLeaf(CgroupLeaf&& other) noexcept;
  CgroupLeaf& operator=(CgroupLeaf&&) = delete;
  ~CgroupLeaf();

  // For clone3's CLONE_INTO_CGROUP (Linux 5.7).
  int fd() const { return directory_.get(); }
  // "belljar-<pid>-<n>": the last part of the path that /proc/<pid>/cgroup shows.
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
