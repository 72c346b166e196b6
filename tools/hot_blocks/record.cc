// belljar-record-hot-blocks, for ./dev record: finds the blocks to which a run of a profile writes,
// as inside/hot_blocks.h needs them. x86-64 only; what it finds is for all 64-bit processors.
//
//   belljar-record-hot-blocks SHARE PROFILE [--check | INTERPRETER]
//
// SHARE is the folder share/belljar; PROFILE is basic or data-science; INTERPRETER loads the zygote
// of a Python package, which starts a little differently. Prints {"file": "3.11.json", "of_first":
// blocks, "of_runs": blocks, "of_others": blocks}, of which that file should have one after the
// other, or with --check what it is worth: {"recorded": the number of its blocks, "placed": how
// many of them were allocated, "pages": to how many pages the first program writes, "regions": to
// how many huge pages}.
//
// Starts the interpreter as a zygote does and lets clones run programs, with the heap
// write-protected: each write is a fault, which notes the address, permits it for one instruction
// (the trap flag of the processor, Intel SDM volume 3, 17.3.1.4) and protects the page again. Two
// faults for every write take half a minute, so --check, which counts pages, leaves a page
// permitted.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"
#include "engine/inside/hot_blocks.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/installation/installation.h"
#include "engine/profiles/loader.h"

namespace belljar::tools::hot_blocks {
namespace {

using inside::BlockListener;
using inside::HotBlock;
using inside::InterpreterOptions;

constexpr uintptr_t kPageSize = 4096;
constexpr greg_t kTrapFlag = 0x100;
constexpr size_t kMaxWrites = 4 << 20;
constexpr uintptr_t kMinArena = 256 << 10;  // bytes; before Python 3.10
constexpr uintptr_t kMaxArena = 64 << 20;   // side by side they are one mapping

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
    if (address >= begin + block.size || block.size > inside::kMaxHotBlock) {
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

// Notes a page once, for --check. A write that crosses into the next page is a fault there as well.
void OnFaultOfPage(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (!IsInHeap(address) || g_writes->count == kMaxWrites) _exit(2);
  g_writes->addresses[g_writes->count++] = address;
  const uintptr_t page = address / kPageSize * kPageSize;
  Protect(page, page + kPageSize, PROT_READ | PROT_WRITE);
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
  for (const core::MemoryMapping& mapping : OrFail(core::WritableMappings())) {
    const bool is_arena = !mapping.is_file() && !mapping.is_stack && mapping.size() >= kMinArena &&
                          mapping.size() <= kMaxArena;
    if (is_arena || mapping.is_heap) AddWithoutThread({mapping.begin, mapping.end}, heap);
  }
  return heap;
}

// The first program of data-science, and others.
constexpr std::string_view kDataSciencePrograms[] = {
    "import numpy as np\nfloat(np.arange(10).mean())",
    "import numpy as np, pandas as pd\nfloat(pd.Series(np.arange(10)).mean())",
    R"py(
import numpy as np
import pandas as pd

table = pd.DataFrame({"name": ["a", "b", "a"], "value": np.linspace(0, 1, 3)})
table["double"] = table.value * 2
means = table.groupby("name").value.mean()
print(table.describe(), means.to_dict(), np.dot(table.value, table.double), np.random.rand() < 1)
)py",
};

// Everyday programs. All run in the restricted language, each in a clone of its own, as
// in a worker.
constexpr std::string_view kPrograms[] = {
    "1 + 1", "print('hello')",
    R"py(
import math

def area(radius):
    return math.pi * radius ** 2

for radius in range(3):
    print(f"{radius}: {area(radius):.2f}")
)py",
    R"py(
import json
from collections import Counter, defaultdict

words = "the quick brown fox jumps over the lazy dog the end".split()
lengths = defaultdict(list)
for word in sorted(set(words)):
    lengths[len(word)].append(word)
json.dumps({"most": Counter(words).most_common(1), "lengths": lengths})
)py",
    R"py(
from dataclasses import dataclass

@dataclass
class Item:
    name: str
    price: float = 1.0

    def total(self, count):
        return self.price * count

class Basket(list):
    def __str__(self):
        return ", ".join(each.name for each in self)

basket = Basket([Item("pear"), Item("fig", 0.5)])
try:
    basket[5]
except IndexError as error:
    print(error, str(basket), sum(each.total(3) for each in basket))
{"names": [each.name for each in basket], "price": max(basket, key=lambda each: each.price).price}
)py",
    R"py(
import random
import re
from datetime import date, timedelta

def primes(limit):
    sieve = [True] * limit
    for number in range(2, limit):
        if sieve[number]:
            yield number
            sieve[number * number :: number] = [False] * len(sieve[number * number :: number])

print(list(primes(50)), re.sub(r"(\d+)-(\d+)", r"\2-\1", "10-20"))
print(date(2024, 2, 28) + timedelta(days=2), random.randint(1, 6) in range(1, 7))
while True:
    if input_left := [1, 2, 3]:
        a, *rest = input_left
        break
(a, rest, 10**30 // 7, "%s" % 1.5, {1, 2} & {2}, b"x".hex())
)py",
    R"py(
