#include "engine/inside/hot_pages.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/mman.h>  // MADV_POPULATE_WRITE, which glibc 2.31 does not name
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/core/mapping.h"
#include "engine/core/memory_map.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/rehearsal.h"

namespace belljar::inside {
namespace {

// Limit for pinned pages, and for pages that a waiting worker writes to: no worker needs more, and
// every spare would hold it.
constexpr size_t kMaxBytes = 4 << 20;

// Set once, in the zygote.
const std::vector<iovec>* g_hot_pages = nullptr;
const std::vector<iovec>* g_warm_pages = nullptr;

uintptr_t BeginOf(const iovec& part) { return reinterpret_cast<uintptr_t>(part.iov_base); }
uintptr_t EndOf(const iovec& part) { return BeginOf(part) + part.iov_len; }

// One pagemap word for every page of `mappings`, in shared memory: writing to private memory would
// make those pages look as if the rehearsal had written to them.
class PageMap {
 public:
  static core::Result<PageMap> Prepare(std::vector<core::MemoryMapping> mappings) {
    PageMap map;
    core::Result<core::UniqueFd> file = core::OpenPagemap("self");
    if (!file) return file.error();
    map.file_ = std::move(*file);
    size_t pages = 0;
    for (const core::MemoryMapping& range : mappings) pages += range.pages();
    core::Result<core::UniqueFd> memory =
        core::CreateSealedMemory("belljar-pagemap", pages * sizeof(uint64_t));
    if (!memory) return memory.error();
    core::Result<core::Mapping> words = core::Mapping::Map(memory->get(), pages * sizeof(uint64_t));
    if (!words) return words.error();
    map.words_ = std::move(*words);
    map.mappings_ = std::move(mappings);
    return map;
  }

  core::Result<void> Read() const {
    auto* to = reinterpret_cast<uint64_t*>(words_.data());
    for (const core::MemoryMapping& range : mappings_) {
      if (core::Result<void> done = core::ReadPagemap(file_.get(), range, to); !done) return done;
      to += range.pages();
    }
    return {};
  }

  // The pages that were exclusively ours at Read. While a clone is alive, these are the ones it has
  // written to: all others are still shared with it.
  std::vector<uintptr_t> OwnPages() const {
    std::vector<uintptr_t> own;
    const auto* word = reinterpret_cast<const uint64_t*>(words_.data());
    for (const core::MemoryMapping& range : mappings_) {
      for (uintptr_t page = range.begin; page < range.end; page += core::kPageSize, ++word) {
        if (!(*word & core::kPagePresent) || (*word & core::kPageOfFile) ||
            !(*word & core::kPageMappedOnce))
          continue;
        own.push_back(page);
      }
    }
    return own;
  }

 private:
  core::UniqueFd file_;
  core::Mapping words_;
  std::vector<core::MemoryMapping> mappings_;
};

// Adds a page to ranges whose last one ends before it.
void Append(uintptr_t page, std::vector<iovec>& ranges) {
  if (!ranges.empty() && EndOf(ranges.back()) == page) {
    ranges.back().iov_len += core::kPageSize;
  } else {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the kernel has listed
    ranges.push_back({reinterpret_cast<void*>(page), core::kPageSize});
  }
}

// Requires Linux 5.14; otherwise, or where a range no longer exists, the faults occur when the
// pages are needed.
void WriteTo(void* begin, size_t size) { (void)madvise(begin, size, MADV_POPULATE_WRITE); }

// Moves regions with fewer than `least_together` of `pages` (ascending) to huge pages. Returns the
// ranges of the pages that stay on small ones, with neighbours merged.
std::vector<iovec> MoveSparseRegions(const std::vector<uintptr_t>& pages, size_t least_together) {
  std::vector<iovec> left;
  const size_t region = HugePageSize();
  for (size_t first = 0, next = 0; first < pages.size(); first = next) {
    while (next < pages.size() && pages[next] / region == pages[first] / region) ++next;
    if (next - first < least_together && CollapseRegion(pages[first] / region * region)) continue;
    for (size_t i = first; i < next; ++i) Append(pages[i], left);
  }
  return left;
}

core::Result<core::UniqueFd> Pin(const std::vector<iovec>& pages) {
  io_uring_params parameters{};
  core::UniqueFd ring(static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters)));
  if (!ring) return core::SystemError("io_uring_setup");
  if (syscall(SYS_io_uring_register, ring.get(), IORING_REGISTER_BUFFERS, pages.data(),
              pages.size()) != 0) {
    return core::SystemError("pin hot pages", "see RLIMIT_MEMLOCK");
  }
  return ring;
}

