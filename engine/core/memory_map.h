// The mappings of a process, from /proc/PID/maps (proc_pid_maps(5)). `process`: a pid, or "self".
#ifndef BELLJAR_ENGINE_CORE_MEMORY_MAP_H_
#define BELLJAR_ENGINE_CORE_MEMORY_MAP_H_

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::core {

// Larger mappings are reservations that are mostly unused, such as AddressSanitizer's 15 TiB of
// shadow memory. Reading their pagemap took two thirds of the time of sanitized tests.
inline constexpr uintptr_t kMaxMappingSize = uintptr_t{1} << 30;

// On aarch64 4, 16 or 64 KiB, as the kernel was built.
inline const auto kPageSize = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// /proc/PID/pagemap, one word per page (Documentation/admin-guide/mm/pagemap.rst).
inline constexpr uint64_t kPagePresent = uint64_t{1} << 63;
inline constexpr uint64_t kPageSwapped = uint64_t{1} << 62;
inline constexpr uint64_t kPageOfFile = uint64_t{1} << 61;  // or shared
inline constexpr uint64_t kPageMappedOnce = uint64_t{1} << 56;

struct MemoryMapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  bool is_writable = false;
  bool is_executable = false;
  uint64_t inode = 0;    // of the file, such as a library; 0: no file
  uint64_t offset = 0;   // in the file, in bytes
  bool is_heap = false;  // of the C library (brk)
  bool is_stack = false;

  bool is_file() const { return inode != 0; }
  bool is_readonly() const { return !is_writable && !is_executable; }

  uintptr_t size() const { return end - begin; }
  size_t pages() const { return size() / kPageSize; }
};

// The private, readable mappings, by address.
Result<std::vector<MemoryMapping>> PrivateMappings(const std::string& process = "self");

// Only the mappings that are writable and hold no code.
Result<std::vector<MemoryMapping>> WritableMappings(const std::string& process = "self");

// The pagemap of a process.
Result<UniqueFd> OpenPagemap(const std::string& process);

// Reads its words for `mapping` into `words`, which must have room for them.
Result<void> ReadPagemap(int pagemap, const MemoryMapping& mapping, uint64_t* words);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_MEMORY_MAP_H_