import contextlib
from itertools import chain as chained

total: int = 0
limit = None

def add(amount, *more, factor=1, **options):
    global total
    assert amount >= 0, "negative"
    total += amount * factor if not more else sum(more)
    return lambda: total

def counter():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step

@contextlib.contextmanager
def opened(name):
    try:
        yield name
    finally:
        pass

step = counter()
while step() < 3:
    if limit is None or not limit:
        continue
    elif limit > 5 and limit <= 7:
        break
else:
    limit = -3 & 0xFF
with opened("x") as name:
    for index, (key, value) in enumerate({"a": 1, "b": [2, 3]}.items()):
        match value:
            case int():
                add(value)
            case [first, *others]:
                add(0, first, *others, **{})
try:
    raise ValueError(f"{total!r:>4}")
except (ValueError, KeyError) as error:
    message = error.args[0]
pairs = {number: number ** 2 for number in range(4)}
odd = {number for number in pairs if number % 2}
values = list(number // 2 for number in chained(odd, pairs.values()))
del pairs[0]
values[1:3] = values[::-1][:1]
(message, total, odd, values, 1 < 2 != 3, "a" in "abc", ~5 ^ 3 | 1 << 2, 3 @ limit if False else 2.5)
)py",
};

// In the form that the host sends.
constexpr std::string_view kMetadata = R"({"mode":"run","language":"restricted",
    "filename":"main.py","allowed_imports":null,"max_source":1048576,"max_result":1048576,
    "max_report":1572864,"analysis":false,"comments":false,"exact_types":false})";

// What of a write is noted.
enum class Detail { kAddress, kPage };

void ProtectHeap(Detail detail) {
  static std::vector<Range> heap = Heap();
  g_heap = &heap;
  constexpr size_t kStack = 64 << 10;
  const stack_t stack{.ss_sp = SharedMemory(kStack), .ss_flags = 0, .ss_size = kStack};
  sigaltstack(&stack, nullptr);
  Handle(SIGSEGV, detail == Detail::kPage ? OnFaultOfPage : OnFault);
  Handle(SIGTRAP, OnStep);
  for (const Range& range : heap) Protect(range.begin, range.end, PROT_READ);
}

// Addresses, without duplicates.
class Written {
 public:
  // Runs `task` in a clone that has become a worker, and adds what that writes to.
  template <typename Task>
  void AddClone(Task task, Detail detail = Detail::kAddress) {
    inside::BeforeClone();
    const pid_t clone = fork();
    if (clone == 0) {
      ProtectHeap(detail);
      _exit(inside::AfterCloneInWorker() && task() ? 0 : 1);
    }
    inside::AfterCloneInZygote();
    int status = 1;
    if (clone < 0 || waitpid(clone, &status, 0) != clone || status != 0) {
      Fail("a clone has failed: wait status " + std::to_string(status));
    }
    for (size_t i = 0; i < g_writes->count; ++i) {
      if (known_.insert(g_writes->addresses[i]).second) in_order_.push_back(g_writes->addresses[i]);
    }
    g_writes->count = 0;
  }

  const std::vector<uintptr_t>& in_order() const { return in_order_; }

  // How many parts of memory of this size, aligned to it, are written to.
  size_t Parts(uintptr_t size) const {
    std::set<uintptr_t> parts;
    for (const uintptr_t address : in_order_) parts.insert(address / size);
    return parts.size();
  }

 private:
  std::unordered_set<uintptr_t> known_;
  std::vector<uintptr_t> in_order_;
};

bool Runs(std::string_view program) {
  const std::string report =
      inside::ExecuteRequest({.metadata = kMetadata, .inputs = {}, .source = program});
  const nlohmann::json parsed = nlohmann::json::parse(report, nullptr, false);
  return parsed.is_object() && parsed.value("status", "") == "ok";
}

struct AllWritten {
  Written of_first;  // the first program
  Written of_runs;   // programs that end well
  Written of_others;
};

std::vector<std::string_view> ProgramsFor(bool is_data_science) {
  std::vector<std::string_view> programs;
  if (is_data_science) {
    programs.assign(std::begin(kDataSciencePrograms), std::end(kDataSciencePrograms));
  }
  programs.insert(programs.end(), std::begin(kPrograms), std::end(kPrograms));
  return programs;
}

AllWritten Rehearse(const std::vector<std::string_view>& programs) {
  AllWritten written;
  written.of_first.AddClone([&] { return Runs(programs[0]); });
  written.of_runs.AddClone([] { return inside::RehearseRequest().ok(); });
  for (const std::string_view program : programs) {
    written.of_runs.AddClone([program] { return Runs(program); });
  }
  written.of_others.AddClone([] { return inside::RehearseOthers().ok(); });
  return written;
}

// The blocks written to, without those that `known` has; they are added to it.
nlohmann::json Recorded(const Written& written, const Blocks& blocks,
                        std::set<std::pair<uint64_t, uint32_t>>& known) {
  nlohmann::json recorded = nlohmann::json::array();
  for (const uintptr_t address : written.in_order()) {
    const std::optional<HotBlock> block = blocks.Find(address);
    if (block && known.insert({block->context, block->occurrence}).second) {
      recorded.push_back({block->context, block->occurrence, block->size});
    }
  }
  return recorded;
}

