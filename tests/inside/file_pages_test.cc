// A clone has the pages of files that it will read, and no page is lost that is not a file's.
#include "engine/inside/file_pages.h"

#include <gtest/gtest.h>
#include <pybind11/embed.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/inside/memory_map.h"

#ifdef __SANITIZE_ADDRESS__
// The interpreter keeps memory until the end.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace belljar::inside {
namespace {

// More than the kernel maps around a fault (fault_around_bytes, 64 KiB).
constexpr size_t kPages = 256;
constexpr size_t kFirstUsed = 100, kUsed = 4;

// Pages that are all "a". Of small pages: a disk's file might be mapped by huge ones, which need no
// copies.
core::UniqueFd MakeFile() {
  core::UniqueFd file(memfd_create("belljar-file-pages", MFD_CLOEXEC));
  const std::string content(kPages * kPageSize, 'a');
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

  static size_t size() { return kPages * kPageSize; }
  volatile char* page(size_t index) const { return memory_ + index * kPageSize; }
  void Protect(int protection) { EXPECT_EQ(mprotect(memory_, size(), protection), 0); }

  // Of this process.
  size_t PagesMapped() const {
    const core::Result<core::UniqueFd> pagemap = OpenPagemap("self");
    if (!pagemap) return kPages + 1;
    std::vector<uint64_t> words(kPages);
    MemoryMapping mapping;
    mapping.begin = reinterpret_cast<uintptr_t>(memory_);
    mapping.end = mapping.begin + size();
    if (!ReadPagemap(pagemap->get(), mapping, words.data())) return kPages + 1;
    return static_cast<size_t>(
        std::ranges::count_if(words, [](uint64_t word) { return (word & kPagePresent) != 0; }));
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

}  // namespace
}  // namespace belljar::inside
