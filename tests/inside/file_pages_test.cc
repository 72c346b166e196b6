// A clone has the pages of files that it will read, and no page is lost that is not a file's.
#include "engine/inside/file_pages.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pybind11/embed.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/memory_map.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/rehearsal.h"
#include "tests/inside/file_pages_library.h"

namespace belljar::inside::file_pages_test {
namespace {

// More than the kernel maps around a fault (fault_around_bytes, 64 KiB).
constexpr size_t kPages = 256;
constexpr size_t kFirstUsed = 100, kUsed = 4;

// Pages that are all "a". Of small pages: a disk's file might be mapped by huge ones, which need no
// copies.
core::UniqueFd MakeFile() {
  core::UniqueFd file(memfd_create("belljar-file-pages", MFD_CLOEXEC));
  const std::string content(kPages * core::kPageSize, 'a');
  EXPECT_EQ(write(file.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  return file;
}

// A private mapping of such a file.
class MappedFile {
 public:
  explicit MappedFile(int protection) : MappedFile(MakeFile(), protection) {}
  MappedFile(const core::UniqueFd& file, int protection) {
    memory_ = static_cast<char*>(mmap(nullptr, size(), protection, MAP_PRIVATE, file.get(), 0));
    EXPECT_NE(memory_, MAP_FAILED);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { munmap(memory_, size()); }

  static size_t size() { return kPages * core::kPageSize; }
  volatile char* page(size_t index) const { return memory_ + index * core::kPageSize; }
  void Protect(int protection) { EXPECT_EQ(mprotect(memory_, size(), protection), 0); }

  // Pages mapped in this process.
  size_t PagesMapped() const {
    const core::Result<core::UniqueFd> pagemap = core::OpenPagemap("self");
    if (!pagemap) return kPages + 1;
    std::vector<uint64_t> words(kPages);
    core::MemoryMapping mapping;
    mapping.begin = reinterpret_cast<uintptr_t>(memory_);
    mapping.end = mapping.begin + size();
    if (!core::ReadPagemap(pagemap->get(), mapping, words.data())) return kPages + 1;
    return static_cast<size_t>(std::ranges::count_if(
        words, [](uint64_t word) { return (word & core::kPagePresent) != 0; }));
  }

  size_t PagesMappedInAClone() const {
    auto* const mapped = static_cast<size_t*>(
        mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const pid_t clone = fork();
    if (clone == 0) {
      *mapped = PagesMapped();
      _exit(0);
    }
    int status = 1;
    EXPECT_EQ(waitpid(clone, &status, 0), clone);
    EXPECT_EQ(status, 0);
    const size_t result = *mapped;
    munmap(mapped, sizeof(size_t));
    return result;
  }

 private:
  char* memory_;
};

class FilePages : public testing::Test {
 protected:
  pybind11::scoped_interpreter interpreter_;  // whose hooks run around a clone
};

TEST_F(FilePages, ACloneHasThoseThatTheRehearsalUses) {
  const MappedFile file(PROT_READ);
  for (size_t i = 0; i < kPages; ++i) ASSERT_EQ(*file.page(i), 'a');
  EXPECT_EQ(file.PagesMapped(), kPages);
  EXPECT_EQ(file.PagesMappedInAClone(), 0u) << "fork copies them without that";

  const core::Result<void> done = PrepareFilePages([&] {
    for (size_t i = 0; i < kUsed; ++i) (void)*file.page(kFirstUsed + i);
  });
  ASSERT_TRUE(done) << done.error().ToString();
  const size_t mapped = file.PagesMappedInAClone();
  EXPECT_GE(mapped, kUsed);
  EXPECT_LT(mapped, kPages);
  for (size_t i = 0; i < kPages; ++i) EXPECT_EQ(*file.page(i), 'a');
}

TEST_F(FilePages, APageThatIsNotTheFilesIsKept) {
  MappedFile file(PROT_READ | PROT_WRITE);
  *file.page(kFirstUsed) = 'b';  // as the dynamic linker relocates
  file.Protect(PROT_READ);
  const core::Result<void> done = PrepareFilePages([&] {
    for (size_t i = 0; i < kPages; ++i) (void)*file.page(i);
  });
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(*file.page(kFirstUsed), 'b');
  EXPECT_EQ(*file.page(kFirstUsed + 1), 'a');
}

TEST_F(FilePages, WhatIsHardlyUsedIsLeftAlone) {
  const MappedFile file(PROT_READ);
  ASSERT_EQ(*file.page(0), 'a');
  const core::Result<void> done = PrepareFilePages([] {});
  ASSERT_TRUE(done) << done.error().ToString();
  for (size_t i = 0; i < kPages; ++i) ASSERT_EQ(*file.page(i), 'a');
  EXPECT_EQ(file.PagesMapped(), kPages);
  EXPECT_EQ(file.PagesMappedInAClone(), 0u);
}

// Code and data of one file, as the dynamic linker maps them.
struct Library {
  core::UniqueFd file = MakeFile();
  MappedFile code{file, PROT_READ | PROT_EXEC};
  MappedFile data{file, PROT_READ | PROT_WRITE};
};

TEST_F(FilePages, TheDataOfALibraryThatIsNotUsedIsNotCopied) {
  const Library unused, used, written;
  for (const Library* each : {&unused, &used, &written}) {
    ASSERT_EQ(*each->code.page(0), 'a');
    for (size_t i = 0; i < kPages; ++i) *each->data.page(i) = 'b';
    EXPECT_EQ(each->data.PagesMappedInAClone(), kPages);
  }
  const core::Result<void> done = PrepareFilePages([&] {
    (void)*used.code.page(0);
    *written.data.page(kFirstUsed) = 'c';
  });
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(unused.data.PagesMappedInAClone(), 0u);
  EXPECT_EQ(used.data.PagesMappedInAClone(), kPages) << "its code runs, and may read the data";
  EXPECT_EQ(written.data.PagesMappedInAClone(), kPages);
  for (size_t i = 0; i < kPages; ++i) ASSERT_EQ(*unused.data.page(i), 'b') << i;

  // It is as writable as before, by each process for itself.
  const pid_t clone = fork();
  if (clone == 0) {
    *unused.data.page(0) = 'd';
    _exit(*unused.data.page(0) == 'd' ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(waitpid(clone, &status, 0), clone);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*unused.data.page(0), 'b');
}

// "r-xp": what /proc/self/maps says.
std::string ProtectionOf(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const uintptr_t begin = std::stoul(line, nullptr, 16);
    const uintptr_t end = std::stoul(line.substr(line.find('-') + 1), nullptr, 16);
    const auto sought = reinterpret_cast<uintptr_t>(address);
    if (begin <= sought && sought < end) return line.substr(line.find(' ') + 1, 4);
  }
  return "";
}

// How much of the mapping that begins at `address` is on huge pages, in KiB.
size_t OnHugePages(const volatile void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("-p ") != line.npos || line.find("xp ") != line.npos) {
      found = std::stoul(line, nullptr, 16) == reinterpret_cast<uintptr_t>(address);
    }
    if (found && line.starts_with("AnonHugePages:")) return std::stoul(line.substr(14));
  }
  return 0;
}

// Code of a library that fills an aligned region, with something before and after it. Or the end of
// the region is constants.
class LargeCode {
 public:
  explicit LargeCode(size_t constants = 0) {
    file_.Reset(memfd_create("belljar-file-pages", MFD_CLOEXEC));
    std::string content(kSize, '\0');
    for (size_t i = 0; i < kSize; ++i) content[i] = static_cast<char>(i / core::kPageSize % 251);
    EXPECT_EQ(write(file_.get(), content.data(), kSize), static_cast<ssize_t>(kSize));
    void* const room =
        mmap(nullptr, kSize + HugePageSize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(room, MAP_FAILED);
    const auto first = reinterpret_cast<uintptr_t>(room) + kBefore;
    const uintptr_t aligned = (first + HugePageSize() - 1) / HugePageSize() * HugePageSize();
    begin_ = At(aligned - kBefore);
    EXPECT_EQ(mmap(begin_, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file_.get(), 0),
              begin_);
    munmap(room, static_cast<size_t>(begin_ - static_cast<char*>(room)));
    if (constants == 0) return;
    char* const code_end = begin_ + kBefore + HugePageSize() - constants;
    EXPECT_EQ(mprotect(code_end, static_cast<size_t>(begin_ + kSize - code_end), PROT_READ), 0);
  }
  LargeCode(const LargeCode&) = delete;
  LargeCode& operator=(const LargeCode&) = delete;
  ~LargeCode() { munmap(begin_, kSize); }

  volatile char* aligned() const { return begin_ + kBefore; }
  volatile char* after() const { return aligned() + HugePageSize(); }
  void Use(size_t pages) const {
    for (size_t i = 0; i < pages; ++i) (void)aligned()[i * core::kPageSize];
  }
  bool IsAsWritten() const {
    for (size_t i = 0; i < kSize; i += 64) {
      if (begin_[i] != static_cast<char>(i / core::kPageSize % 251)) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kBefore = size_t{64} << 10;
  static char* At(uintptr_t address) {
    return reinterpret_cast<char*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  const size_t kSize = HugePageSize() + 2 * kBefore;
  core::UniqueFd file_;
  char* begin_ = nullptr;
};

TEST_F(FilePages, CodeThatIsUsedMuchIsOnAHugePage) {
  const LargeCode much, little;
  const core::Result<void> done = PrepareFilePages(
      [&] {
        much.Use(200);
        little.Use(20);
      },
      true);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_TRUE(much.IsAsWritten());
  EXPECT_TRUE(little.IsAsWritten());
  EXPECT_EQ(OnHugePages(little.aligned()), 0u);
  // Where the kernel has none, nothing has changed.
  const size_t moved = OnHugePages(much.aligned());
  if (moved == 0) GTEST_SKIP() << "this kernel gives no huge page for it";
  EXPECT_EQ(moved, HugePageSize() >> 10);
  EXPECT_EQ(ProtectionOf(const_cast<const char*>(much.aligned())), "r-xp");
  const pid_t clone = fork();
  if (clone == 0) _exit(much.IsAsWritten() ? 0 : 1);
  int status = 1;
  EXPECT_EQ(waitpid(clone, &status, 0), clone);
  EXPECT_EQ(status, 0);
}

TEST_F(FilePages, FewConstantsMayShareItsHugePage) {
  const size_t kMaxSize = HugePageSize() / 8;
  const LargeCode few(kMaxSize), many(kMaxSize + core::kPageSize);
  const core::Result<void> done = PrepareFilePages(
      [&] {
        few.Use(200);
        many.Use(200);
      },
      true);
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_TRUE(few.IsAsWritten());
  EXPECT_TRUE(many.IsAsWritten());
  EXPECT_EQ(OnHugePages(many.aligned()), 0u);
  const auto protection = [](volatile char* address) {
    return ProtectionOf(const_cast<const char*>(address));
  };
  // What is not on it stays as it was.
  EXPECT_EQ(protection(few.after()), "r--p");
  EXPECT_EQ(protection(many.after()), "r--p");
  EXPECT_EQ(protection(many.after() - kMaxSize - core::kPageSize), "r--p");
  if (OnHugePages(few.aligned()) == 0) GTEST_SKIP() << "this kernel gives no huge page for it";
  EXPECT_EQ(OnHugePages(few.aligned()), HugePageSize() >> 10);
  EXPECT_EQ(protection(few.aligned()), "r-xp");
}

// A library as the compiler makes them, with a page of anonymous memory right after its .bss: the
// kernel may join the two.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* path) {
    // The library is placed below it.
    void* const room = mmap(nullptr, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(room, MAP_FAILED);
    // All functions are looked up at once, as in a zygote: a later one would write to the library.
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr);
    munmap(room, kRoom);
    get_parts_ = reinterpret_cast<tests::LibraryParts (*)()>(dlsym(handle_, "file_pages_parts"));
    parts = get_parts_();
    const auto end = reinterpret_cast<uintptr_t>(parts.bss) + tests::kLibraryBss;
    void* const after = At((end + core::kPageSize - 1) / core::kPageSize * core::kPageSize);
    neighbour = static_cast<char*>(mmap(after, core::kPageSize, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    EXPECT_EQ(neighbour, after);
    *neighbour = 'n';
    parts.bss[0] = parts.bss[tests::kLibraryBss - 1] = parts.data[0] = 'w';
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;
  ~LoadedLibrary() {
    munmap(neighbour, core::kPageSize);
    dlclose(handle_);
  }

  void Run() const { (void)get_parts_(); }

  // From the library's header to the end of its .bss.
  size_t mappings() const {
    Dl_info info{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(get_parts_), &info), 0);
    size_t count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const uintptr_t begin = std::stoul(line, nullptr, 16);
      if (begin >= reinterpret_cast<uintptr_t>(info.dli_fbase) &&
          begin < reinterpret_cast<uintptr_t>(parts.bss) + tests::kLibraryBss) {
        ++count;
      }
    }
    return count;
  }

  const char* header() const {
    Dl_info info{};
    EXPECT_NE(dladdr(reinterpret_cast<void*>(get_parts_), &info), 0);
    return static_cast<const char*>(info.dli_fbase);
  }

  tests::LibraryParts parts{};
  char* neighbour = nullptr;

 private:
  static constexpr size_t kRoom = size_t{16} << 20;

  static void* At(uintptr_t address) {
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }

  void* handle_ = nullptr;
  tests::LibraryParts (*get_parts_)() = nullptr;
};

TEST_F(FilePages, ALibraryThatIsNotUsedIsFourMappings) {
  const LoadedLibrary unused(FILE_PAGES_UNUSED), used(FILE_PAGES_USED);
  EXPECT_GE(unused.mappings(), 5u);
  EXPECT_GE(used.mappings(), 5u);
  const core::Result<void> done = PrepareFilePages([&] { used.Run(); });
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(unused.mappings(), 4u);
  EXPECT_GE(used.mappings(), 5u) << "its code runs, and may use its data";
  for (const LoadedLibrary* each : {&unused, &used}) {
    const tests::LibraryParts& parts = each->parts;
    EXPECT_STREQ(parts.constant, "constant");
    EXPECT_EQ(parts.relocated[0], parts.constant);
    EXPECT_EQ(parts.relocated[1], parts.data);
    EXPECT_EQ(parts.relocated[2], parts.bss);
    EXPECT_STREQ(parts.data, "wata");
    EXPECT_EQ(parts.bss[0], 'w');
    EXPECT_EQ(parts.bss[tests::kLibraryBss - 1], 'w');
    EXPECT_TRUE(std::ranges::all_of(std::string_view(parts.bss + 1, tests::kLibraryBss - 2),
                                    [](char c) { return c == 0; }));
    // Nothing else becomes executable or writable.
    EXPECT_EQ(ProtectionOf(each->header()), "r--p");
    EXPECT_EQ(ProtectionOf(parts.constant), "r--p");
    EXPECT_EQ(ProtectionOf(parts.relocated), "r--p");
    EXPECT_EQ(ProtectionOf(parts.data), "rw-p");
    EXPECT_EQ(ProtectionOf(parts.bss), "rw-p");
    EXPECT_EQ(parts.bss[1] = 'x', 'x');
  }
}

TEST_F(FilePages, WhatFollowsABssStaysAnonymousMemory) {
  const LoadedLibrary unused(FILE_PAGES_UNUSED);
  const core::Result<void> done = PrepareFilePages([] {});
  ASSERT_TRUE(done) << done.error().ToString();
  EXPECT_EQ(unused.mappings(), 4u);
  EXPECT_EQ(*unused.neighbour, 'n');
  ASSERT_EQ(madvise(unused.neighbour, core::kPageSize, MADV_DONTNEED), 0);
  EXPECT_EQ(*unused.neighbour, 0) << "an allocator expects zeros";
}

TEST_F(FilePages, ARehearsalThatDoesNotFinishIsAnError) {
  const core::Result<core::Process> clone = Rehearse(
      [] {
        for (;;) pause();
      },
      std::chrono::milliseconds(50));
  ASSERT_FALSE(clone);
  EXPECT_EQ(clone.error().error_number, ETIMEDOUT) << clone.error().ToString();
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1) << "the clone is left";
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace belljar::inside::file_pages_test
