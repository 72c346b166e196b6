// belljar-record-hot-blocks.so: finds the blocks of memory to which runs of a profile write
// (inside/hot_blocks.h). Built and run by each build, through record.py:
//
//   LD_PRELOAD=belljar-record-hot-blocks.so PROGRAM SHARE PROFILE < PROGRAMS
//   LD_PRELOAD=belljar-record-hot-blocks.so PROGRAM SHARE PROFILE RECORDS < PROGRAMS
//
// PROGRAM is what becomes zygotes: belljar-zygote, or for a wheel the interpreter, in which other
// modules are built in. SHARE is the folder share/belljar. RECORDS is a folder of records. PROGRAMS
// is a JSON array of texts, the simplest first. The first form prints {"of_first": blocks,
// "of_runs": blocks, "of_others": blocks}, of which a record should have one after the other; the
// second what a record is worth:
// {"recorded": the number of its blocks, "placed": how many of them were allocated, "pages": to how
// many pages the first program writes, "regions": to how many huge pages}.
//
// It runs in place of that program's main function (as inside/preload.cc). It starts the
// interpreter, and lets clones run the programs. The kernel shows which pages a clone has written
// to, and a second interpreter, in which no two blocks of those are on one page, shows which
// blocks. Nothing is sealed, so it needs no privilege.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"
#include "engine/inside/hot_blocks.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/profiles/loader.h"

namespace belljar::tools::hot_blocks {
namespace {

using core::kPageSize;
using inside::HotBlock;
using inside::InterpreterOptions;
using Programs = std::vector<std::string>;

constexpr size_t kMaxInput = 1 << 20;
constexpr size_t kMaxCandidates = 64 << 20;  // bytes of JSON

[[noreturn]] void Fail(const std::string& why) {
  fprintf(stderr, "belljar-record-hot-blocks: %s\n", why.c_str());
  exit(1);  // NOLINT(concurrency-mt-unsafe): of one thread
}

template <typename T>
T OrFail(core::Result<T> result) {
  if (!result) Fail(result.error().ToString());
  return std::move(*result);
}

// What identifies a block.
using Key = std::pair<uint64_t, uint32_t>;
struct KeyHash {
  size_t operator()(const Key& key) const { return key.first ^ key.second; }
};
using Known = std::unordered_set<Key, KeyHash>;

// Which blocks of the interpreter are on a page.
class Blocks : public inside::BlockListener {
 public:
  // Of `candidates` only; without any, all.
  explicit Blocks(const std::vector<HotBlock>& candidates) {
    for (const HotBlock& block : candidates) candidates_.emplace(block.context, block.occurrence);
  }

  void OnAllocation(const void* block, size_t size, uint64_t context) override {
    const uint32_t occurrence = seen_[context]++;
    if (!block || size > inside::kMaxHotBlock) return;
    if (!candidates_.empty() && !candidates_.contains({context, occurrence})) return;
    blocks_[reinterpret_cast<uintptr_t>(block)] = {context, occurrence,
                                                   static_cast<uint32_t>(size)};
  }
  void OnFree(const void* block) override { blocks_.erase(reinterpret_cast<uintptr_t>(block)); }

  // Once everything is loaded. By address, each once. `pages`: ascending.
  std::vector<HotBlock> On(const std::vector<uintptr_t>& pages) {
    if (by_address_.empty()) {
      by_address_.assign(blocks_.begin(), blocks_.end());
      std::ranges::sort(by_address_, {}, &Placed::first);
    }
    std::vector<HotBlock> found;
    uintptr_t end = 0;  // of the last block
    for (const uintptr_t page : pages) {
      auto block = std::ranges::lower_bound(by_address_, page, {}, &Placed::first);
      if (block != by_address_.begin()) --block;
      for (; block != by_address_.end() && block->first < page + kPageSize; ++block) {
        const uintptr_t block_end = block->first + block->second.size;
        if (block->first < end || block_end <= page) continue;
        found.push_back(block->second);
        end = block_end;
      }
    }
    return found;
  }

 private:
  using Placed = std::pair<uintptr_t, HotBlock>;  // address, block

