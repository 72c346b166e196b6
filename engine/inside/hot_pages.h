// Makes clones cheap: clone itself copies the pages that every worker writes to, instead of one
// page fault at a time.
//
// CPython writes to an object's reference count to read it, so a fresh worker takes some 350
// copy-on-write faults before it has run a line; in a virtual machine each costs about 2 µs. Since
// Linux 5.9 fork copies a page immediately if it is pinned for I/O (the pin must stay with the
// parent's page), which costs about a third of that. So the zygote lets one clone rehearse, finds
// the pages that it has copied, and pins those as io_uring buffers that no I/O ever uses.
//
// Measured here, 400 such pages: fork and first touch 750 µs without, 380 µs with, all but 10 µs of
// it in the fork, which is not on a request's path.
#ifndef BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_
#define BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/wire.h"

namespace belljar::inside {

// Zygote, before it gives up /proc and io_uring. `rehearse` runs in a clone that is then killed.
// A region of the size of a huge page with fewer hot pages than `least_together` is moved to one
// (huge_pages.h) if the kernel can; a clone then copies fewer page table entries, and a worker
// takes one more fault for each of them. The hot pages of all other regions are pinned, which
// prevents that. The pages stay pinned, and count against RLIMIT_MEMLOCK, as long as the returned
// descriptor is open. An error (io_uring is disabled in many containers) only costs speed.
core::Result<core::UniqueFd> PinHotPages(const std::function<void()>& rehearse,
                                         size_t least_together);

// Zygote, last before it gives up /proc: finds the pages, other than the pinned ones, that
// `rehearse` writes to. It does what many workers will do, but not all. An error only costs speed.
core::Result<void> FindWarmPages(const std::function<void()>& rehearse);

// The pages to which `rehearse` writes in a clone, ascending.
core::Result<std::vector<uintptr_t>> PagesWrittenBy(const std::function<void()>& rehearse);

// In a waiting worker: takes the page faults of those pages before a request has to.
void WriteToWarmPages();

// In a worker of a session that has just been cloned: takes the page faults of `ranges`, or without
// any, of the pages that were pinned, before a cell has to.
void WriteToHotPages(const std::vector<core::PageRange>& ranges);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HOT_PAGES_H_
