#include "engine/inside/file_pages.h"

#include <fcntl.h>
#include <linux/mman.h>  // MADV_POPULATE_READ, which glibc 2.31 does not name
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/inside/memory_map.h"
#include "engine/inside/rehearsal.h"

namespace belljar::inside {
namespace {

// Of less it is not worth it: fork then copies the mapping's anon_vma, too, which takes about 1 µs.
constexpr ptrdiff_t kWorthMapping = 4;  // pages

// A mapping, and its pagemap words in the zygote and in a clone that has rehearsed.
struct Used {
  MemoryMapping mapping;
  std::vector<uint64_t> before;
  std::vector<uint64_t> after;
};

bool IsPresent(uint64_t page) { return (page & kPagePresent) != 0; }
bool IsOwn(uint64_t page) {
  return (page & kPageSwapped) || (IsPresent(page) && !(page & kPageOfFile));
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
    const bool is_present = IsPresent(pages[first]);
    while (next < pages.size() && IsPresent(pages[next]) == is_present) ++next;
    // Linux 5.14; else a worker takes the faults, as ever.
    if (is_present) {
      (void)madvise(At(mapping.begin + first * kPageSize), (next - first) * kPageSize,
                    MADV_POPULATE_READ);
    }
  }
}

core::Result<std::vector<Used>> UsedBy(const std::function<void()>& rehearse) {
  core::Result<std::vector<MemoryMapping>> mappings = PrivateMappings();
  if (!mappings) return mappings.error();
  const core::Result<core::UniqueFd> own = OpenPagemap("self");
  if (!own) return own.error();
  core::Result<core::Process> clone = Rehearse(rehearse);
  if (!clone) return clone.error();
  const core::Result<core::UniqueFd> of_clone = OpenPagemap(std::to_string(clone->pid()));
  if (!of_clone) return of_clone.error();
  std::vector<Used> used;
  for (const MemoryMapping& mapping : *mappings) {
    if (mapping.size() > kLargestMapping || mapping.is_heap || mapping.is_stack) continue;
    Used each{mapping, std::vector<uint64_t>(mapping.pages()),
              std::vector<uint64_t>(mapping.pages())};
    core::Result<void> read = ReadPagemap(own->get(), mapping, each.before.data());
    if (read) read = ReadPagemap(of_clone->get(), mapping, each.after.data());
    if (!read) return read.error();
    used.push_back(std::move(each));
  }
  return used;
}

// Code and constants of which a worker uses some. None of a mapping with a page that is not the
// file's, such as what a dynamic linker has relocated: it must not be given up.
bool IsWorthMapping(const Used& each) {
  return each.mapping.is_file() && !each.mapping.is_writable &&
         std::ranges::count_if(each.after, IsPresent) >= kWorthMapping &&
         std::ranges::none_of(each.before, IsOwn);
}

// --- libraries that no worker uses ---------------------------------------------------------------

// The inodes of files with code that the clone has not run.
std::set<uint64_t> UnusedFiles(const std::vector<Used>& all) {
  std::set<uint64_t> unused;
  for (const Used& each : all) {
    if (each.mapping.is_file() && each.mapping.is_executable) unused.insert(each.mapping.inode);
  }
  for (const Used& each : all) {
    if (each.mapping.is_executable && std::ranges::any_of(each.after, IsPresent)) {
      unused.erase(each.mapping.inode);
    }
  }
  return unused;
}

// Has pages of the process's own, to none of which the clone has written.
bool IsCold(const Used& each) {
  return std::ranges::any_of(each.before, IsOwn) &&
         std::ranges::none_of(each.after, [](uint64_t page) {
           return (page & kPageSwapped) || (IsOwn(page) && (page & kPageMappedOnce));
         });
}

// The same content, of a file of its own that nothing can change.
core::Result<void> MoveToFile(const MemoryMapping& mapping) {
  const core::UniqueFd file(memfd_create("belljar-library", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return core::SystemError("create memory file");
  for (uintptr_t next = mapping.begin; next < mapping.end;) {
    const ssize_t written = write(file.get(), At(next), mapping.end - next);
    if (written <= 0) return core::SystemError("write a library's data to a memory file");
    next += static_cast<uintptr_t>(written);
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return core::SystemError("seal memory file");
  const int protection = PROT_READ | (mapping.is_writable ? PROT_WRITE : 0);
  if (mmap(At(mapping.begin), mapping.size(), protection, MAP_PRIVATE | MAP_FIXED, file.get(), 0) ==
      MAP_FAILED) {
    return core::SystemError("map a library's data");
  }
  return {};
}

core::Result<void> MoveColdDataToFiles(const std::vector<Used>& all) {
  const std::set<uint64_t> unused = UnusedFiles(all);
  for (const Used& each : all) {
    const MemoryMapping& mapping = each.mapping;
    // Not what lies beside it: the kernel joins .bss with an allocator's memory, which is to be
    // zeros after MADV_DONTNEED, and not what a file has there.
    if (!mapping.is_file() || !unused.contains(mapping.inode)) continue;
    if (mapping.is_executable || !IsCold(each)) continue;
    if (core::Result<void> done = MoveToFile(mapping); !done) return done;
  }
  return {};
}

}  // namespace

core::Result<void> PrepareFilePages(const std::function<void()>& rehearse) {
  const core::UniqueFd memory(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory) return core::SystemError("open /proc/self/mem");
  const core::Result<std::vector<Used>> used = UsedBy(rehearse);
  if (!used) return used.error();
  for (const Used& each : *used) {
    if (!IsWorthMapping(each)) continue;
    if (core::Result<void> done = MakeCopied(memory.get(), each.mapping); !done) return done;
    Map(each.mapping, each.after);
  }
  return MoveColdDataToFiles(*used);
}

}  // namespace belljar::inside
