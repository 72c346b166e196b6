#include "engine/inside/hot_blocks.h"

#include <Python.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxFileSize = 1 << 20;
constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd, as the base of a hash modulo 2^64

constexpr uint64_t Power(uint64_t base, size_t exponent) {
  uint64_t power = 1;
  while (exponent-- > 0) power *= base;
  return power;
}

// Path names, whose lengths depend on the installation, all count as one size.
constexpr size_t kMinPathBytes = 64, kMaxPathBytes = 320;  // bytes, with the header of a str
size_t SizeInContext(size_t size) {
  return size > kMinPathBytes && size <= kMaxPathBytes ? kMaxPathBytes : size;
}

// Memory for the blocks, and which of it has been handed out.
class Slots {
 public:
  // The memory is in the order of `blocks`; `apart`: no two blocks are on one page.
  Slots(const std::vector<HotBlock>& blocks, bool apart) {
    slots_.reserve(blocks.size());  // so that it is not between them
    for (const HotBlock& block : blocks) {
      if (apart) TakePage();
      slots_.push_back({block, malloc(block.size)});
      may_be_hot_.set(FilterBit(block.context));
    }
    if (apart) TakePage();
    std::sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) {
      return std::tie(a.block.context, a.block.occurrence) <
             std::tie(b.block.context, b.block.occurrence);
    });
  }

  // Null for an allocation that is not hot.
  void* Take(uint64_t context, size_t size) {
    if (!may_be_hot_.test(FilterBit(context))) return nullptr;
    const auto first =
        std::lower_bound(slots_.begin(), slots_.end(), context,
                         [](const Slot& slot, uint64_t key) { return slot.block.context < key; });
    if (first == slots_.end() || first->block.context != context) return nullptr;
    const uint32_t occurrence = first->seen++;
    const auto slot = std::lower_bound(
        first, slots_.end(), std::tie(context, occurrence), [](const Slot& each, const auto& key) {
          return std::tie(each.block.context, each.block.occurrence) < key;
        });
    if (slot == slots_.end() || slot->block.context != context ||
        slot->block.occurrence != occurrence || slot->block.size != size) {
      return nullptr;  // not recorded, or other sizes with this hash
    }
    if (slot->memory) ++taken_;
    return std::exchange(slot->memory, nullptr);
  }

  size_t taken() const { return taken_; }

  void FreeRest() {
    for (const Slot& slot : slots_) free(slot.memory);
    slots_.clear();
  }

 private:
  struct Slot {
    HotBlock block;
    void* memory;       // null once given away
    uint32_t seen = 0;  // of the first slot with a context: its allocations so far
  };
  // Never freed; volatile keeps the compiler from leaving it out. Blocks at the beginnings of pages
  // would all have the same place in CPython's caches.
  // NOLINTBEGIN(clang-analyzer-unix.Malloc): reported where the function ends.
  static void TakePage() { [[maybe_unused]] void* volatile page = malloc(core::kPageSize); }
  // NOLINTEND(clang-analyzer-unix.Malloc)

  static constexpr size_t kFilterBits = 1 << 16;
  static size_t FilterBit(uint64_t context) { return (context >> 40) % kFilterBits; }

  std::vector<Slot> slots_;
  std::bitset<kFilterBits> may_be_hot_;
  size_t taken_ = 0;
};

struct Placing {
  AllocationContext context;
  Slots slots;
  BlockListener* listener;
};
Placing* g_placing = nullptr;
size_t g_placed = 0;

// One of Python's allocators.
template <PyMemAllocatorDomain kDomain>
class Allocator {
 public:
  static void Hook() {
    PyMem_GetAllocator(kDomain, &before_);
    PyMemAllocatorEx hooked{before_.ctx, Malloc, Calloc, Realloc,
                            g_placing->listener ? Free : before_.free};
    PyMem_SetAllocator(kDomain, &hooked);
  }
  static void Unhook() { PyMem_SetAllocator(kDomain, &before_); }

 private:
  static void* Malloc(void* context, size_t size) {
    return Allocate(size, [&] { return before_.malloc(context, size); });
  }

