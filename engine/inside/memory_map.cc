#include "engine/inside/memory_map.h"

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxMapsText = 4 << 20;

}  // namespace

core::Result<std::vector<WritableMapping>> WritableMappings() {
  core::Result<std::string> maps = core::ReadFile("/proc/self/maps", kMaxMapsText);
  if (!maps) return maps.error();
  std::vector<WritableMapping> mappings;
  for (const std::string_view each : core::SplitAt(*maps, '\n')) {
    const std::string line(each);
    WritableMapping mapping;
    char permissions[5] = {};
    unsigned long inode = 0;
    // "55d0-55d4 rw-p 00000000 00:00 0 [heap]"
    if (sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &mapping.begin, &mapping.end, permissions,
               &inode) != 4 ||
        std::string_view(permissions) != "rw-p") {
      continue;
    }
    mapping.is_file = inode != 0;
    mapping.is_heap = line.ends_with("[heap]");
    mapping.is_stack = line.ends_with("[stack]");
    mappings.push_back(mapping);
  }
  return mappings;
}

}  // namespace belljar::inside
