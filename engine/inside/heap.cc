#include "engine/inside/heap.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "engine/inside/huge_pages.h"

namespace belljar::inside {
namespace {

// What glibc itself settles on in a program that frees large blocks: DEFAULT_MMAP_THRESHOLD_MAX,
// and twice that (mallopt(3), M_MMAP_THRESHOLD).
constexpr int kMaxInHeap = 32 << 20;
constexpr int kTrimAbove = 2 * kMaxInHeap;

// Freed blocks up to this size stay in the thread's cache, seven per size
// (glibc.malloc.tcache_count).
constexpr size_t kMaxCached = 1032;
constexpr size_t kCachedPerSize = 7;

constexpr size_t kStep = 16;      // between block sizes
constexpr size_t kSmallest = 24;  // usable bytes of the smallest block
constexpr size_t kHeader = 8;     // of every block

// The hot region, from what is allocated first, and its rest.
uintptr_t g_hot_begin = 0, g_hot_end = 0;
void* g_rest = nullptr;

bool IsInHotRegion(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  return g_hot_begin <= address && address < g_hot_end;
}

// Never freed, deliberately; volatile keeps the compiler from optimising it away.
void* Take(size_t size) {
  void* volatile block = malloc(size);
  return block;
}

uintptr_t EndOfUsedHeap() { return reinterpret_cast<uintptr_t>(sbrk(0)) - mallinfo2().keepcost; }

void EmptyThreadCache() {
  for (size_t size = kSmallest; size <= kMaxCached; size += kStep) {
    for (size_t i = 0; i < kCachedPerSize; ++i) Take(size);
  }
}

// One block, from the heap's end to the start of the next huge page. A block larger than any hole
// has to be there.
void* TakeRestOfRegion() {
  const uintptr_t end = EndOfUsedHeap();
  const uintptr_t region = HugePageSize();
  uintptr_t rest = (end + region - 1) / region * region - end;
  if (rest < kSmallest + kHeader) rest += region;
  return Take(rest - kHeader);
}

// Until no hole of `size` is left below `end`. What lies in the hot region is released at the end:
// through a list in the blocks themselves, which allocates nothing.
void FillHoles(size_t size, uintptr_t end, void** of_hot_region) {
  for (;;) {
    void* const block = Take(size);
    if (!block) return;
    if (IsInHotRegion(block)) {
      *static_cast<void**>(block) = std::exchange(*of_hot_region, block);
    } else if (reinterpret_cast<uintptr_t>(block) >= end) {
      // A small block would go to the thread's cache, for the next allocation of its size.
      if (size > kMaxCached) free(block);
      return;
    }
  }
}

}  // namespace

void GatherHeap() {
  mallopt(M_MMAP_THRESHOLD, kMaxInHeap);
  mallopt(M_TRIM_THRESHOLD, kTrimAbove);
}

void FillHeapHoles() {
  malloc_trim(0);  // also joins neighbouring holes
  EmptyThreadCache();
  const uintptr_t end = EndOfUsedHeap();
  void* of_hot_region = nullptr;
  // A hole is filled with blocks of descending powers of two.
  for (size_t size = size_t{1} << 20; size > kSmallest + kHeader; size /= 2) {
    FillHoles(size - kHeader, end, &of_hot_region);
  }
  FillHoles(kSmallest, end, &of_hot_region);
  while (of_hot_region) {
    free(std::exchange(of_hot_region, *static_cast<void**>(of_hot_region)));
  }
}

// NOLINTBEGIN(clang-analyzer-unix.Malloc): what is taken stays
void BeginHotRegion() {
  FillHeapHoles();
  TakeRestOfRegion();
  g_hot_begin = EndOfUsedHeap();
}

void EndHotRegion() {
  g_rest = TakeRestOfRegion();
  g_hot_end = EndOfUsedHeap();
}

void AllocateInHotRegion() {
  FillHeapHoles();
  TakeRestOfRegion();
  free(std::exchange(g_rest, nullptr));
}
// NOLINTEND(clang-analyzer-unix.Malloc)

}  // namespace belljar::inside
