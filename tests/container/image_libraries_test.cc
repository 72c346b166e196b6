// What programs are linked with: read from their files, and as the dynamic linker found it.

#include <link.h>

#include <algorithm>
#include <set>

#include "container/image/byte_code.h"
#include "container/image/library_search.h"
#include "tests/container/image_support.h"

namespace belljar {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

constexpr char kSelf[] = "/proc/self/exe";

ElfFile ReadSelf() {
  Result<std::optional<ElfFile>> file = ReadElfFile(kSelf);
  EXPECT_TRUE(file && *file);
  return **file;
}

// Real paths of what the linker has loaded for this very program, without the linker itself.
std::set<std::string> Loaded() {
  std::set<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        const std::string path = info->dlpi_name;
        if (path.find('/') != path.npos) {
          static_cast<std::set<std::string>*>(into)->insert(fs::canonical(path));
        }
        return 0;
      },
      &paths);
  return paths;
}

TEST(ImageElf, AProgramSaysWhatItNeeds) {
  const ElfFile self = ReadSelf();
  EXPECT_TRUE(fs::exists(self.interpreter)) << self.interpreter;
  EXPECT_NE(std::find(self.needed.begin(), self.needed.end(), "libc.so.6"), self.needed.end());
  EXPECT_NE(ArchitectureName(self.kind), "");
}

TEST(ImageElf, OtherFilesAreNone) {
  const TestFolder folder;
  for (const std::string& content : {""s, "x"s, "#!/bin/sh\n"s, "!<arch>\nnot really"s}) {
    WriteText(folder.File("x"), content);
    const Result<std::optional<ElfFile>> file = ReadElfFile(folder.File("x"));
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->has_value()) << content;
  }
  EXPECT_FALSE(ReadElfFile(folder.File("nothing")));
}

TEST(ImageElf, DamageIsAnErrorOrLessAndNeverACrash) {
  const TestFolder folder;
  const std::string whole = ReadText(kSelf).substr(0, 1 << 16);
  for (size_t size = 4; size < whole.size(); size = size * 2 + 1) {
    WriteText(folder.File("x"), whole.substr(0, size));
    (void)ReadElfFile(folder.File("x"));
  }
  for (size_t at = 4; at < 1024; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(0xff);
    WriteText(folder.File("x"), bytes);
    (void)ReadElfFile(folder.File("x"));
  }
}

TEST(ImageElf, AProgramRunsWithoutWhatIsNeverLoaded) {
  const TestFolder folder;
  const std::string whole = ReadText(kSelf);
  const std::string less = WithoutDebugSections(whole);
  EXPECT_LT(less.size(), whole.size());
  EXPECT_EQ(WithoutDebugSections(less), less);
  WriteText(folder.File("less"), less);
  chmod(folder.File("less").c_str(), 0700);
  const Result<std::optional<ElfFile>> file = ReadElfFile(folder.File("less"));
  ASSERT_TRUE(file && *file);
  EXPECT_EQ((*file)->needed, ReadSelf().needed);
  const std::string command = folder.File("less") + " --gtest_list_tests >" + folder.File("out");
  EXPECT_EQ(std::system(command.c_str()), 0);
  for (const std::string& other : {""s,
                                   "\x7f"s
                                   "ELF"s,
                                   whole.substr(0, 64), std::string(100, 'x')}) {
    EXPECT_EQ(WithoutDebugSections(other), other);
  }
}

TEST(ImageLibraries, AreThoseThatTheLinkerLoaded) {
  const Result<LibrarySearch> search = LibrarySearch::OfThisMachine();
  ASSERT_TRUE(search) << search.error().ToString();
  const Result<LinkedLibraries> linked = FindLinkedLibraries({kSelf}, *search);
  ASSERT_TRUE(linked) << linked.error().ToString();
  EXPECT_TRUE(linked->missing.empty());
  std::set<std::string> found;
  for (const auto& [name, path] : linked->paths) found.insert(fs::canonical(path));
  // The linker is one of both only where a library names it.
  const std::string linker = fs::canonical(ReadSelf().interpreter);
  found.insert(linker);
  std::set<std::string> loaded = Loaded();
  loaded.insert(linker);
  EXPECT_EQ(found, loaded);
}

