// SessionPages: the memory pages that each cell of a session is likely to write to, so that its
// worker can take their page faults right after a checkpoint, before the next cell has to. A fault
// takes about 4 µs, and a one-line cell would take 400 of them.
//
//   pages.Learn(worker.process.pid());     after a cell, before the copy
//   family.Copy(worker, pages.hot());
//
// Learned from what cells wrote to, which the kernel reveals: after a copy, all pages are shared
// with it until they are written to. A page that two cells in a row have written to is hot. This is
// only a guess: pages that no longer exist are skipped.
#ifndef BELLJAR_ENGINE_SESSIONS_SESSION_PAGES_H_
#define BELLJAR_ENGINE_SESSIONS_SESSION_PAGES_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "engine/core/wire.h"

namespace belljar::sessions {

class SessionPages {
 public:
  // The worker has been stopped after a cell. Takes about half a millisecond, from time to time.
  void Learn(pid_t worker);

  // Ordered, without overlaps; at most core::kMaxHotRanges.
  const std::vector<core::PageRange>& hot() const { return hot_; }

 private:
  int cells_ = 0;
  std::vector<uint64_t> last_;   // pages that the last cell wrote to, ordered
  std::vector<uint64_t> pages_;  // hot ones, ordered
  std::vector<core::PageRange> hot_;
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_SESSION_PAGES_H_
