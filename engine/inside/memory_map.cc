#include "engine/inside/memory_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxMapsText = 4 << 20;

}  // namespace

core::Result<std::vector<MemoryMapping>> PrivateMappings() {
  core::Result<std::string> maps = core::ReadFile("/proc/self/maps", kMaxMapsText);
  if (!maps) return maps.error();
  std::vector<MemoryMapping> mappings;
  for (const std::string_view each : core::SplitAt(*maps, '\n')) {
    const std::string line(each);
    MemoryMapping mapping;
    char permissions[5] = {};
    // "55d0-55d4 rw-p 00000000 00:00 0 [heap]"
    if (sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %lu", &mapping.begin, &mapping.end, permissions,
               &mapping.offset, &mapping.inode) != 5 ||
        permissions[0] != 'r' || permissions[3] != 'p') {
      continue;
    }
    mapping.is_writable = permissions[1] == 'w';
    mapping.is_executable = permissions[2] == 'x';
    mapping.is_heap = line.ends_with("[heap]");
    mapping.is_stack = line.ends_with("[stack]");
    mappings.push_back(mapping);
  }
  return mappings;
}

core::Result<std::vector<MemoryMapping>> WritableMappings() {
  core::Result<std::vector<MemoryMapping>> mappings = PrivateMappings();
  if (mappings) {
    std::erase_if(*mappings, [](const MemoryMapping& each) {
      return !each.is_writable || each.is_executable;
    });
  }
  return mappings;
}

core::Result<core::UniqueFd> OpenPagemap(const std::string& process) {
  const std::string path = "/proc/" + process + "/pagemap";
  core::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return core::SystemError("open " + path);
  return file;
}

core::Result<void> ReadPagemap(int pagemap, const MemoryMapping& mapping, uint64_t* words) {
  const size_t size = mapping.pages() * sizeof(uint64_t);
  const auto from = static_cast<off_t>(mapping.begin / kPageSize * sizeof(uint64_t));
  if (pread(pagemap, words, size, from) != static_cast<ssize_t>(size)) {
    return core::SystemError("read a pagemap");
  }
  return {};
}

}  // namespace belljar::inside
