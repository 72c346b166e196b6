#include "engine/inside/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/text.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace belljar::inside {
namespace {

constexpr size_t kMaxMapsText = 4 << 20;

size_t Collapse(uintptr_t begin, uintptr_t end) {
  const uintptr_t huge = HugePageSize();
  const uintptr_t first = (begin + huge - 1) / huge * huge;
  size_t moved = 0;
  // One at a time: a part that cannot be moved (empty or pinned) must not stop the rest.
  for (uintptr_t page = first; page + huge <= end; page += huge) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the kernel has listed
    if (madvise(reinterpret_cast<void*>(page), huge, MADV_COLLAPSE) == 0) moved += huge;
  }
  return moved;
}

}  // namespace

size_t HugePageSize() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // What one page of a page table maps, whose entries have eight bytes.
  return page * (page / sizeof(uint64_t));
}

size_t CollapseIntoHugePages() {
  core::Result<std::string> maps = core::ReadFile("/proc/self/maps", kMaxMapsText);
  if (!maps) return 0;
  size_t moved = 0;
  for (const std::string_view each : core::SplitAt(*maps, '\n')) {
    const std::string line(each);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char permissions[5] = {};
    unsigned long inode = 1;
    // "55d0-55d4 rw-p 00000000 00:00 0 [heap]"; with an inode it is a library's data.
    if (sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &begin, &end, permissions, &inode) != 4 ||
        std::string_view(permissions) != "rw-p" || inode != 0 ||
        line.find("[stack]") != line.npos) {
      continue;
    }
    moved += Collapse(begin, end);
  }
  return moved;
}

}  // namespace belljar::inside
