// belljar-record-hot-blocks, for ./dev record: finds the blocks to which a run of a profile writes,
// as inside/hot_blocks.h needs them. x86-64 only; what it finds is for all 64-bit processors.
//
//   belljar-record-hot-blocks SHARE [--check] <PROFILE
//
// SHARE is the folder share/belljar, PROFILE the document of a profile, as JSON
// (tools/profile_document.py). Prints {"file": "3.11.json", "blocks": what that file should
// contain}, or with --check what it contains is worth: {"recorded": the number of its blocks,
// "placed": how many of them were allocated, "pages": the number of pages a run writes to}.
//
// Starts the interpreter as a zygote does and lets a clone rehearse, with the heap write-protected:
// each write is a fault, which notes the address, permits it for one instruction (the trap flag of
// the processor, Intel SDM volume 3, 17.3.1.4) and protects the page again.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/core/fd.h"
#include "engine/inside/hot_blocks.h"
#include "engine/inside/interpreter.h"
#include "engine/inside/memory_map.h"

namespace belljar::tools::hot_blocks {
namespace {

using inside::BlockListener;
using inside::HotBlock;
using inside::InterpreterOptions;

constexpr uintptr_t kPageSize = 4096;
constexpr greg_t kTrapFlag = 0x100;
constexpr size_t kMaxWrites = 4 << 20;
constexpr size_t kMaxProfile = 64 << 20;
constexpr uintptr_t kLeastArena = 256 << 10;  // bytes; before Python 3.10
constexpr uintptr_t kMostArenas = 64 << 20;   // side by side they are one mapping

[[noreturn]] void Fail(const std::string& why) {
  fprintf(stderr, "belljar-record-hot-blocks: %s\n", why.c_str());
  exit(5);  // NOLINT(concurrency-mt-unsafe): of one thread
}

template <typename T>
T OrFail(core::Result<T> result) {
  if (!result) Fail(result.error().ToString());
  return std::move(*result);
}

// Which block of the interpreter is at an address.
class Blocks : public BlockListener {
 public:
  void OnAllocation(const void* block, size_t size, uint64_t context) override {
    const uint32_t occurrence = seen_[context]++;
    if (!block) return;
    blocks_[reinterpret_cast<uintptr_t>(block)] = {context, occurrence, size};
  }
  void OnFree(const void* block) override { blocks_.erase(reinterpret_cast<uintptr_t>(block)); }

  // The block that contains `address`, if it can be placed.
  std::optional<HotBlock> Find(uintptr_t address) const {
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return std::nullopt;
    const auto& [begin, block] = *std::prev(after);
    if (address >= begin + block.size || block.size > inside::kLargestHotBlock) {
      return std::nullopt;
    }
    return HotBlock{block.context, block.occurrence, static_cast<uint32_t>(block.size)};
  }

