#include "engine/inside/memory.h"

#include <Python.h>
#include <linux/mman.h>  // MADV_POPULATE_WRITE, which glibc 2.31 does not name
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

PyMemAllocatorEx g_raw;
PyObjectArenaAllocator g_arena;

void* OrEnd(void* memory) {
  if (!memory) EndForMemory();
  return memory;
}

void* Allocate(void*, size_t size) { return OrEnd(g_raw.malloc(g_raw.ctx, size)); }
void* AllocateZeroed(void*, size_t count, size_t size) {
  return OrEnd(g_raw.calloc(g_raw.ctx, count, size));
}
void* Reallocate(void*, void* old, size_t size) {
  return OrEnd(g_raw.realloc(g_raw.ctx, old, size));
}
void Free(void*, void* memory) { g_raw.free(g_raw.ctx, memory); }

// Since Python 3.10, on 64-bit processors (Include/internal/pycore_obmalloc.h). Of another size no
// reserve is used.
constexpr size_t kArena = 1 << 20;
constexpr size_t kPool = 16 << 10;
constexpr size_t kStackChunk = 16 << 10;  // the first of a thread's data stack (Python/pystate.c)
constexpr size_t kMinObject = 16, kMaxObject = 512;
constexpr size_t kMaxHoles = 32 << 20;  // bytes; bounds the loop

std::byte* g_reserved_arena = nullptr;
// The memory that the next allocations of their size would get.
void* g_next_arena = nullptr;
void* g_next_stack = nullptr;

bool IsInReserve(const void* block) {
  return block >= g_reserved_arena && block < g_reserved_arena + kArena;
}

// Allocated like other blocks of the single heap.
void* AllocateArenaInHeap(void*, size_t size) {
  if (size == kStackChunk && g_next_stack) return std::exchange(g_next_stack, nullptr);
  if (size == kArena && g_next_arena) return std::exchange(g_next_arena, nullptr);
  return malloc(size);
}
void FreeArenaInHeap(void*, void* arena, size_t) { free(arena); }

bool g_populates = false;

void* AllocateArena(void*, size_t size) {
  void* const arena = OrEnd(g_arena.alloc(g_arena.ctx, size));
  // Requires Linux 5.14; if refused, each page causes a fault, as before.
  if (g_populates) (void)madvise(arena, size, MADV_POPULATE_WRITE);
  return arena;
}
void FreeArena(void*, void* arena, size_t size) { g_arena.free(g_arena.ctx, arena, size); }

}  // namespace

void InstallMemoryGuard(bool one_heap) {
  // A separate heap for each thread would reserve 64 MiB of address space, which RLIMIT_AS limits.
  mallopt(M_ARENA_MAX, 1);
  PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &g_raw);
  PyMemAllocatorEx raw{nullptr, Allocate, AllocateZeroed, Reallocate, Free};
  PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &raw);
  if (one_heap) {
    g_arena = {nullptr, AllocateArenaInHeap, FreeArenaInHeap};
  } else {
    PyObject_GetArenaAllocator(&g_arena);
  }
  PyObjectArenaAllocator arena{nullptr, AllocateArena, FreeArena};
  PyObject_SetArenaAllocator(&arena);
}

void ReserveArena() {
  g_reserved_arena = static_cast<std::byte*>(aligned_alloc(kPool, kArena));
  g_next_stack = malloc(kStackChunk);
}

void UseReservedArena() {
  g_next_arena = g_reserved_arena;
  FillArenaHoles();
}

void FillArenaHoles() {
  if (!g_reserved_arena) return;
  // Descending: large objects use up free pools, of which there is then none left for small ones.
  size_t filled = 0;
  for (size_t size = kMaxObject; size >= kMinObject; size -= kMinObject) {
    while (filled < kMaxHoles && !IsInReserve(PyObject_Malloc(size))) filled += size;
  }
}

void PopulateArenas(bool populates) { g_populates = populates; }

}  // namespace belljar::inside
