#include "engine/inside/file_pages.h"

#include <fcntl.h>
#include <link.h>
#include <linux/mman.h>  // MADV_POPULATE_READ, which glibc 2.31 does not name
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"
#include "engine/core/process.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/rehearsal.h"

namespace belljar::inside {
namespace {

// Not worth it for smaller ranges: fork then also copies the mapping's anon_vma, about 1 µs.
constexpr ptrdiff_t kWorthMapping = 4;  // pages

// Minimum number of code pages in use, out of 512 in a huge page. Fewer are not worth 2 MiB of
// private memory per zygote.
constexpr ptrdiff_t kWorthHugePage = 128;

// Every mapping costs a clone 0.5 µs, and as much when it ends. An unused library's constants
// become one mapping with its relocated data, which takes private memory in each zygote: in
// data-science 264 of 322 are no larger than this, 5.8 MB together.
constexpr size_t kMaxConstants = size_t{64} << 10;

// A mapping, and its pagemap words in the zygote and in a clone that has rehearsed.
struct Used {
  core::MemoryMapping mapping;
  std::vector<uint64_t> before;
  std::vector<uint64_t> after;
};

bool IsPresent(uint64_t page) { return (page & core::kPagePresent) != 0; }
bool IsOwn(uint64_t page) {
  return (page & core::kPageSwapped) || (IsPresent(page) && !(page & core::kPageOfFile));
}

void* At(uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of a mapping
}

// From here on, fork copies the page table entries of `mapping`, which has none left.
core::Result<void> MakeCopied(int memory, const core::MemoryMapping& mapping) {
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

void Map(const core::MemoryMapping& mapping, const std::vector<uint64_t>& pages) {
  for (size_t first = 0, next = 0; first < pages.size(); first = next) {
    const bool is_present = IsPresent(pages[first]);
    while (next < pages.size() && IsPresent(pages[next]) == is_present) ++next;
    // Requires Linux 5.14; otherwise a worker takes the faults, as before.
    if (is_present) {
      (void)madvise(At(mapping.begin + first * core::kPageSize), (next - first) * core::kPageSize,
                    MADV_POPULATE_READ);
    }
  }
}

core::Result<std::vector<Used>> UsedBy(const std::function<void()>& rehearse) {
  core::Result<std::vector<core::MemoryMapping>> mappings = core::PrivateMappings();
  if (!mappings) return mappings.error();
  const core::Result<core::UniqueFd> own = core::OpenPagemap("self");
  if (!own) return own.error();
  core::Result<core::Process> clone = Rehearse(rehearse);
  if (!clone) return clone.error();
  const core::Result<core::UniqueFd> of_clone = core::OpenPagemap(std::to_string(clone->pid()));
  if (!of_clone) return of_clone.error();
  std::vector<Used> used;
  for (const core::MemoryMapping& mapping : *mappings) {
    if (mapping.size() > core::kMaxMappingSize || mapping.is_heap || mapping.is_stack) continue;
    Used each{mapping, std::vector<uint64_t>(mapping.pages()),
              std::vector<uint64_t>(mapping.pages())};
    core::Result<void> read = core::ReadPagemap(own->get(), mapping, each.before.data());
    if (read) read = core::ReadPagemap(of_clone->get(), mapping, each.after.data());
    if (!read) return read.error();
    used.push_back(std::move(each));
  }
  return used;
}

// Whether none of it is the process's own: no page would be lost if all were released. Not true of
// what a dynamic linker has relocated.
bool IsAsInFile(const Used& each) {
  return each.mapping.is_file() && !each.mapping.is_writable &&
         std::ranges::none_of(each.before, IsOwn);
}

// Code and constants that workers use in part.
bool IsWorthMapping(const Used& each) {
  return IsAsInFile(each) && std::ranges::count_if(each.after, IsPresent) >= kWorthMapping;
}

// Both of the same file, without a gap.
bool AreAdjacent(const core::MemoryMapping& first, const core::MemoryMapping& second) {
  return first.end == second.begin && first.inode == second.inode;
}

// What lies before a library's code (its header, symbols and relocations) is read when the library
// is loaded. The kernel has mapped it around the first fault, but workers do not need it.
void LeaveOutHeaders(std::vector<Used>& all) {
  for (size_t i = 1; i < all.size(); ++i) {
    Used &header = all[i - 1], &code = all[i];
    if (!code.mapping.is_executable || !AreAdjacent(header.mapping, code.mapping)) continue;
    if (header.mapping.is_readonly() && header.mapping.offset == 0) header = {};
  }
  std::erase_if(all, [](const Used& each) { return each.mapping.size() == 0; });
}

// --- code on huge pages --------------------------------------------------------------------------

// Maps the same content at the same address on a huge page that does not belong to the file.
bool MoveToHugePage(int memory, uintptr_t region) {
  const size_t size = HugePageSize();
  void* const reserved =
      mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return false;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(reserved), end = begin + 2 * size;
  const uintptr_t copy = (begin + size - 1) / size * size;
  (void)madvise(At(copy), size, MADV_HUGEPAGE);
  // Not with memcpy, for which AddressSanitizer checks what lies between the constants.
  const ssize_t copied = pread(memory, At(copy), size, static_cast<off_t>(region));
  const bool moved =
      copied == static_cast<ssize_t>(size) && CollapseRegion(copy) &&
      mprotect(At(copy), size, PROT_READ | PROT_EXEC) == 0 &&
      mremap(At(copy), size, size, MREMAP_MAYMOVE | MREMAP_FIXED, At(region)) != MAP_FAILED;
  if (copy > begin) (void)munmap(reserved, copy - begin);
  const uintptr_t rest = moved ? copy + size : copy;
  if (end > rest) (void)munmap(At(rest), end - rest);
  return moved;
}

Used PartOf(const Used& whole, uintptr_t begin, uintptr_t end) {
  const auto first = static_cast<ptrdiff_t>((begin - whole.mapping.begin) / core::kPageSize);
  const auto last = static_cast<ptrdiff_t>((end - whole.mapping.begin) / core::kPageSize);
  Used part{whole.mapping,
            {whole.before.begin() + first, whole.before.begin() + last},
            {whole.after.begin() + first, whole.after.begin() + last}};
  part.mapping.begin = begin;
  part.mapping.end = end;
  part.mapping.offset += begin - whole.mapping.begin;
  return part;
}

// Where a region that begins with the code all[i] may end: with that code, or with up to an eighth
// of constants.
uintptr_t EndOfRegions(const std::vector<Used>& all, size_t i) {
  const core::MemoryMapping& code = all[i].mapping;
  if (i + 1 == all.size() || !all[i + 1].mapping.is_readonly() || !IsAsInFile(all[i + 1]) ||
      !AreAdjacent(code, all[i + 1].mapping)) {
    return code.end;
  }
  return std::min(all[i + 1].mapping.end, code.end + HugePageSize() / 8);
}

// Removes from `all` what it moves.
void MoveCodeToHugePages(int memory, std::vector<Used>& all) {
  const uintptr_t huge = HugePageSize();
  for (size_t i = 0; i < all.size(); ++i) {
    const core::MemoryMapping mapping = all[i].mapping;
    if (!mapping.is_executable || !IsAsInFile(all[i])) continue;
    const uintptr_t last = EndOfRegions(all, i);
    for (uintptr_t region = (mapping.begin + huge - 1) / huge * huge; region + huge <= last;
         region += huge) {
      const uintptr_t code_end = std::min(region + huge, mapping.end);
      const Used part = PartOf(all[i], region, code_end);
      if (std::ranges::count_if(part.after, IsPresent) < kWorthHugePage) continue;
      if (!MoveToHugePage(memory, region)) continue;
      const Used before = PartOf(all[i], mapping.begin, region);
      all[i] = PartOf(all[i], code_end, mapping.end);
      if (region + huge > code_end) {
        all[i + 1] = PartOf(all[i + 1], region + huge, all[i + 1].mapping.end);
      }
      if (before.mapping.size() > 0) all.insert(all.begin() + static_cast<ptrdiff_t>(i++), before);
      break;  // one per library: CPython's has no second one
    }
  }
}

// --- libraries that no worker uses ---------------------------------------------------------------

// The .bss of a library is anonymous memory after its data, which the kernel merges with any
// anonymous memory that follows. Adds it to `all` as a separate mapping of the library's file.
void SeparateBss(std::vector<Used>& all) {
  const auto up = [](uintptr_t address) {
    return (address + core::kPageSize - 1) / core::kPageSize * core::kPageSize;
  };
  std::map<uintptr_t, uintptr_t> bss;  // begin, end
  const auto collect = [&](const dl_phdr_info& library) {
    for (const ElfW(Phdr) & segment : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W)) continue;
      const uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
      bss[up(begin + segment.p_filesz)] = up(begin + segment.p_memsz);
    }
  };
  auto* const call = +[](dl_phdr_info* library, size_t /*size*/, void* context) {
    (*static_cast<decltype(collect)*>(context))(*library);
    return 0;
  };
  (void)dl_iterate_phdr(call, const_cast<void*>(static_cast<const void*>(&collect)));
  for (size_t i = 1; i < all.size(); ++i) {
    const core::MemoryMapping& data = all[i - 1].mapping;
    Used& after = all[i];
    const auto found = bss.find(after.mapping.begin);
    if (!data.is_file() || !data.is_writable || data.end != after.mapping.begin) continue;
    if (after.mapping.is_file() || !after.mapping.is_writable || found == bss.end()) continue;
    const uintptr_t end = found->second;
    if (end <= after.mapping.begin || end > after.mapping.end) continue;
    const uint64_t inode = data.inode;
    const Used rest = PartOf(after, end, after.mapping.end);
    after = PartOf(after, after.mapping.begin, end);
    after.mapping.inode = inode;
    if (rest.mapping.size() > 0) all.insert(all.begin() + static_cast<ptrdiff_t>(i) + 1, rest);
  }
}

// The inodes of files whose code the clone has not run.
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

// The clone has written to it.
bool IsWritten(const Used& each) {
  return std::ranges::any_of(each.after, [](uint64_t page) {
    return (page & core::kPageSwapped) || (IsOwn(page) && (page & core::kPageMappedOnce));
  });
}

bool HasOwnPages(const Used& each) { return std::ranges::any_of(each.before, IsOwn); }

bool ArePartsOfOne(const core::MemoryMapping& first, const core::MemoryMapping& second) {
  return AreAdjacent(first, second) && first.is_writable == second.is_writable &&
         !first.is_executable && !second.is_executable;
}

// The same content, in a file of its own that nothing can change.
core::Result<void> MoveToFile(const core::MemoryMapping& mapping) {
  const core::UniqueFd file(memfd_create("belljar-library", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return core::SystemError("create memory file");
  if (ftruncate(file.get(), static_cast<off_t>(mapping.size())) != 0) {
    return core::SystemError("size a memory file");
  }
  for (uintptr_t page = mapping.begin; page < mapping.end; page += core::kPageSize) {
    const std::string_view content(static_cast<const char*>(At(page)), core::kPageSize);
    // Mostly pages of a .bss: leave a hole in the file.
    if (content.find_first_not_of('\0') == content.npos) continue;
    const auto offset = static_cast<off_t>(page - mapping.begin);
    if (pwrite(file.get(), content.data(), core::kPageSize, offset) !=
        static_cast<ssize_t>(core::kPageSize)) {
      return core::SystemError("write a library's data to a memory file");
    }
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

core::Result<void> MoveColdDataToFiles(const std::vector<Used>& all,
                                       const std::set<uint64_t>& unused) {
  for (size_t first = 0, next = 0; first < all.size(); first = next) {
    for (next = first + 1; next < all.size(); ++next) {
      if (!ArePartsOfOne(all[next - 1].mapping, all[next].mapping)) break;
    }
    // Not anonymous memory, where an allocator expects zeros after MADV_DONTNEED.
    core::MemoryMapping mapping = all[first].mapping;
    if (!mapping.is_file() || !unused.contains(mapping.inode)) continue;
    if (IsAsInFile(all[first]) && mapping.size() > kMaxConstants) ++first;
    const std::span parts = std::span(all).subspan(first, next - first);
    if (std::ranges::none_of(parts, HasOwnPages) || std::ranges::any_of(parts, IsWritten)) continue;
    mapping.begin = parts.front().mapping.begin;
    mapping.end = parts.back().mapping.end;
    if (core::Result<void> done = MoveToFile(mapping); !done) return done;
  }
  return {};
}

}  // namespace

core::Result<void> PrepareFilePages(const std::function<void()>& rehearse, bool huge_pages) {
  const core::UniqueFd memory(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (!memory) return core::SystemError("open /proc/self/mem");
  core::Result<std::vector<Used>> used = UsedBy(rehearse);
  if (!used) return used.error();
  SeparateBss(*used);
  LeaveOutHeaders(*used);
  const std::set<uint64_t> unused = UnusedFiles(*used);
  if (huge_pages) MoveCodeToHugePages(memory.get(), *used);
  for (const Used& each : *used) {
    if (!IsWorthMapping(each)) continue;
    if (core::Result<void> done = MakeCopied(memory.get(), each.mapping); !done) return done;
    Map(each.mapping, each.after);
  }
  return MoveColdDataToFiles(*used, unused);
}

}  // namespace belljar::inside
