// Makes clones cheap where workers only read: clone itself maps those pages of programs and
// libraries that a worker will use, instead of taking one page fault at a time, and does nothing
// for libraries that workers will not use.
//
// For a file mapping, fork copies no page table entries, since page faults can recreate them,
// unless the process has had a page of its own in it (vma_needs_copy() in mm/memory.c of Linux 6;
// in Linux 5 the beginning of copy_page_range()). A worker of basic took 85 such faults, 4 µs each
// in a virtual machine. So the zygote lets one clone rehearse, sees which pages it has used, makes
// a page of each of these mappings its own for a moment, and keeps exactly those pages mapped.
//
// Conversely, what the dynamic linker has relocated, and the data of libraries, is private memory,
// which fork copies for every worker. For libraries whose code the rehearsal has not run (most of
// them: codecs, cryptography, all that a profile's packages bring), it is moved to a memory file,
// and then is a private file mapping like any other.
//
// The code of CPython that every worker runs is on a huge page, if a library has enough of it in
// one aligned region: fork copies one page table entry for it, and it takes one TLB entry.
// Constants at the end of that region become executable, nothing else does.
#ifndef BELLJAR_ENGINE_INSIDE_FILE_PAGES_H_
#define BELLJAR_ENGINE_INSIDE_FILE_PAGES_H_

#include <functional>

#include "engine/core/result.h"

namespace belljar::inside {

// Zygote, before it gives up /proc. `rehearse` runs in a clone that is then killed. An error (for
// example if the kernel forbids writing to /proc/self/mem) only costs speed.
core::Result<void> PrepareFilePages(const std::function<void()>& rehearse, bool huge_pages = false);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_FILE_PAGES_H_
