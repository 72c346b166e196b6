// The capture reader: every word and every byte that it reads is a hostile worker's.
#include "engine/workers/capture_reader.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "engine/core/mapping.h"
#include "tests/support/support.h"

namespace belljar::workers::capture_test {
namespace {

constexpr core::CaptureLayout kLayout{core::Bytes{10'000}, core::Bytes{5'000}};
constexpr uint64_t kNoLimit = UINT64_MAX;

// The worker's end of a region, which writes whatever it likes.
class Region {
 public:
  explicit Region(core::CaptureLayout layout = kLayout) : layout_(layout) {
    core::Result<CaptureReader> reader = CaptureReader::Create(layout);
    if (!reader) abort();
    reader_ = std::move(*reader);
    core::Result<core::Mapping> mapping = core::Mapping::Map(reader_.memory_fd(), layout.size());
    if (!mapping) abort();
    mapping_ = std::move(*mapping);
  }
  CaptureReader& reader() { return reader_; }
  core::CaptureHeader& header() { return *reinterpret_cast<core::CaptureHeader*>(mapping_.data()); }
  void Fill(size_t offset, std::string_view bytes) {
    memcpy(mapping_.data() + offset, bytes.data(), bytes.size());
  }
  const core::CaptureLayout& layout() const { return layout_; }
  size_t size() const { return mapping_.size(); }
  std::byte* data() { return mapping_.data(); }

