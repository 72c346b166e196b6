#include "engine/inside/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "engine/core/memory_map.h"
#include "engine/core/result.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace belljar::inside {
namespace {

size_t Collapse(uintptr_t begin, uintptr_t end) {
  const uintptr_t huge = HugePageSize();
  const uintptr_t first = (begin + huge - 1) / huge * huge;
  size_t moved = 0;
  // One at a time: a part that cannot be moved (empty or pinned) must not stop the rest.
  for (uintptr_t page = first; page + huge <= end; page += huge) {
    if (CollapseRegion(page)) moved += huge;
  }
  return moved;
}

}  // namespace

size_t HugePageSize() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // What one page of a page table maps, whose entries have eight bytes.
  return page * (page / sizeof(uint64_t));
}

bool CollapseRegion(uintptr_t region) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the kernel has listed
  return madvise(reinterpret_cast<void*>(region), HugePageSize(), MADV_COLLAPSE) == 0;
}

size_t CollapseIntoHugePages() {
  const core::Result<std::vector<core::MemoryMapping>> mappings = core::WritableMappings();
  if (!mappings) return 0;
  size_t moved = 0;
  for (const core::MemoryMapping& mapping : *mappings) {
    if (mapping.is_file() || mapping.is_stack || mapping.size() > core::kMaxMappingSize) continue;
    moved += Collapse(mapping.begin, mapping.end);
  }
  return moved;
}

}  // namespace belljar::inside
