// A limit is enforced by a kill: an allocation that the kernel refuses (RLIMIT_AS) ends the worker,
// before Python can turn it into a MemoryError that guest code could catch.
#ifndef BELLJAR_ENGINE_INSIDE_MEMORY_H_
#define BELLJAR_ENGINE_INSIDE_MEMORY_H_

namespace belljar::inside {

// Zygote, before Python starts. With `one_heap` the arenas are blocks of the C library's heap
// instead of separate mappings (heap.h). Wraps the raw allocator, which serves every allocation
// above 512 bytes, and the arena allocator, which serves the smaller ones. So only large
// allocations have a cost.
void InstallMemoryGuard(bool one_heap);

// Zygote, with one heap: reserves memory for an arena, and for the data stack (the frames).
void ReserveArena();
// Once: gives that arena to Python. Later allocations are in it, and not in holes between what has
// been loaded.
void UseReservedArena();
// After that, when objects in other arenas have been freed: permanently allocates what is free
// there.
void FillArenaHoles();

// Zygote of a single run, while it starts: whether the kernel provides all pages of an arena at
// once. Nearly all of them are used, and a fault costs more than a page. For a clone, one by one is
// better.
void PopulateArenas(bool populates);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_MEMORY_H_