// Omits huge pages of which every page is listed: the kernel may report one that a clone has
// written to in this way (seen with Linux 6.18), and each spare would copy all of it.
void EraseWholeRegions(std::vector<uintptr_t>& pages) {
  const size_t region = HugePageSize();
  const size_t whole = region / core::kPageSize;
  auto kept = pages.begin();
  for (auto first = pages.begin(), next = first; first != pages.end(); first = next) {
    next = std::find_if(first, pages.end(),
                        [&](uintptr_t page) { return page / region != *first / region; });
    if (static_cast<size_t>(next - first) < whole) kept = std::move(first, next, kept);
  }
  pages.erase(kept, pages.end());
}

}  // namespace

core::Result<std::vector<uintptr_t>> PagesWrittenBy(const std::function<void()>& rehearse) {
  core::Result<std::vector<core::MemoryMapping>> mappings = core::WritableMappings();
  if (!mappings) return mappings.error();
  std::erase_if(*mappings, [](const core::MemoryMapping& each) {
    return each.size() > core::kMaxMappingSize;
  });
  core::Result<PageMap> map = PageMap::Prepare(std::move(*mappings));
  if (!map) return map.error();
  core::Result<core::Process> clone = Rehearse(rehearse);
  if (!clone) return clone.error();
  core::Result<void> read = map->Read();
  clone->Destroy();
  if (!read) return read.error();
  return map->OwnPages();
}

core::Result<core::UniqueFd> PinHotPages(const std::function<void()>& rehearse,
                                         size_t least_together) {
  const core::Result<std::vector<uintptr_t>> written = PagesWrittenBy(rehearse);
  if (!written) return written.error();
  const std::vector<iovec> pages = MoveSparseRegions(*written, least_together);
  size_t total = 0;
  for (const iovec& part : pages) total += part.iov_len;
  if (total > kMaxBytes) {
    return core::MakeError("pin hot pages", "a clone writes to more pages than is worth pinning");
  }
  g_hot_pages = new std::vector<iovec>(pages);
  return Pin(pages);
}

core::Result<void> FindWarmPages(const std::function<void()>& rehearse) {
  core::Result<std::vector<uintptr_t>> pages = PagesWrittenBy(rehearse);
  if (!pages) return pages.error();
  if (g_hot_pages) {
    std::erase_if(*pages, [](uintptr_t page) {
      return std::ranges::any_of(*g_hot_pages, [&](const iovec& part) {
        return page >= BeginOf(part) && page < EndOf(part);
      });
    });
  }
  EraseWholeRegions(*pages);
  if (pages->size() * core::kPageSize > kMaxBytes) {
    return core::MakeError("find warm pages", "more are written to than a spare should hold");
  }
  std::vector<iovec> joined;
  for (const uintptr_t page : *pages) Append(page, joined);
  g_warm_pages = new std::vector<iovec>(std::move(joined));
  return {};
}

void WriteToWarmPages() {
  if (!g_warm_pages) return;
  for (const iovec& part : *g_warm_pages) WriteTo(part.iov_base, part.iov_len);
}

void WriteToHotPages(const std::vector<core::PageRange>& ranges) {
  for (const core::PageRange& range : ranges) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the host has measured
    WriteTo(reinterpret_cast<void*>(range.begin), range.size);
  }
  if (!ranges.empty() || !g_hot_pages) return;
  for (const iovec& part : *g_hot_pages) WriteTo(part.iov_base, part.iov_len);
}

}  // namespace belljar::inside
