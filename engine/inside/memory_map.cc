#include "engine/inside/memory_map.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxMapsText = 4 << 20;

// Those that `is_wanted` takes, by their permissions ("rw-p") and whether they are of a file.
core::Result<std::vector<MemoryMapping>> Mappings(bool (*is_wanted)(std::string_view, bool)) {
  core::Result<std::string> maps = core::ReadFile("/proc/self/maps", kMaxMapsText);
  if (!maps) return maps.error();
  std::vector<MemoryMapping> mappings;
  for (const std::string_view each : core::SplitAt(*maps, '\n')) {
    const std::string line(each);
    MemoryMapping mapping;
    char permissions[5] = {};
    unsigned long inode = 0;
    // "55d0-55d4 rw-p 00000000 00:00 0 [heap]"
    if (sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &mapping.begin, &mapping.end, permissions,
               &inode) != 4 ||
        !is_wanted(permissions, inode != 0)) {
      continue;
    }
    mapping.is_file = inode != 0;
    mapping.is_heap = line.ends_with("[heap]");
    mapping.is_stack = line.ends_with("[stack]");
    mappings.push_back(mapping);
  }
  return mappings;
}

}  // namespace

core::Result<std::vector<MemoryMapping>> WritableMappings() {
  return Mappings([](std::string_view permissions, bool) { return permissions == "rw-p"; });
}

core::Result<std::vector<MemoryMapping>> ReadOnlyFileMappings() {
  return Mappings([](std::string_view permissions, bool is_file) {
    return is_file && (permissions == "r--p" || permissions == "r-xp");
  });
}

}  // namespace belljar::inside
