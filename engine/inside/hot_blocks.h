// Profile-guided data placement: while the zygote loads, the blocks that every worker will write to
// get memory next to each other.
//
// CPython writes to an object's reference count to read it. The 490 blocks that each run of basic
// writes to have 90 KiB in total, but lie where their modules were loaded, on 300 pages: clone
// copies each of these for every worker (hot_pages.h), and every spare holds them. Next to each
// other they need 30. Those that only some programs, failing runs and validations write to come
// after them.
//
// Which blocks these are is recorded by each build, for its Python (tools/hot_blocks). A block is
// identified by the sizes of the sixteen allocations that end with its own, and by how many
// allocations before had the same sixteen. That is independent of the installation's path, and of
// the hash seed if nothing is loaded in the order of a set, and survives changes to modules that
// load earlier. (Calder, Krintz, John and Austin, "Cache-conscious data placement", ASPLOS 1998,
// identify heap objects by their last callers.) A record that no longer matches only costs speed:
// any block may be anywhere.
#ifndef BELLJAR_ENGINE_INSIDE_HOT_BLOCKS_H_
#define BELLJAR_ENGINE_INSIDE_HOT_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::inside {

// Larger blocks are tables, of which a run writes only a little. The table of all loaded modules is
// smaller than this.
inline constexpr size_t kMaxHotBlock = 32 << 10;

struct HotBlock {
  uint64_t context = 0;     // see AllocationContext
  uint32_t occurrence = 0;  // how many allocations before had the same context
  uint32_t size = 0;        // bytes

  friend bool operator==(const HotBlock&, const HotBlock&) = default;
};

// A rolling hash of the sizes of the last sixteen allocations. All sizes that path names may have
// count as one.
class AllocationContext {
 public:
  // That of the next allocation, of `size` bytes.
  uint64_t Next(size_t size);

 private:
  static constexpr size_t kWindow = 16;
  std::array<uint64_t, kWindow> sizes_{};
  size_t oldest_ = 0;
  uint64_t hash_ = 0;
};

// Limit for a record: these are reserved in each zygote.
inline constexpr size_t kMaxHotBlocks = 4096;

// The blocks of `folder`/SET.json for the first of `package_sets` that has its own record,
// otherwise those of basic.json. An error says why they cannot be read.
core::Result<std::vector<HotBlock>> ReadHotBlocks(const std::string& folder,
                                                  const std::vector<std::string>& package_sets);

// JSON: [[context, occurrence, size], …]. An error names the first entry that is not one.
core::Result<std::vector<HotBlock>> ParseHotBlocks(std::string_view json,
                                                   size_t limit = kMaxHotBlocks);

// For recording: receives all blocks of Python's allocators for objects and for memory between
// PlaceHotBlocks and StopPlacing.
class BlockListener {
 public:
  virtual ~BlockListener() = default;
  virtual void OnAllocation(const void* block, size_t size, uint64_t context) = 0;
  virtual void OnFree(const void* block) = 0;
};

// Zygote, before Python starts. Reserves memory for `blocks`, in their order, and gives it to these
// allocations when they happen. It is the C library's: Python's allocator frees and resizes what is
// not in its arenas as such (Objects/obmalloc.c, pymalloc_free), so a block needs no special
// treatment later. With a listener no two blocks are on one page, so that a page that is written
// to tells which block was.
void PlaceHotBlocks(const std::vector<HotBlock>& blocks, BlockListener* listener = nullptr);

// When everything is loaded: restores the allocators, and frees what was reserved but not used.
void StopPlacing();

// The number of blocks placed.
size_t BlocksPlaced();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HOT_BLOCKS_H_
