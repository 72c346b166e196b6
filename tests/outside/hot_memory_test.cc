// What a clone costs: a zygote's heap is on huge pages, and workers write to one part of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "engine/outside/sandbox.h"
#include "tests/support/support.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace belljar::outside::hot_memory_test {
namespace {

constexpr size_t kKibi = 1024;
constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kHugePage = 2 << 20;

// The C library's heap of a process.
struct Heap {
  uint64_t begin = 0, end = 0;  // addresses
  size_t resident = 0;          // bytes
  size_t on_huge_pages = 0;     // bytes
};

Heap HeapOf(pid_t pid) {
  std::ifstream smaps("/proc/" + std::to_string(pid) + "/smaps");
  Heap heap;
  size_t kibi = 0;
  for (std::string line; std::getline(smaps, line);) {
    if (line.ends_with("[heap]")) {
      sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &heap.begin, &heap.end);
    } else if (heap.end != 0 && sscanf(line.c_str(), "Rss: %zu", &kibi) == 1) {
      heap.resident = kibi * kKibi;
    } else if (heap.end != 0 && sscanf(line.c_str(), "AnonHugePages: %zu", &kibi) == 1) {
      heap.on_huge_pages = kibi * kKibi;
      break;
    }
  }
  return heap;
}

// The addresses of the heap's pages that are the process's alone
// (Documentation/admin-guide/mm/pagemap.rst).
std::vector<uint64_t> PagesWrittenTo(pid_t pid, const Heap& heap) {
  const std::string path = "/proc/" + std::to_string(pid) + "/pagemap";
  const core::UniqueFd pagemap(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<uint64_t> words((heap.end - heap.begin) / kPageSize);
  const size_t size = words.size() * sizeof(uint64_t);
  const auto from = static_cast<off_t>(heap.begin / kPageSize * sizeof(uint64_t));
  EXPECT_EQ(pread(pagemap.get(), words.data(), size, from), static_cast<ssize_t>(size));
  std::vector<uint64_t> pages;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_present = words[i] >> 63 & 1, is_alone = words[i] >> 56 & 1;
    if (is_present && is_alone) pages.push_back(heap.begin + i * kPageSize);
  }
  return pages;
}

// Their regions, each of the size of a huge page.
std::set<uint64_t> RegionsWrittenTo(pid_t pid, const Heap& heap) {
  std::set<uint64_t> regions;
  for (const uint64_t page : PagesWrittenTo(pid, heap)) regions.insert(page / kHugePage);
  return regions;
}

// False before Linux 6.1, and where huge pages are switched off.
bool HasHugePages() {
  constexpr size_t kSize = 2 * kHugePage;
  void* const memory =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (begin + kHugePage - 1) / kHugePage * kHugePage;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const page = reinterpret_cast<char*>(aligned);
  *page = 1;  // what is empty is not moved
  const bool has = madvise(page, kHugePage, MADV_COLLAPSE) == 0;
  munmap(memory, kSize);
  return has;
}

class HotMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (tests::Sanitized()) GTEST_SKIP() << "the sanitizer has a heap of its own";
    if (sysconf(_SC_PAGESIZE) != kPageSize) GTEST_SKIP() << "another size of pages";
    if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("only root sees another process's pages");
  }

  // After two runs, whose writes and those of the zygote between them are behind it.
  std::unique_ptr<Sandbox> Settled(bool huge_pages) {
    SandboxOptions options;
    options.profile = tests::BasicProfile();
    options.profile.huge_pages = huge_pages;
    options.spares = 2;
    auto sandbox = tests::Open(std::move(options));
    for (int i = 0; sandbox && i < 2; ++i) {
      EXPECT_TRUE(tests::Had(sandbox->Run(tests::MakeRequest("1 + 1"))).success());
      EXPECT_TRUE(tests::WaitForSpares(*sandbox, 2));
    }
    return sandbox;
  }
};