  static void* Calloc(void* context, size_t count, size_t each) {
    const size_t size = count * each;  // PyObject_Calloc and PyMem_Calloc refuse an overflow
    bool is_placed = true;
    void* const block = Allocate(size, [&] {
      is_placed = false;
      return before_.calloc(context, count, each);
    });
    if (is_placed) memset(block, 0, size);
    return block;
  }

  static void* Realloc(void* context, void* old, size_t size) {
    if (!old) return Malloc(context, size);
    void* const block = before_.realloc(context, old, size);
    if (!block) return nullptr;
    // In place or not depends on the surrounding memory, which a record changes.
    if (g_placing->listener) g_placing->listener->OnFree(old);
    bool is_placed = true;
    void* const placed = Allocate(size, [&] {
      is_placed = false;
      return block;
    });
    if (is_placed) {
      memcpy(placed, block, size);
      before_.free(context, block);
    }
    return placed;
  }

  static void Free(void* context, void* block) {
    g_placing->listener->OnFree(block);
    before_.free(context, block);
  }

  // `otherwise` allocates what is not placed.
  template <typename Otherwise>
  static void* Allocate(size_t size, Otherwise otherwise) {
    const uint64_t context = g_placing->context.Next(size);
    void* block = g_placing->slots.Take(context, size);
    if (!block) block = otherwise();
    if (g_placing->listener) g_placing->listener->OnAllocation(block, size, context);
    return block;
  }

  static inline PyMemAllocatorEx before_;
};
using ObjectAllocator = Allocator<PYMEM_DOMAIN_OBJ>;
using MemoryAllocator = Allocator<PYMEM_DOMAIN_MEM>;

}  // namespace

uint64_t AllocationContext::Next(size_t size) {
  constexpr uint64_t kOldest = Power(kFactor, kWindow);
  const uint64_t newest = SizeInContext(size) + 1;  // so that a size of 0 counts
  hash_ = hash_ * kFactor + newest - sizes_[oldest_] * kOldest;
  sizes_[oldest_] = newest;
  oldest_ = (oldest_ + 1) % kWindow;
  return hash_;
}

core::Result<std::vector<HotBlock>> ReadHotBlocks(const std::string& folder,
                                                  const std::vector<std::string>& package_sets) {
  std::string file = folder + "/basic.json";
  for (const std::string& set : package_sets) {
    std::string own = folder + "/";
    own.append(set).append(".json");
    if (access(own.c_str(), R_OK) != 0) continue;
    file = std::move(own);
    break;
  }
  core::Result<std::string> json = core::ReadFile(file, kMaxFileSize);
  if (!json) return json.error();
  return ParseHotBlocks(*json);
}

core::Result<std::vector<HotBlock>> ParseHotBlocks(std::string_view json, size_t limit) {
  constexpr char kOperation[] = "read hot blocks";
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, false);
  if (!document.is_array() || document.size() > limit) {
    return core::MakeError(kOperation, "not an array of at most " + std::to_string(limit));
  }
  std::vector<HotBlock> blocks;
  for (const nlohmann::json& entry : document) {
    const auto is_number = [](const nlohmann::json& each) { return each.is_number_unsigned(); };
    if (!entry.is_array() || entry.size() != 3 ||
        !std::all_of(entry.begin(), entry.end(), is_number) || entry[1] > UINT32_MAX ||
        entry[2] > kMaxHotBlock) {
      return core::MakeError(kOperation, "entry " + std::to_string(blocks.size()) +
                                             " is not [context, occurrence, size]");
    }
    blocks.push_back({entry[0], entry[1], entry[2]});
  }
  return blocks;
}

void PlaceHotBlocks(const std::vector<HotBlock>& blocks, BlockListener* listener) {
  g_placing = new Placing{{}, Slots(blocks, listener != nullptr), listener};
  ObjectAllocator::Hook();
  MemoryAllocator::Hook();
}

void StopPlacing() {
  if (!g_placing) return;
  ObjectAllocator::Unhook();
  MemoryAllocator::Unhook();
  g_placed = g_placing->slots.taken();
  g_placing->slots.FreeRest();
  delete std::exchange(g_placing, nullptr);
}

size_t BlocksPlaced() { return g_placed; }

}  // namespace belljar::inside