 private:
  struct Block {
    uint64_t context;
    uint32_t occurrence;
    size_t size;
  };
  std::map<uintptr_t, Block> blocks_;
  std::unordered_map<uint64_t, uint32_t> seen_;
};

// --- the writes of a clone ----------------------------------------------------------------------

struct Range {
  uintptr_t begin;
  uintptr_t end;
};

// In memory that a clone shares.
struct Writes {
  size_t count;
  size_t of_run;  // the first of them are those of a run that succeeds
  uintptr_t addresses[kMaxWrites];
};

// Used by signal handlers, of one thread.
std::vector<Range>* g_heap = nullptr;
Writes* g_writes = nullptr;
uintptr_t g_unprotected = 0;

bool IsInHeap(uintptr_t address) {
  return std::any_of(g_heap->begin(), g_heap->end(), [&](const Range& range) {
    return range.begin <= address && address < range.end;
  });
}

void Protect(uintptr_t begin, uintptr_t end, int protection) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the kernel has listed
  if (mprotect(reinterpret_cast<void*>(begin), end - begin, protection) != 0) _exit(3);
}

// A write may cross into the next page.
uintptr_t EndOfWrite(uintptr_t page) {
  return page + (IsInHeap(page + kPageSize) ? 2 * kPageSize : kPageSize);
}

void OnFault(int, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (!IsInHeap(address) || g_writes->count == kMaxWrites) _exit(2);
  g_writes->addresses[g_writes->count++] = address;
  g_unprotected = address / kPageSize * kPageSize;
  Protect(g_unprotected, EndOfWrite(g_unprotected), PROT_READ | PROT_WRITE);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
}

void OnStep(int, siginfo_t*, void* context) {
  Protect(g_unprotected, EndOfWrite(g_unprotected), PROT_READ);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
}

void Handle(int number, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = handler;
  sigaction(number, &action, nullptr);
}

void* SharedMemory(size_t size) {
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("no memory");
  return memory;
}

// The kernel writes to what belongs to a thread, next to its pointer (rseq(2)): it must not be
// protected, and may be in one mapping with arenas.
void AddWithoutThread(const Range& range, std::vector<Range>& heap) {
  constexpr uintptr_t kThread = 16 * kPageSize;
  const uintptr_t thread =
      reinterpret_cast<uintptr_t>(__builtin_thread_pointer()) / kPageSize * kPageSize;
  if (thread < range.begin || thread >= range.end) return heap.push_back(range);
  if (thread - range.begin > kThread) heap.push_back({range.begin, thread - kThread});
  if (range.end - thread > kThread) heap.push_back({thread + kThread, range.end});
}

// The C library's heap and Python's arenas.
std::vector<Range> Heap() {
  std::vector<Range> heap;
  for (const inside::WritableMapping& mapping : OrFail(inside::WritableMappings())) {
    const bool is_arena = !mapping.is_file && !mapping.is_stack && mapping.size() >= kLeastArena &&
                          mapping.size() <= kMostArenas;
    if (is_arena || mapping.is_heap) AddWithoutThread({mapping.begin, mapping.end}, heap);
  }
  return heap;
}

[[noreturn]] void RehearseProtected() {
  static std::vector<Range> heap = Heap();
  g_heap = &heap;
  constexpr size_t kStack = 64 << 10;
  const stack_t stack{.ss_sp = SharedMemory(kStack), .ss_flags = 0, .ss_size = kStack};
  sigaltstack(&stack, nullptr);
  Handle(SIGSEGV, OnFault);
  Handle(SIGTRAP, OnStep);
  for (const Range& range : heap) Protect(range.begin, range.end, PROT_READ);
  if (!inside::AfterCloneInWorker() || !inside::RehearseRequest()) _exit(1);
  g_writes->of_run = g_writes->count;
  _exit(inside::RehearseOthers() ? 0 : 1);
}

// The writes of a clone.
const Writes& Rehearse() {
  g_writes = static_cast<Writes*>(SharedMemory(sizeof(Writes)));
  inside::BeforeClone();
  const pid_t clone = fork();
  if (clone == 0) RehearseProtected();
  inside::AfterCloneInZygote();
  int status = 1;
  if (clone < 0 || waitpid(clone, &status, 0) != clone || status != 0) {
    Fail("the rehearsal has failed: wait status " + std::to_string(status));
  }
  return *g_writes;
}

size_t PagesOfRun(const Writes& writes) {
  std::set<uintptr_t> pages;
  for (size_t i = 0; i < writes.of_run; ++i) pages.insert(writes.addresses[i] / kPageSize);
  return pages.size();
}

// The blocks written to, without duplicates: those of a run that succeeds, and others.
nlohmann::json Recorded(const Writes& writes, const Blocks& blocks) {
  nlohmann::json of_run = nlohmann::json::array(), others = nlohmann::json::array();
  std::set<std::pair<uint64_t, uint32_t>> known;
  for (size_t i = 0; i < writes.count; ++i) {
    const std::optional<HotBlock> block = blocks.Find(writes.addresses[i]);
    if (block && known.insert({block->context, block->occurrence}).second) {
      (i < writes.of_run ? of_run : others)
          .push_back({block->context, block->occurrence, block->size});
    }
  }
  return {{"file", inside::HotBlocksFile()}, {"of_run", of_run}, {"others", others}};
}

// --- the program --------------------------------------------------------------------------------

InterpreterOptions OptionsOf(const std::string& share, bool places) {
  InterpreterOptions options;
  options.package_paths = {share + "/runner", share + "/policy", share + "/site-packages"};
  options.huge_pages = true;
  options.profile_packages = "[]";
  options.missing_modules = "{}";
  options.other_profiles = "{}";
  options.profile = OrFail(core::ReadAll(STDIN_FILENO, kMaxProfile));
  if (places) options.hot_blocks = share + "/hot_blocks";
  return options;
}

int Main(int count, char** words) {
  const bool checks = count == 3 && std::string_view(words[2]) == "--check";
  if (count != 2 && !checks) {
    fprintf(stderr, "usage: belljar-record-hot-blocks SHARE [--check] <PROFILE\n");
    return 2;
  }
  Blocks blocks;
  InterpreterOptions options = OptionsOf(words[1], checks);
  options.block_listener = &blocks;
  if (core::Result<void> done = inside::StartInterpreter(options); !done)
    Fail(done.error().ToString());
  inside::FreezeInterpreter();
  const Writes& writes = Rehearse();
  nlohmann::json report;
  if (checks) {
    report = {{"recorded", OrFail(inside::ReadHotBlocks(options.hot_blocks)).size()},
              {"placed", inside::BlocksPlaced()},
              {"pages", PagesOfRun(writes)}};
  } else {
    report = Recorded(writes, blocks);
  }
  printf("%s\n", report.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace belljar::tools::hot_blocks

int main(int count, char** words) { return belljar::tools::hot_blocks::Main(count, words); }
