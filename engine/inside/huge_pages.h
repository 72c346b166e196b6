// A clone copies the page tables of the zygote's private memory, one entry per page. With numpy,
// pandas and the like loaded, that is some hundred megabytes, and takes milliseconds. With huge
// pages there are five hundred times fewer entries. A worker that writes still copies only 4 KiB:
// the kernel splits the entry, not the zygote's page. Regions with pinned pages (hot_pages.h) are
// not moved.
//
// Measured here with the data-science packages (250 MB of such memory in 2,000 mappings): a fork
// takes 3.0 ms without and 1.7 ms with, and its child's end 4.9 and 3.0 ms. The rest is the
// mappings.
#ifndef BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_
#define BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_

#include <cstddef>
#include <cstdint>

namespace belljar::inside {

// 2 MiB with pages of 4 KiB; 32 or 512 MiB with the 16 or 64 KiB of some aarch64 kernels.
size_t HugePageSize();

// Moves the memory at `region`, of the size of a huge page and aligned to it, to a huge page. False
// if the kernel cannot: MADV_COLLAPSE requires Linux 6.1, and all of it to be in one mapping.
bool CollapseRegion(uintptr_t region);

// Zygote, once, after everything is loaded and before it gives up /proc. Returns how many bytes
// were moved.
size_t CollapseIntoHugePages();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HUGE_PAGES_H_
