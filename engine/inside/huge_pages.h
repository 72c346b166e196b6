// A clone copies the page tables of the zygote's private memory, one entry for each page: with
// numpy, pandas and their like loaded those are some hundred megabytes, and milliseconds. Moved to
// huge pages, they are five hundred times fewer entries. A worker that writes there still copies
// 4 KiB: the kernel splits the entry, not the zygote's page. Where pages are pinned (hot_pages.h)
// nothing is moved.
//
// Measured here with the data-science packages (250 MB of such memory in 2,000 mappings): a fork
// takes 3.0 ms without and 1.7 ms with, and its child's end 4.9 and 3.0 ms. The rest is the
// mappings.
#ifndef BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_
#define BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_

#include <cstddef>

namespace belljar::inside {

// Zygote, once, after all is loaded and before it gives up /proc. Returns how many bytes were
// moved: 0 where the kernel cannot (MADV_COLLAPSE is of Linux 6.1), which costs speed and nothing
// else.
size_t CollapseIntoHugePages();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_
