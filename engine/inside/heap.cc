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
constexpr int kLargestInHeap = 32 << 20;
constexpr int kTrimAbove = 2 * kLargestInHeap;

// Freed blocks up to this size stay in the thread's cache, seven per size
// (glibc.malloc.tcache_count).
constexpr size_t kLargestCached = 1032;
constexpr size_t kCachedOfEach = 7;

constexpr size_t kStep = 16;      // between block sizes
constexpr size_t kSmallest = 24;  // usable bytes of the smallest block
constexpr size_t kHeader = 8;     // of every block

// The rest of the hot region.
void* g_rest = nullptr;

// Never freed, deliberately; volatile keeps the compiler from optimising it away.
void* Take(size_t size) {
  void* volatile block = malloc(size);
  return block;
}

uintptr_t EndOfUsedHeap() { return reinterpret_cast<uintptr_t>(sbrk(0)) - mallinfo2().keepcost; }

void EmptyThreadCache() {
  for (size_t size = kSmallest; size <= kLargestCached; size += kStep) {
    for (size_t i = 0; i < kCachedOfEach; ++i) Take(size);
  }
}

// One block, from the heap's end to where the next huge page begins. What is larger than a hole can
// be has to be there.
void* TakeRestOfRegion() {
  const uintptr_t end = EndOfUsedHeap();
  const uintptr_t region = HugePageSize();
  uintptr_t rest = (end + region - 1) / region * region - end;
  if (rest < kSmallest + kHeader) rest += region;
  return Take(rest - kHeader);
}

// Until no hole of `size` is left below `end`.
void FillHoles(size_t size, uintptr_t end) {
  for (;;) {
    void* const block = Take(size);
    if (!block) return;
    if (reinterpret_cast<uintptr_t>(block) >= end) return free(block);
  }
}

}  // namespace

void GatherHeap() {
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, kTrimAbove);
}

void FillHeapHoles() {
  malloc_trim(0);  // also joins neighbouring holes
  EmptyThreadCache();
  const uintptr_t end = EndOfUsedHeap();
  // A hole is filled with blocks of descending powers of two.
  for (size_t size = size_t{1} << 20; size > kSmallest + kHeader; size /= 2) {
    FillHoles(size - kHeader, end);
  }
  FillHoles(kSmallest, end);
}

// NOLINTBEGIN(clang-analyzer-unix.Malloc): what is taken stays
void BeginHotRegion() {
  FillHeapHoles();
  TakeRestOfRegion();
}

void EndHotRegion() { g_rest = TakeRestOfRegion(); }

void AllocateInHotRegion() {
  FillHeapHoles();
  TakeRestOfRegion();
  free(std::exchange(g_rest, nullptr));
}
// NOLINTEND(clang-analyzer-unix.Malloc)

}  // namespace belljar::inside