// --- the program --------------------------------------------------------------------------------

// The packages of `profile`, as a zygote gets them; theirs is the environment, too.
void AddPackages(const core::Profile& profile, InterpreterOptions& options) {
  const installation::Installation installation = OrFail(installation::Installation::Find());
  nlohmann::json folders = nlohmann::json::array();
  for (const core::PackageSet& set : profile.packages) {
    const installation::PackageFolder folder = installation.FolderOfSet(set.name);
    if (folder.path.empty()) Fail("the packages of " + set.name + " are not installed");
    folders.push_back({{"path", folder.path}, {"entries", folder.entries}});
    options.package_sets.push_back(set.name);
  }
  options.profile_packages = folders.dump();
  for (const std::string& variable : profile.environment) {
    const size_t equals = variable.find('=');
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of one thread
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

// As a zygote of the profile gets them from its host.
InterpreterOptions OptionsOf(const std::string& share, const std::string& name, bool places) {
  const std::string folder = share + "/profiles";
  const core::Profile profile =
      OrFail(profiles::LoadProfile(folder + "/" + name + ".toml", folder));
  InterpreterOptions options;
  options.package_paths = {share + "/runner", share + "/policy", share + "/site-packages"};
  options.huge_pages = profile.huge_pages;
  AddPackages(profile, options);
  options.missing_modules = "{}";
  options.other_profiles =
      profiles::ModulesByProfile(OrFail(profiles::LoadProfiles(folder)), profile.name);
  options.profile = profile.document;
  options.keeps_artifacts = profile.artifacts.count > 0;
  if (places) options.hot_blocks = share + "/hot_blocks";
  return options;
}

// As a zygote has them: buffers have the size of a block of the file. The old standard output.
core::UniqueFd ReplaceStreams() {
  core::UniqueFd output(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  const core::UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!output || !null || dup2(null.get(), STDIN_FILENO) < 0 ||
      dup2(null.get(), STDOUT_FILENO) < 0) {
    Fail("/dev/null");
  }
  return output;
}

// What a record is worth to the first program.
nlohmann::json Worth(const InterpreterOptions& options,
                     const std::vector<std::string_view>& programs) {
  const auto recorded = OrFail(inside::ReadHotBlocks(options.hot_blocks, options.package_sets));
  Written first;
  first.AddClone([&] { return Runs(programs[0]); }, Detail::kPage);
  return {{"recorded", recorded.size()},
          {"placed", inside::BlocksPlaced()},
          {"pages", first.Parts(kPageSize)},
          {"regions", first.Parts(inside::HugePageSize())}};
}

nlohmann::json Record(const InterpreterOptions& options, const AllWritten& written,
                      const Blocks& blocks) {
  const std::vector<std::string>& sets = options.package_sets;
  std::set<std::pair<uint64_t, uint32_t>> known;
  nlohmann::json report = {{"file", inside::HotBlocksFile(sets.empty() ? "" : sets[0])}};
  report["of_first"] = Recorded(written.of_first, blocks, known);
  report["of_runs"] = Recorded(written.of_runs, blocks, known);
  report["of_others"] = Recorded(written.of_others, blocks, known);
  return report;
}

int Main(int count, char** words) {
  const bool checks = count == 4 && std::string_view(words[3]) == "--check";
  if (count != 3 && count != 4) {
    fprintf(stderr, "usage: belljar-record-hot-blocks SHARE PROFILE [--check | INTERPRETER]\n");
    return 2;
  }
  const core::UniqueFd output = ReplaceStreams();
  Blocks blocks;
  InterpreterOptions options = OptionsOf(words[1], words[2], checks);
  if (count == 4 && !checks) options.program = words[3];
  options.block_listener = &blocks;
  if (core::Result<void> done = inside::StartInterpreter(options); !done)
    Fail(done.error().ToString());
  inside::FreezeInterpreter();
  g_writes = static_cast<Writes*>(SharedMemory(sizeof(Writes)));
  const auto programs = ProgramsFor(!options.package_sets.empty());
  const nlohmann::json report =
      checks ? Worth(options, programs) : Record(options, Rehearse(programs), blocks);
  return dprintf(output.get(), "%s\n", report.dump().c_str()) < 0 ? 1 : 0;
}

}  // namespace
}  // namespace belljar::tools::hot_blocks

// In place of the C library's, for Python: the kernel does not write to protected memory, where
// os.urandom() wants it to.
extern "C" ssize_t getrandom(void* to, size_t size, unsigned flags) {
  char bytes[256];
  const ssize_t count = syscall(SYS_getrandom, bytes, std::min(size, sizeof bytes), flags);
  if (count > 0) memcpy(to, bytes, static_cast<size_t>(count));
  return count;
}

int main(int count, char** words) {
  try {
    return belljar::tools::hot_blocks::Main(count, words);
  } catch (const std::exception& error) {
    fprintf(stderr, "belljar-record-hot-blocks: %s\n", error.what());
    return 1;
  }
}
