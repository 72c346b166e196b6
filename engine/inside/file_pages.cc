#include "engine/inside/file_pages.h"

#include <fcntl.h>
#include <linux/mman.h>  // MADV_POPULATE_READ, which glibc 2.31 does not name
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/inside/memory_map.h"
#include "engine/inside/rehearsal.h"

namespace belljar::inside {
namespace {

// A mapping of which a worker uses less costs more in each clone than its faults: fork then copies
// the mapping's anon_vma, too.
constexpr size_t kWorthMapping = 4;

// The pagemap words of a mapping.
core::Result<std::vector<uint64_t>> Pages(int pagemap, const MemoryMapping& mapping) {
  std::vector<uint64_t> words(mapping.size() / kPageSize);
  const size_t size = words.size() * sizeof(uint64_t);
  const auto from = static_cast<off_t>(mapping.begin / kPageSize * sizeof(uint64_t));
  if (pread(pagemap, words.data(), size, from) != static_cast<ssize_t>(size)) {
    return core::SystemError("read pagemap");
  }
  return words;
}

core::Result<core::UniqueFd> OpenPagemap(const std::string& process) {
  const std::string path = "/proc/" + process + "/pagemap";
  core::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return core::SystemError("open " + path);
  return file;
}

// None of a mapping with a page that is not the file's, such as what a dynamic linker has
// relocated: it must not be given up.
bool AreAllOfFile(const std::vector<uint64_t>& pages) {
  return std::ranges::none_of(pages, [](uint64_t page) {
    return (page & kPageSwapped) || ((page & kPagePresent) && !(page & kPageOfFile));
  });
}

void* At(uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of a mapping
}

// From here on fork copies the page table entries of `mapping`, of which none is left.
core::Result<void> MakeCopied(int memory, const MemoryMapping& mapping) {
  // Written like a debugger's breakpoint, to memory that is not writable (proc_pid_mem(5)).
  const auto offset = static_cast<off_t>(mapping.begin);
  char byte = 0;
  if (pread(memory, &byte, 1, offset) != 1 || pwrite(memory, &byte, 1, offset) != 1) {
    return core::SystemError("write to /proc/self/mem");
  }
  if (madvise(At(mapping.begin), mapping.size(), MADV_DONTNEED) != 0) {
    return core::SystemError("give up the pages of a file");
  }
  return {};
}

void Map(const MemoryMapping& mapping, const std::vector<uint64_t>& pages) {
  for (size_t first = 0, next = 0; first < pages.size(); first = next) {
    const bool is_present = pages[first] & kPagePresent;
    for (next = first; next < pages.size(); ++next) {
      if (((pages[next] & kPagePresent) != 0) != is_present) break;
    }
    // Linux 5.14; else a worker takes the faults, as ever.
    if (is_present) {
      (void)madvise(At(mapping.begin + first * kPageSize), (next - first) * kPageSize,
                    MADV_POPULATE_READ);
    }
  }
}

}  // namespace

core::Result<void> MapFilePagesOnClone(const std::function<void()>& rehearse) {
  const core::Result<std::vector<MemoryMapping>> mappings = ReadOnlyFileMappings();
  if (!mappings) return mappings.error();
  const core::Result<core::UniqueFd> own = OpenPagemap("self");
  if (!own) return own.error();
  const core::UniqueFd memory(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory) return core::SystemError("open /proc/self/mem");
  core::Result<core::Process> clone = Rehearse(rehearse);
  if (!clone) return clone.error();
  const core::Result<core::UniqueFd> of_clone = OpenPagemap(std::to_string(clone->pid()));
  if (!of_clone) return of_clone.error();
  for (const MemoryMapping& mapping : *mappings) {
    if (mapping.size() > kLargestMapping) continue;
    const core::Result<std::vector<uint64_t>> before = Pages(own->get(), mapping);
    const core::Result<std::vector<uint64_t>> used = Pages(of_clone->get(), mapping);
    if (!before || !used) return before ? used.error() : before.error();
    const auto count =
        std::ranges::count_if(*used, [](uint64_t page) { return (page & kPagePresent) != 0; });
    if (static_cast<size_t>(count) < kWorthMapping || !AreAllOfFile(*before)) continue;
    if (core::Result<void> done = MakeCopied(memory.get(), mapping); !done) return done;
    Map(mapping, *used);
  }
  return {};
}

}  // namespace belljar::inside
