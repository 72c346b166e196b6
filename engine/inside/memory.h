// A limit is a kill: an allocation that the kernel refuses (RLIMIT_AS) ends the worker, before
// Python can turn it into a MemoryError that guest code could catch and outlive.
#ifndef BELLJAR_ENGINE_INSIDE_MEMORY_H_
#define BELLJAR_ENGINE_INSIDE_MEMORY_H_

namespace belljar::inside {

// Zygote, before Python starts. With `one_heap` the arenas are blocks of the C library's heap and
// not mappings of their own (heap.h). Wraps the raw allocator, where every allocation past 512
// bytes ends, and the arenas, where the smaller ones come from; so the cost is on large allocations
// only.
void InstallMemoryGuard(bool one_heap);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_MEMORY_H_
