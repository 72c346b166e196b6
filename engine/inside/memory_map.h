// The mappings of this process, from /proc/self/maps (proc_pid_maps(5)).
#ifndef BELLJAR_ENGINE_INSIDE_MEMORY_MAP_H_
#define BELLJAR_ENGINE_INSIDE_MEMORY_MAP_H_

#include <cstdint>
#include <vector>

#include "engine/core/result.h"

namespace belljar::inside {

struct WritableMapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_file = false;  // such as a library's data
  bool is_heap = false;  // of the C library (brk)
  bool is_stack = false;

  uintptr_t size() const { return end - begin; }
};

// Those that are private and writable, by address.
core::Result<std::vector<WritableMapping>> WritableMappings();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_MEMORY_MAP_H_
