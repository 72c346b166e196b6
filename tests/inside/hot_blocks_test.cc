// Where the interpreter's allocators put recorded blocks.
#include "engine/inside/hot_blocks.h"

#include <Python.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "engine/core/memory_map.h"
#include "engine/inside/heap.h"

#ifdef __SANITIZE_ADDRESS__
// What the interpreter keeps until the end is not our leak; an allocation that is too large fails.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:allocator_may_return_null=1";
}
#endif

namespace belljar::inside::hot_blocks_test {
namespace {

using Blocks = std::vector<HotBlock>;

class HotBlocksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    ASSERT_FALSE(PyStatus_Exception(Py_InitializeFromConfig(&config)));
    PyConfig_Clear(&config);
  }
  void TearDown() override { StopPlacing(); }
};

class Recorder : public BlockListener {
 public:
  void OnAllocation(const void*, size_t size, uint64_t context) override {
    blocks.push_back({context, 0, static_cast<uint32_t>(size)});
  }
  void OnFree(const void*) override { ++freed; }

  Blocks blocks;
  int freed = 0;
};

// Sizes without a pattern, so that no sixteen occur twice, and of no path name.
std::vector<size_t> Sizes(size_t count, uint32_t state) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    sizes.push_back(1 + (state >> 26));
  }
  return sizes;
}

std::vector<char*> Allocate(const std::vector<size_t>& sizes) {
  std::vector<char*> blocks;
  blocks.reserve(sizes.size());
  for (const size_t size : sizes) blocks.push_back(static_cast<char*>(PyObject_Malloc(size)));
  return blocks;
}

void Free(const std::vector<char*>& blocks) {
  for (char* const block : blocks) PyObject_Free(block);
}

// Every tenth of the allocations of `sizes`.
Blocks Record(const std::vector<size_t>& sizes) {
  Recorder recorder;
  PlaceHotBlocks({}, &recorder);
  Free(Allocate(sizes));
  StopPlacing();
  Blocks hot;
  for (size_t i = 20; i < recorder.blocks.size(); i += 10) hot.push_back(recorder.blocks[i]);
  return hot;
}

TEST(AllocationContextTest, IsThatOfTheLastSixteenSizes) {
  AllocationContext context;
  AllocationContext other;
  for (const size_t size : Sizes(50, 1)) context.Next(size);
  for (const size_t size : Sizes(7, 2)) other.Next(size);
  const std::vector<size_t> common = Sizes(16, 3);
  for (size_t i = 0; i < 15; ++i) EXPECT_NE(context.Next(common[i]), other.Next(common[i]));
  EXPECT_EQ(context.Next(common[15]), other.Next(common[15]));
  EXPECT_NE(context.Next(0), other.Next(1));
}

TEST(AllocationContextTest, IsTheSameWhateverTheLengthOfAPath) {
  const auto with = [](size_t path) {
    AllocationContext context;
    for (const size_t size : {size_t{32}, path, size_t{48}}) context.Next(size);
    return context.Next(400);
  };
  EXPECT_EQ(with(70), with(300));
  EXPECT_NE(with(70), with(400));
  EXPECT_NE(with(70), with(40));
}

TEST(ParseHotBlocksTest, ReadsWhatWasRecorded) {
  const core::Result<Blocks> blocks = ParseHotBlocks("[[18446744073709551615,2,64],[1,0,2048]]");
  ASSERT_TRUE(blocks);
  EXPECT_EQ(*blocks, (Blocks{{UINT64_MAX, 2, 64}, {1, 0, 2048}}));
  EXPECT_TRUE(ParseHotBlocks("[]")->empty());
}

TEST(ParseHotBlocksTest, RefusesEverythingElse) {
  for (const char* text : {"", "{}", "null", "[1]", "[[1,2]]", "[[1,2,3,4]]", "[[-1,0,16]]",
                           "[[1.5,0,16]]", "[[1,\"0\",16]]", "[[1,4294967296,16]]", "[[1,0,32769]]",
                           "[[18446744073709551616,0,16]]", "[[1,0,16]"}) {
    EXPECT_FALSE(ParseHotBlocks(text)) << text;
  }
  const core::Result<Blocks> second = ParseHotBlocks("[[1,0,16],[2,0]]");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().ToString().find("entry 1"), std::string::npos);
  std::string many = "[[1,0,16]";
  for (int i = 0; i < 4096; ++i) many += ",[1,0,16]";
  EXPECT_FALSE(ParseHotBlocks(many + "]"));
}

TEST(ReadHotBlocksTest, AFolderWithoutThemIsAnErrorThatNamesTheFile) {
  const core::Result<Blocks> blocks = ReadHotBlocks("/nonexistent", {"data-science"});
  ASSERT_FALSE(blocks);
  EXPECT_NE(blocks.error().ToString().find("/nonexistent/basic.json"), std::string::npos);
}

TEST_F(HotBlocksTest, RecordedBlocksLieSideBySide) {
  const std::vector<size_t> sizes = Sizes(400, 4);
  const Blocks hot = Record(sizes);
  FillHeapHoles();  // as the zygote does
  PlaceHotBlocks(hot);
  Free(Allocate(Sizes(33, 5)));  // what is allocated before does not matter
  const std::vector<char*> blocks = Allocate(sizes);
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), hot.size());
#ifndef __SANITIZE_ADDRESS__  // which has an allocator of its own
  size_t bytes = 0;
  for (const HotBlock& block : hot) bytes += size_t{2} * block.size;
  char* first = blocks[20];
  char* last = blocks[20];
  for (size_t i = 20; i < blocks.size(); i += 10) {
    first = std::min(first, blocks[i]);
    last = std::max(last, blocks[i]);
  }
  constexpr size_t kPlacing = 16 << 10;  // what tells them apart may lie between the first of them
  EXPECT_LT(static_cast<size_t>(last - first), bytes + kPlacing);
