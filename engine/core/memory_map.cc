#include "engine/core/memory_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::core {
namespace {

constexpr size_t kMaxMapsText = 4 << 20;

}  // namespace

Result<std::vector<MemoryMapping>> PrivateMappings(const std::string& process) {
  Result<std::string> maps = ReadFile("/proc/" + process + "/maps", kMaxMapsText);
  if (!maps) return maps.error();
  std::vector<MemoryMapping> mappings;
  for (const std::string_view each : SplitAt(*maps, '\n')) {
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

Result<std::vector<MemoryMapping>> WritableMappings(const std::string& process) {
  Result<std::vector<MemoryMapping>> mappings = PrivateMappings(process);
  if (mappings) {
    std::erase_if(*mappings, [](const MemoryMapping& each) {
      return !each.is_writable || each.is_executable;
    });
  }
  return mappings;
}

Result<UniqueFd> OpenPagemap(const std::string& process) {
  const std::string path = "/proc/" + process + "/pagemap";
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return SystemError("open " + path);
  return file;
}

Result<void> ReadPagemap(int pagemap, const MemoryMapping& mapping, uint64_t* words) {
  const size_t size = mapping.pages() * sizeof(uint64_t);
  const auto from = static_cast<off_t>(mapping.begin / kPageSize * sizeof(uint64_t));
  if (pread(pagemap, words, size, from) != static_cast<ssize_t>(size)) {
    return SystemError("read a pagemap");
  }
  return {};
}

}  // namespace belljar::core