  Known candidates_;
  std::unordered_map<uintptr_t, HotBlock> blocks_;
  std::vector<Placed> by_address_;
  std::unordered_map<uint64_t, uint32_t> seen_;
};

// --- the interpreter
// ------------------------------------------------------------------------------

// The profile's packages, which are below `share`, and its environment.
std::string PackagesOf(const core::Profile& profile, const std::string& share) {
  nlohmann::json folders = nlohmann::json::array();
  for (const core::PackageSet& set : profile.packages) {
    const auto folder = std::filesystem::canonical(share + "/packages/" + set.name);
    folders.push_back({{"path", folder.string()}, {"entries", nlohmann::json::array()}});
  }
  for (const std::string& variable : profile.environment) {
    const size_t equals = variable.find('=');
    // NOLINTNEXTLINE(concurrency-mt-unsafe): of one thread
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  return folders.dump();
}

// As a zygote of the profile gets them from its host.
InterpreterOptions OptionsOf(const std::string& share, const std::string& name) {
  const std::string folder = share + "/profiles";
  const core::Profile profile =
      OrFail(profiles::LoadProfile(folder + "/" + name + ".toml", folder));
  InterpreterOptions options;
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  if (program.filename() != "belljar-zygote") options.program = program;
  options.package_paths = {share + "/runner", share + "/policy", share + "/site-packages"};
  options.huge_pages = profile.huge_pages;
  options.profile_packages = PackagesOf(profile, share);
  options.missing_modules = "{}";
  options.other_profiles =
      profiles::ModulesByProfile(OrFail(profiles::LoadProfiles(folder)), profile.name);
  options.profile = profile.document;
  options.keeps_artifacts = profile.artifacts.count > 0;
  return options;
}

void Start(const InterpreterOptions& options) {
  if (core::Result<void> done = inside::StartInterpreter(options); !done) {
    Fail(done.error().ToString());
  }
  inside::FreezeInterpreter();
}

// In the form that the host sends.
constexpr std::string_view kMetadata = R"({"mode":"run","policy":"on",
    "filename":"main.py","allowed_imports":null,"max_source":1048576,"max_result":1048576,
    "max_report":1572864,"analysis":false,"comments":false,"exact_types":false})";

bool Runs(std::string_view program) {
  const std::string report =
      inside::ExecuteRequest({.metadata = kMetadata, .inputs = {}, .source = program});
  const nlohmann::json parsed = nlohmann::json::parse(report, nullptr, false);
  return parsed.is_object() && parsed.value("status", "") == "ok";
}

// The pages to which `task` writes in a clone that has become a worker.
template <typename Task>
std::vector<uintptr_t> PagesOf(Task task) {
  // Shared with the clone.
  void* const memory =
      mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) Fail("no memory");
  auto* const succeeded = static_cast<volatile bool*>(memory);
  std::vector<uintptr_t> pages = OrFail(
      inside::PagesWrittenBy([&] { *succeeded = inside::AfterCloneInWorker().ok() && task(); }));
  if (!*succeeded) Fail("a program has failed");
  munmap(memory, kPageSize);
  return pages;
}

// --- recording
// ------------------------------------------------------------------------------------

struct Written {
  std::vector<HotBlock> of_first;  // the first program
  std::vector<HotBlock> of_runs;   // programs that end well
  std::vector<HotBlock> of_others;
};

Written Rehearse(const Programs& programs, Blocks& blocks) {
  Written written;
  const auto add = [&](std::vector<HotBlock>& to, auto task) {
    const std::vector<HotBlock> found = blocks.On(PagesOf(task));
    to.insert(to.end(), found.begin(), found.end());
  };
  add(written.of_first, [&] { return Runs(programs.front()); });
  add(written.of_runs, [] { return inside::RehearseRequest().ok(); });
  for (const std::string& program : programs) {
    add(written.of_runs, [&] { return Runs(program); });
  }
  add(written.of_others, [] { return inside::RehearseOthers().ok(); });
  return written;
}

// Those that `known` lacks; they are added to it.
nlohmann::json New(const std::vector<HotBlock>& blocks, Known& known) {
  nlohmann::json added = nlohmann::json::array();
  for (const HotBlock& block : blocks) {
    if (known.insert({block.context, block.occurrence}).second) {
      added.push_back({block.context, block.occurrence, block.size});
    }
  }
  return added;
}