 private:
  const core::CaptureLayout layout_;
  CaptureReader reader_;
  core::Mapping mapping_;
};

TEST(Capture, AFreshRegionIsEmpty) {
  Region region;
  const CaptureReader& reader = region.reader();
  EXPECT_EQ(reader.StdoutSince(0, kNoLimit), "");
  EXPECT_EQ(reader.StderrSince(0, kNoLimit), "");
  EXPECT_EQ(reader.Report(kNoLimit), "");
  EXPECT_EQ(reader.StdoutDropped(), 0u);
  EXPECT_FALSE(reader.OutOfMemory());
  EXPECT_TRUE(reader.DeniedSyscalls().empty());
}

TEST(Capture, ReadsEachBufferFromWhereTheReaderStopped) {
  Region region;
  region.Fill(region.layout().stdout_offset(), "hello world");
  region.Fill(region.layout().stderr_offset(), "oh no");
  region.Fill(region.layout().report_offset(), "{}");
  region.header().stdout_size = 11;
  region.header().stderr_size = 5;
  region.header().report_size = 2;
  const CaptureReader& reader = region.reader();
  EXPECT_EQ(reader.StdoutSince(0, kNoLimit), "hello world");
  EXPECT_EQ(reader.StdoutSince(6, kNoLimit), "world");
  EXPECT_EQ(reader.StdoutSince(0, 5), "hello");
  EXPECT_EQ(reader.StdoutSince(11, kNoLimit), "");
  EXPECT_EQ(reader.StderrSince(0, kNoLimit), "oh no");
  EXPECT_EQ(reader.Report(kNoLimit), "{}");
}

TEST(Capture, ArtifactsAreReadUpToTheirBuffer) {
  Region region({core::Bytes{100}, core::Bytes{50}, core::Bytes{20}});
  EXPECT_EQ(region.reader().Artifacts(), "");
  region.Fill(region.layout().artifacts_offset(), "one and two and three");
  region.header().artifacts_size = 7;
  EXPECT_EQ(region.reader().Artifacts(), "one and");
  for (const uint64_t length : {uint64_t{21}, uint64_t{1} << 63, ~uint64_t{0}}) {
    region.header().artifacts_size = length;
    EXPECT_EQ(region.reader().Artifacts().size(), 20u);
  }
  Region without;
  without.header().artifacts_size = ~uint64_t{0};
  EXPECT_EQ(without.reader().Artifacts(), "") << "a profile that keeps none";
}

TEST(Capture, HostileLengthsAreClampedToTheBuffer) {
  for (uint64_t length : {uint64_t{10'001}, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0},
                          ~uint64_t{0} - 4096}) {
    Region region;
    region.header().stdout_size = length;
    region.header().stderr_size = length;
    region.header().report_size = length;
    const CaptureReader& reader = region.reader();
    EXPECT_EQ(reader.StdoutSince(0, kNoLimit).size(), kLayout.output.count);
    EXPECT_EQ(reader.StderrSince(0, kNoLimit).size(), kLayout.output.count);
    EXPECT_EQ(reader.StdoutSince(0, 100).size(), 100u);
    EXPECT_EQ(reader.StdoutSince(9'999, kNoLimit).size(), 1u);
    EXPECT_EQ(reader.StdoutSince(10'000, kNoLimit), "");
    EXPECT_EQ(reader.StdoutSince(~uint64_t{0}, kNoLimit), "");
    EXPECT_EQ(reader.Report(kNoLimit).size(), kLayout.report.count);
  }
}

TEST(Capture, ARegionOfAllOnesIsReadWithoutHarm) {
  Region region;
  memset(static_cast<void*>(region.data()), 0xff, region.size());
  const CaptureReader& reader = region.reader();
  EXPECT_EQ(reader.StdoutSince(0, kNoLimit).size(), kLayout.output.count);
  EXPECT_TRUE(reader.OutOfMemory());
  EXPECT_EQ(reader.StdoutDropped(), ~uint64_t{0});
  const std::vector<host::SecurityEvent> events = reader.DeniedSyscalls();
  ASSERT_EQ(events.size(), core::kMaxRecordedSyscalls);
  for (const host::SecurityEvent& event : events) {
    EXPECT_EQ(event.layer, "seccomp");
    EXPECT_FALSE(event.detail.empty());
  }
}

TEST(Capture, PlacesAreNoLongerThanTheirBuffer) {
  Region region;
  EXPECT_EQ(region.reader().Places(), "");
  memcpy(region.header().places, "a.py", 4);
  region.header().places_size = 4;
  EXPECT_EQ(region.reader().Places(), "a.py");
  region.header().places_size = ~uint32_t{0};
  EXPECT_EQ(region.reader().Places().size(), core::kMaxPlacesText);
  region.reader().Clear();
  EXPECT_EQ(region.reader().Places(), "");
}

TEST(Capture, DeniedCallsHaveNames) {
  Region region;
  region.header().denied_count = 2;
  region.header().denied[0].number = SYS_socket;
  region.header().denied[0].count = 3;
  region.header().denied[1].number = 99'999;
  region.header().denied[1].count = 1;
  const std::vector<host::SecurityEvent> events = region.reader().DeniedSyscalls();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].detail, "socket");
  EXPECT_EQ(events[0].count, 3u);
  EXPECT_EQ(events[1].detail, "system call 99999");
}

TEST(Capture, ALengthThatShrinksBehindTheReaderIsNothing) {
  Region region;
  region.header().stdout_size = 100;
  EXPECT_EQ(region.reader().StdoutSince(0, kNoLimit).size(), 100u);
  region.header().stdout_size = 10;
  EXPECT_EQ(region.reader().StdoutSince(100, kNoLimit), "");
}

TEST(Capture, GrowingWhileItIsReadTearsNothing) {
  Region region;
  const size_t kTotal = kLayout.output.count;
  std::thread writer([&] {
    std::byte* to = region.data() + kLayout.stdout_offset();
    for (size_t i = 0; i < kTotal; ++i) {
      to[i] = static_cast<std::byte>('a' + i % 26);
      region.header().stdout_size.store(i + 1, std::memory_order_release);
    }
  });
  std::string all;
  while (all.size() < kTotal) all += region.reader().StdoutSince(all.size(), kNoLimit);
  writer.join();
  for (size_t i = 0; i < kTotal; ++i) ASSERT_EQ(all[i], static_cast<char>('a' + i % 26)) << i;
}

TEST(Capture, LengthsThatJumpAroundWhileTheyAreReadDoNoHarm) {
  Region region;
  std::atomic<bool> stop = false;
  std::thread attacker([&] {
    for (uint64_t i = 0; !stop; ++i) {
      const uint64_t length = i % 3 == 0 ? 0 : i % 3 == 1 ? ~uint64_t{0} : i % 20'000;
      region.header().stdout_size = length;
      region.header().report_size = length;
      region.header().denied_count = static_cast<uint32_t>(length);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    EXPECT_LE(region.reader().StdoutSince(0, kNoLimit).size(), kLayout.output.count);
    EXPECT_LE(region.reader().Report(kNoLimit).size(), kLayout.report.count);
    EXPECT_LE(region.reader().DeniedSyscalls().size(), core::kMaxRecordedSyscalls);
  }
  stop = true;
  attacker.join();
}

TEST(Capture, OutlivesTheDescriptorAndLeavesNothing) {
  const size_t descriptors = tests::OpenDescriptors(),
               mappings = tests::MappingsNamed("belljar-capture");
  {
    Region region;
    region.Fill(region.layout().stdout_offset(), "kept");
    region.header().stdout_size = 4;
    region.reader().CloseMemory();
    EXPECT_EQ(region.reader().StdoutSince(0, kNoLimit), "kept");
    EXPECT_GT(tests::MappingsNamed("belljar-capture"), mappings);
  }
  EXPECT_EQ(tests::OpenDescriptors(), descriptors);
  EXPECT_EQ(tests::MappingsNamed("belljar-capture"), mappings);
}

TEST(Capture, APeerCannotMakeTheReaderFault) {
  Region region;
  EXPECT_NE(ftruncate(region.reader().memory_fd(), 0), 0);
  region.header().stdout_size = ~uint64_t{0};
  EXPECT_EQ(region.reader().StdoutSince(0, kNoLimit).size(), kLayout.output.count);
}

}  // namespace
}  // namespace belljar::workers::capture_test