#endif
  for (size_t i = 0; i < blocks.size(); ++i) memset(blocks[i], 1, sizes[i]);
  Free(blocks);
}

TEST_F(HotBlocksTest, APlacedBlockIsOneLikeAnyOther) {
  const std::vector<size_t> sizes = Sizes(40, 6);
  const Blocks hot = Record(sizes);
  PlaceHotBlocks(hot);
  std::vector<char*> blocks = Allocate(sizes);
  memset(blocks[30], 'x', sizes[30]);
  blocks[30] = static_cast<char*>(PyObject_Realloc(blocks[30], 5000));
  EXPECT_EQ(std::string(blocks[30], sizes[30]), std::string(sizes[30], 'x'));
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), hot.size());
  blocks[20] = static_cast<char*>(PyObject_Realloc(blocks[20], 8));  // by the allocator as it was
  Free(blocks);
}

TEST_F(HotBlocksTest, ABlockIsPlacedWhenItIsResized) {
  const auto work = [] {
    Free(Allocate(Sizes(20, 10)));
    auto* block = static_cast<char*>(PyObject_Malloc(100));
    memset(block, 'x', 100);
    block = static_cast<char*>(PyObject_Realloc(block, 700));
    EXPECT_EQ(std::string(block, 100), std::string(100, 'x'));
    memset(block, 'y', 700);
    PyObject_Free(block);
  };
  Recorder recorder;
  PlaceHotBlocks({}, &recorder);
  work();
  StopPlacing();
  ASSERT_EQ(recorder.blocks.back().size, 700u);
  PlaceHotBlocks({recorder.blocks.back()});
  work();
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), 1u);
}

TEST_F(HotBlocksTest, CallocZeroesAPlacedBlock) {
  std::vector<size_t> sizes = Sizes(21, 7);
  sizes[20] = 96;
  PlaceHotBlocks(Record(sizes));
  const std::vector<char*> before = Allocate(std::vector(sizes.begin(), sizes.end() - 1));
  auto* const block = static_cast<char*>(PyObject_Calloc(12, 8));
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), 1u);
  EXPECT_TRUE(std::all_of(block, block + 96, [](char byte) { return byte == 0; }));
  PyObject_Free(block);
  Free(before);
}

TEST_F(HotBlocksTest, OnlyTheRecordedOccurrenceIsPlaced) {
  const std::vector<size_t> sizes = Sizes(21, 8);
  Blocks hot = Record(sizes);
  hot[0].occurrence = 1;
  PlaceHotBlocks(hot);
  Free(Allocate(sizes));
  Free(Allocate(sizes));
  Free(Allocate(sizes));
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), 1u);
}

TEST_F(HotBlocksTest, AnotherSizeThanTheRecordedOneIsNotPlaced) {
  const std::vector<size_t> sizes = Sizes(21, 9);
  Blocks hot = Record(sizes);
  hot[0].size -= 1;
  PlaceHotBlocks(hot);
  Free(Allocate(sizes));
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), 0u);
}

TEST_F(HotBlocksTest, AnImpossibleAllocationFails) {
  PlaceHotBlocks({{1, 0, 16}});
  EXPECT_EQ(PyObject_Malloc(PY_SSIZE_T_MAX), nullptr);
  EXPECT_EQ(PyObject_Calloc(PY_SSIZE_T_MAX, PY_SSIZE_T_MAX), nullptr);
  EXPECT_EQ(PyObject_Calloc(size_t{1} << 62, 4), nullptr);  // the product overflows to 0
}

#ifndef __SANITIZE_ADDRESS__  // which has an allocator of its own
TEST_F(HotBlocksTest, WhereTheyAreRecordedNoTwoBlocksAreOnOnePage) {
  const std::vector<size_t> sizes = Sizes(200, 11);
  const Blocks hot = Record(sizes);
  Recorder recorder;
  FillHeapHoles();  // as the zygote does
  PlaceHotBlocks(hot, &recorder);
  const std::vector<char*> blocks = Allocate(sizes);
  StopPlacing();
  EXPECT_EQ(BlocksPlaced(), hot.size());
  std::set<uintptr_t> hot_pages;
  std::set<uintptr_t> other_pages;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool is_hot = i >= 20 && i % 10 == 0;
    const auto begin = reinterpret_cast<uintptr_t>(blocks[i]);
    for (uintptr_t page = begin / core::kPageSize; page <= (begin + sizes[i] - 1) / core::kPageSize;
         ++page) {
      const bool is_new = (is_hot ? hot_pages : other_pages).insert(page).second;
      EXPECT_TRUE(is_new || !is_hot);
    }
  }
  for (const uintptr_t page : hot_pages) EXPECT_FALSE(other_pages.contains(page));
  Free(blocks);
}
#endif

TEST_F(HotBlocksTest, TheListenerHearsOfAllocationsAndFrees) {
  Recorder recorder;
  PlaceHotBlocks({}, &recorder);
  void* block = PyMem_Malloc(100);
  block = PyMem_Realloc(block, 4000);
  PyMem_Free(block);
  StopPlacing();
  ASSERT_EQ(recorder.blocks.size(), 2u);
  EXPECT_EQ(recorder.blocks[0].size, 100u);
  EXPECT_EQ(recorder.blocks[1].size, 4000u);
  EXPECT_NE(recorder.blocks[1].context, recorder.blocks[0].context);
  EXPECT_EQ(recorder.freed, 2);
}

}  // namespace
}  // namespace belljar::inside::hot_blocks_test