TEST(ImageLibraries, FoldersOfTheFileComeFirstAndOnlyOnesOfItsKind) {
  const TestFolder folder;
  const ElfFile self = ReadSelf();
  fs::create_directory(folder.File("mine"));
  const Result<LibrarySearch> machine = LibrarySearch::OfThisMachine();
  ASSERT_TRUE(machine);
  const std::string libc = machine->Find("libc.so.6", self, kSelf, {});
  fs::copy_file(libc, folder.File("mine/libc.so.6"));
  WriteText(folder.File("libc.so.6"), "no library");
  const std::string object = folder.File("mine/object.so");
  WriteText(object, "");

  ElfFile asking{.kind = self.kind, .interpreter = "", .needed = {}, .rpath = {}, .runpath = {}};
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {}), libc);
  asking.rpath = {"$ORIGIN"};
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {}), folder.File("mine/libc.so.6"));
  asking.rpath = {"${ORIGIN}/.."};
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {}), libc) << "what is no library is passed";
  // With DT_RUNPATH, neither its own DT_RPATH counts nor that of what loaded it.
  asking.rpath = {"$ORIGIN"};
  asking.runpath = {"/nowhere"};
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {folder.File("mine")}), libc);
  asking.runpath.clear();
  asking.rpath.clear();
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {folder.File("mine")}),
            folder.File("mine/libc.so.6"));
  asking.kind.machine += 1;
  EXPECT_EQ(machine->Find("libc.so.6", asking, object, {}), "") << "of another processor";
  asking.kind = self.kind;
  EXPECT_EQ(machine->Find("libof-nobody.so.1", asking, object, {}), "");
}

TEST(ImageLibraries, WhatIsMissingIsNamedWithWhoNeedsIt) {
  const Result<LinkedLibraries> linked =
      FindLinkedLibraries({kSelf}, LibrarySearch(LoaderCache(), {"/nowhere"}));
  ASSERT_TRUE(linked);
  ASSERT_FALSE(linked->missing.empty());
  EXPECT_EQ(linked->missing[0].needed_by, kSelf);
}

TEST(ImageLibraries, TheLinkersCacheIsReadAndDamageOfItSeen) {
  if (!fs::exists("/etc/ld.so.cache")) GTEST_SKIP() << "this system has none";
  const std::string bytes = ReadText("/etc/ld.so.cache");
  const Result<LoaderCache> cache = LoaderCache::Parse(bytes);
  ASSERT_TRUE(cache) << cache.error().ToString();
  ASSERT_FALSE(cache->Find("libc.so.6").empty());
  EXPECT_TRUE(fs::exists(cache->Find("libc.so.6")[0]));
  EXPECT_TRUE(cache->Find("libof-nobody.so.1").empty());

  // The older part before it, as glibc of some distributions writes it.
  const std::string older = "ld.so-1.7.0\0\1\0\0\0"s + std::string(16, 'e');
  const Result<LoaderCache> both = LoaderCache::Parse(older + bytes);
  ASSERT_TRUE(both) << both.error().ToString();
  EXPECT_EQ(both->Find("libc.so.6"), cache->Find("libc.so.6"));

  for (size_t size = 0; size < bytes.size() / 2; size += 101) {
    EXPECT_FALSE(LoaderCache::Parse(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(LoaderCache::Parse("something else"));
}

// PEP 552: magic, flags, time and size of the source.
std::string ByteCode(char flags) {
  return "\xa7\r\r\n"s + flags + "\0\0\0"s + "time"s + "size"s + "code"s;
}

TEST(ImageByteCode, IsMarkedAsWhatIsTakenWithoutALookAtTheSource) {
  const SourceStamp stamp{0x656d6974, 0x657a6973};  // "time", "size", the lowest byte first
  const std::string unchecked = "\xa7\r\r\n"s + "\1\0\0\0"s + std::string(8, '\0') + "code";
  EXPECT_EQ(UncheckedByteCode(ByteCode(0), stamp), unchecked);
  EXPECT_EQ(UncheckedByteCode(unchecked, stamp), unchecked);
  EXPECT_EQ(UncheckedByteCode(ByteCode(0), {stamp.modified + 1, stamp.size}), std::nullopt);
  EXPECT_EQ(UncheckedByteCode(ByteCode(0), {stamp.modified, stamp.size + 1}), std::nullopt);
  EXPECT_EQ(UncheckedByteCode(ByteCode(3), stamp), std::nullopt) << "checked by hash";
  EXPECT_EQ(UncheckedByteCode("short", stamp), std::nullopt);
  EXPECT_EQ(CacheTag(), "cpython-311");
}

}  // namespace
}  // namespace belljar
