// Makes clones cheap: the pages that every worker writes to are copied by the clone itself instead
// of one page fault at a time.
//
// CPython writes to an object's reference count to look at it, so a fresh worker takes some 350
// copy-on-write faults before it has run a line; in a virtual machine each costs about 2 µs. Since
// Linux 5.9 fork copies a page at once when it is pinned for I/O (the pin must stay with the
// parent's page), and that costs about a third. So the zygote lets one clone rehearse, sees which
// pages it has made its own, and pins those as io_uring buffers that no I/O ever uses.
//
// Measured here, 400 such pages: fork and first touch 750 µs without, 380 µs with, all but 10 µs of
// it in the fork, which is not on a request's path.
#ifndef BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_
#define BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_

#include <cstddef>
#include <functional>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::inside {

// Zygote, before it gives up /proc and io_uring. `rehearse` runs in a clone that is then killed. Of
// each part of memory as large as a huge page, hot pages are pinned if there are `least_together`
// of them. The others may go to a huge page then, where a clone has few entries to copy and a
// worker one more fault for each; where anything is pinned there can be none. The pages stay
// pinned, and count against RLIMIT_MEMLOCK, as long as the answer lives. An error (io_uring is
// switched off in many containers) costs speed and nothing else.
core::Result<core::UniqueFd> PinHotPages(const std::function<void()>& rehearse,
                                         size_t least_together);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_
