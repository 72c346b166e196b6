#include "engine/sessions/session_pages.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"

namespace belljar::sessions {
namespace {

// Larger mappings are mostly unused reservations, or data that no cell writes completely.
constexpr uint64_t kMaxMapping = uint64_t{64} << 20;
// Every checkpoint holds this much.
constexpr size_t kMaxHotBytes = 4 << 20;
// What cells write to changes slowly: from time to time, a few in a row are observed.
constexpr int kWatched = 4;
constexpr int kInterval = 64;

// The private writable pages, ordered; empty if they cannot be read.
std::vector<uint64_t> OwnPages(pid_t pid) {
  const std::string process = std::to_string(pid);
  const auto mappings = core::WritableMappings(process);
  const core::Result<core::UniqueFd> pagemap = core::OpenPagemap(process);
  std::vector<uint64_t> own;
  if (!mappings || !pagemap) return own;
  constexpr uint64_t kBits = core::kPagePresent | core::kPageOfFile | core::kPageMappedOnce;
  std::vector<uint64_t> words;
  for (const core::MemoryMapping& mapping : *mappings) {
    if (mapping.size() > kMaxMapping) continue;
    words.resize(mapping.pages());
    if (!core::ReadPagemap(pagemap->get(), mapping, words.data())) continue;
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_own = (words[i] & kBits) == (core::kPagePresent | core::kPageMappedOnce);
      if (is_own) own.push_back(mapping.begin + i * core::kPageSize);
    }
  }
  return own;
}

std::vector<core::PageRange> Ranges(const std::vector<uint64_t>& pages) {
  std::vector<core::PageRange> ranges;
  for (const uint64_t page : pages) {
    if (!ranges.empty() && ranges.back().begin + ranges.back().size == page) {
      ranges.back().size += core::kPageSize;
    } else if (ranges.size() < core::kMaxHotRanges) {
      ranges.push_back({page, core::kPageSize});
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
    // Hot pages were written by the worker itself, and so prove nothing.
    pages_.clear();
  } else {
    std::vector<uint64_t> both;
    std::ranges::set_intersection(last_, own, std::back_inserter(both));
    std::vector<uint64_t> all;
    std::ranges::set_union(pages_, both, std::back_inserter(all));
    if (all.size() * core::kPageSize <= kMaxHotBytes) pages_ = std::move(all);
  }
  last_ = std::move(own);
  hot_ = watched + 1 < kWatched ? std::vector<core::PageRange>() : Ranges(pages_);
}

}  // namespace belljar::sessions
