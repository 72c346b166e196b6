#include "engine/outside/session_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::outside {
namespace {

// On aarch64 4, 16 or 64 KiB, as the kernel was built.
const auto kPageSize = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
constexpr size_t kMaxMapsSize = 1 << 20;
// Reservations that are mostly unused, or data that no cell writes to as a whole.
constexpr uint64_t kMaxMapping = uint64_t{64} << 20;
// Every checkpoint holds as much.
constexpr size_t kMaxHotBytes = 4 << 20;
// What cells write to changes slowly: a few of them in a row are watched, now and then.
constexpr int kWatched = 4;
constexpr int kInterval = 64;

// /proc/<pid>/pagemap, one word per page (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kFileOrShared = uint64_t{1} << 61;
constexpr uint64_t kMappedByUsAlone = uint64_t{1} << 56;

// Of private writable mappings; ordered. None if they cannot be read.
std::vector<uint64_t> OwnPages(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const core::Result<std::string> maps = core::ReadFile(folder + "/maps", kMaxMapsSize);
  const core::UniqueFd pagemap(open((folder + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<uint64_t> own;
  if (!maps || !pagemap) return own;
  std::vector<uint64_t> words;
  for (const std::string_view each : core::SplitAt(*maps, '\n')) {
    const std::string line(each);
    unsigned long begin = 0;
    unsigned long end = 0;
    char permissions[5] = {};
    if (sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, permissions) != 3) continue;
    if (permissions[1] != 'w' || permissions[3] != 'p' || end - begin > kMaxMapping) continue;
    words.resize((end - begin) / kPageSize);
    const size_t size = words.size() * sizeof(uint64_t);
    const auto from = static_cast<off_t>(begin / kPageSize * sizeof(uint64_t));
    if (pread(pagemap.get(), words.data(), size, from) != static_cast<ssize_t>(size)) continue;
    for (size_t i = 0; i < words.size(); ++i) {
      const uint64_t word = words[i];
      if ((word & kPresent) == 0 || (word & kFileOrShared) != 0 || (word & kMappedByUsAlone) == 0) {
        continue;
      }
      own.push_back(begin + i * kPageSize);
    }
  }
  return own;
}

std::vector<core::PageRange> Ranges(const std::vector<uint64_t>& pages) {
  std::vector<core::PageRange> ranges;
  for (const uint64_t page : pages) {
    if (!ranges.empty() && ranges.back().begin + ranges.back().size == page) {
      ranges.back().size += kPageSize;
    } else if (ranges.size() < core::kMaxHotRanges) {
      ranges.push_back({page, kPageSize});
    }
  }
  return ranges;
}

}  // namespace

void SessionPages::Learn(pid_t worker) {
  const int watched = cells_++ % kInterval;
  if (watched >= kWatched) return;
  std::vector<uint64_t> own = OwnPages(worker);
  if (watched == 0) {
    // Those that were hot have been written to by the worker itself, and so prove nothing.
    pages_.clear();
  } else {
    std::vector<uint64_t> both;
    std::ranges::set_intersection(last_, own, std::back_inserter(both));
    std::vector<uint64_t> all;
    std::ranges::set_union(pages_, both, std::back_inserter(all));
    if (all.size() * kPageSize <= kMaxHotBytes) pages_ = std::move(all);
  }
  last_ = std::move(own);
  hot_ = watched + 1 < kWatched ? std::vector<core::PageRange>() : Ranges(pages_);
}

}  // namespace belljar::outside