// All blocks of the pages that are written to, from a process of its own: Python starts only once.
std::vector<HotBlock> Candidates(const InterpreterOptions& options, const Programs& programs) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Fail("no pipe");
  const core::UniqueFd from(ends[0]);
  core::UniqueFd to(ends[1]);
  const pid_t child = fork();
  if (child < 0) Fail("no process");
  if (child == 0) {
    Blocks blocks({});
    InterpreterOptions of_child = options;
    of_child.block_listener = &blocks;
    Start(of_child);
    const Written written = Rehearse(programs, blocks);
    Known known;
    nlohmann::json all = nlohmann::json::array();
    for (const auto* part : {&written.of_first, &written.of_runs, &written.of_others}) {
      for (nlohmann::json& block : New(*part, known)) all.push_back(std::move(block));
    }
    _exit(core::WriteBytes(to.get(), all.dump()) ? 0 : 1);
  }
  to.Reset();
  const std::string json = OrFail(core::ReadAll(from.get(), kMaxCandidates));
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) Fail("the first pass has failed");
  return OrFail(inside::ParseHotBlocks(json, SIZE_MAX));
}

nlohmann::json Record(InterpreterOptions options, const Programs& programs) {
  options.hot_blocks = Candidates(options, programs);
  Blocks blocks(options.hot_blocks);
  options.block_listener = &blocks;
  Start(options);
  const Written written = Rehearse(programs, blocks);
  Known known;
  nlohmann::json report;
  report["of_first"] = New(written.of_first, known);
  report["of_runs"] = New(written.of_runs, known);
  report["of_others"] = New(written.of_others, known);
  return report;
}

nlohmann::json Worth(InterpreterOptions options, const std::string& records,
                     const std::string& profile, const std::string& program) {
  // A profile with packages has the name of their set.
  options.hot_blocks = OrFail(inside::ReadHotBlocks(records, {profile}));
  Start(options);
  const std::vector<uintptr_t> pages = PagesOf([&] { return Runs(program); });
  std::set<uintptr_t> regions;
  for (const uintptr_t page : pages) regions.insert(page / inside::HugePageSize());
  return {{"recorded", options.hot_blocks.size()},
          {"placed", inside::BlocksPlaced()},
          {"pages", pages.size()},
          {"regions", regions.size()}};
}

// --- the program
// ----------------------------------------------------------------------------------

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

int Main(int count, char** words) {
  unsetenv("LD_PRELOAD");  // NOLINT(concurrency-mt-unsafe): of one thread
  if (count != 3 && count != 4) {
    fprintf(stderr,
            "usage: LD_PRELOAD=belljar-record-hot-blocks.so PROGRAM SHARE PROFILE [RECORDS]\n");
    return 2;
  }
  // The pages of a huge page are not told apart reliably.
  (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  const auto programs =
      nlohmann::json::parse(OrFail(core::ReadAll(STDIN_FILENO, kMaxInput))).get<Programs>();
  if (programs.empty()) Fail("no program");
  const core::UniqueFd output = ReplaceStreams();
  const InterpreterOptions options = OptionsOf(words[1], words[2]);
  const nlohmann::json report =
      count == 4 ? Worth(options, words[3], words[2], programs.front()) : Record(options, programs);
  return core::WriteBytes(output.get(), report.dump() + "\n") ? 0 : 1;
}

int RunInPlaceOfMain(int count, char** words, char**) {
  try {
    // Python is not finalized, as in a zygote.
    _exit(Main(count, words));
  } catch (const std::exception& error) {
    fprintf(stderr, "belljar-record-hot-blocks: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace belljar::tools::hot_blocks

using ReplacedMain = int (*)(int, char**, char**);
using StartMain = int (*)(ReplacedMain, int, char**, void (*)(), void (*)(), void (*)(), void*);

// NOLINTNEXTLINE(bugprone-reserved-identifier): it replaces the C library's, which calls main
extern "C" [[gnu::visibility("default")]] int __libc_start_main(ReplacedMain, int count,
                                                                char** words, void (*init)(),
                                                                void (*fini)(), void (*unload)(),
                                                                void* stack) {
  const auto start = reinterpret_cast<StartMain>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(belljar::tools::hot_blocks::RunInPlaceOfMain, count, words, init, fini, unload,
               stack);
}