TEST_F(HotMemory, AZygotesHeapIsOnHugePagesAndStaysThere) {
  if (!HasHugePages()) BELLJAR_SKIP_OR_FAIL("no huge pages (Linux 6.1)");
  const auto sandbox = Settled(true);
  ASSERT_TRUE(sandbox);
  const Heap heap = HeapOf(sandbox->counters().zygote_pid);
  // All but the region that workers write to, and the two ends.
  EXPECT_GT(heap.on_huge_pages, heap.resident * 2 / 3);
  std::vector<pid_t> workers;
  ASSERT_TRUE(tests::Eventually([&] {  // the last run's takes a moment to end
    workers = tests::WorkersOf(*sandbox);
    return workers.size() == 2;
  }));
  for (const pid_t worker : workers) {
    const Heap copy = HeapOf(worker);
    const size_t regions = RegionsWrittenTo(worker, copy).size();
    EXPECT_GE(regions, 1u) << "this test proves nothing";
    EXPECT_LE(regions, 5u);
    EXPECT_GT(copy.on_huge_pages, copy.resident / 2);
  }

  // The control.
  const auto without = Settled(false);
  ASSERT_TRUE(without);
  EXPECT_EQ(HeapOf(without->counters().zygote_pid).on_huge_pages, 0u);
}

TEST_F(HotMemory, ARunHardlySplitsHugePages) {
  if (!HasHugePages()) BELLJAR_SKIP_OR_FAIL("no huge pages (Linux 6.1)");
  const auto sandbox = Settled(true);
  ASSERT_TRUE(sandbox);
  std::vector<pid_t> waiting;
  ASSERT_TRUE(tests::Eventually([&] {
    waiting = tests::WorkersOf(*sandbox);
    return waiting.size() == 2;
  }));
  host::Request request = tests::MakeRequest("print('in it', flush=True)\nwhile 1 + 1: pass");
  request.limits.timeout = std::chrono::seconds(20);
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  // By the time that it prints, most of what a run writes to has been written to.
  bool printed = false;
  const run::OutputSink sink{[&](std::string_view) {
                               printed = true;
                               for (const pid_t worker : waiting) {
                                 const Heap heap = HeapOf(worker);
                                 EXPECT_GT(heap.on_huge_pages, heap.resident / 3);
                                 const size_t regions = RegionsWrittenTo(worker, heap).size();
                                 EXPECT_GE(regions, 1u) << "this test proves nothing";
                                 EXPECT_LE(regions, 7u);
                               }
                               eventfd_write(cancel.get(), 1);
                             },
                             {}};
  run::RunOptions run;
  run.sink = &sink;
  run.cancel_fd = cancel.get();
  EXPECT_EQ(tests::Had(sandbox->Run(request, run)).stdout_stream.text, "in it\n");
  EXPECT_TRUE(printed) << "nothing was looked at";
}

TEST_F(HotMemory, ASpareThatWaitsTakesThePageFaultsOfOtherRequests) {
  SandboxOptions options;
  options.profile = tests::BasicProfile();
  options.spares = 1;
  const auto sandbox = tests::Open(std::move(options));
  ASSERT_TRUE(sandbox);
  const auto spare_written = [&]() -> size_t {
    const std::vector<pid_t> spares = tests::WorkersOf(*sandbox);
    return spares.size() == 1 ? PagesWrittenTo(spares[0], HeapOf(spares[0])).size() : 0;
  };
  // On a busy machine a spare may have waited before it is looked at. Then the next one.
  size_t at_first = 0, later = 0;
  for (int i = 0; i < 20 && later < at_first + 40; ++i) {
    EXPECT_TRUE(tests::Had(sandbox->Run(tests::MakeRequest("1"))).success());
    ASSERT_TRUE(tests::Eventually([&] { return (at_first = spare_written()) > 0; }));
    // sleeps: it writes to them while nobody asks, and says nothing
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    later = spare_written();
  }
  EXPECT_GE(later, at_first + 40) << at_first;
  EXPECT_LT(later, kHugePage / kPageSize) << "a whole huge page was taken for written to";
}

TEST_F(HotMemory, EveryShippedProfileHasIt) {
  for (const char* name : {"basic", "data-science", "network", "filesystem"}) {
    EXPECT_TRUE(tests::ShippedProfile(name).huge_pages) << name;
  }
}

}  // namespace
}  // namespace belljar::outside::hot_memory_test
