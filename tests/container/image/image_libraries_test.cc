// What programs are linked with: read from their files, and as the dynamic linker found it.

#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "container/image/byte_code.h"
#include "container/image/library_search.h"
#include "tests/container/image_support.h"

namespace belljar::container::image::image_libraries_test {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;

constexpr char kSelf[] = "/proc/self/exe";

ElfFile ReadSelf() {
  core::Result<std::optional<ElfFile>> file = ReadElfFile(kSelf);
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
  const tests::TestFolder folder;
  for (const std::string& content : {""s, "x"s, "#!/bin/sh\n"s, "!<arch>\nnot really"s}) {
    tests::WriteText(folder.File("x"), content);
    const core::Result<std::optional<ElfFile>> file = ReadElfFile(folder.File("x"));
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->has_value()) << content;
  }
  EXPECT_FALSE(ReadElfFile(folder.File("nothing")));
}

TEST(ImageElf, DamageIsAnErrorOrLessAndNeverACrash) {
  const tests::TestFolder folder;
  const std::string whole = tests::ReadText(kSelf).substr(0, 1 << 16);
  for (size_t size = 4; size < whole.size(); size = size * 2 + 1) {
    tests::WriteText(folder.File("x"), whole.substr(0, size));
    (void)ReadElfFile(folder.File("x"));
  }
  for (size_t at = 4; at < 1024; ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(0xff);
    tests::WriteText(folder.File("x"), bytes);
    (void)ReadElfFile(folder.File("x"));
  }
}

TEST(ImageElf, AProgramRunsWithoutWhatIsNeverLoaded) {
  const tests::TestFolder folder;
  const std::string whole = tests::ReadText(kSelf);
  const std::string less = WithoutDebugSections(whole);
  EXPECT_LT(less.size(), whole.size());
  EXPECT_EQ(WithoutDebugSections(less), less);
  tests::WriteText(folder.File("less"), less);
  chmod(folder.File("less").c_str(), 0700);
  const core::Result<std::optional<ElfFile>> file = ReadElfFile(folder.File("less"));
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
  const core::Result<LibrarySearch> search = LibrarySearch::OfThisMachine();
  ASSERT_TRUE(search) << search.error().ToString();
  const core::Result<LinkedLibraries> linked = FindLinkedLibraries({kSelf}, *search);
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
  const tests::TestFolder folder;
  const ElfFile self = ReadSelf();
  fs::create_directory(folder.File("mine"));
  const core::Result<LibrarySearch> machine = LibrarySearch::OfThisMachine();
  ASSERT_TRUE(machine);
  const std::string libc = machine->Find("libc.so.6", self, kSelf, {});
  fs::copy_file(libc, folder.File("mine/libc.so.6"));
  tests::WriteText(folder.File("libc.so.6"), "no library");
  const std::string object = folder.File("mine/object.so");
  tests::WriteText(object, "");

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
  const core::Result<LinkedLibraries> linked =
      FindLinkedLibraries({kSelf}, LibrarySearch(LoaderCache(), {"/nowhere"}));
  ASSERT_TRUE(linked);
  ASSERT_FALSE(linked->missing.empty());
  EXPECT_EQ(linked->missing[0].needed_by, kSelf);
}

// A small shared library that needs `name` and looks for it in `runpath`.
std::string LibraryThatNeeds(const std::string& name, const std::string& runpath) {
  const std::string strings = "\0"s + name + "\0"s + runpath + "\0"s;
  const size_t run_at = 1 + name.size() + 1;
  Elf64_Ehdr header{};
  const ElfKind kind = ReadSelf().kind;
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = static_cast<Elf64_Half>(kind.machine);
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Dyn entries[5] = {};
  Elf64_Phdr segments[2] = {};
  const size_t dynamic_at = sizeof header + sizeof segments;
  const size_t strings_at = dynamic_at + sizeof entries;
  entries[0] = {.d_tag = DT_STRTAB, .d_un = {.d_ptr = strings_at}};
  entries[1] = {.d_tag = DT_STRSZ, .d_un = {.d_val = strings.size()}};
  entries[2] = {.d_tag = DT_NEEDED, .d_un = {.d_val = 1}};
  entries[3] = {.d_tag = DT_RUNPATH, .d_un = {.d_val = run_at}};
  segments[0].p_type = PT_LOAD;
  segments[0].p_filesz = segments[0].p_memsz = strings_at + strings.size();
  segments[1].p_type = PT_DYNAMIC;
  segments[1].p_offset = segments[1].p_vaddr = dynamic_at;
  segments[1].p_filesz = segments[1].p_memsz = sizeof entries;
  const auto bytes = [](const auto& part) {
    return std::string(reinterpret_cast<const char*>(&part), sizeof part);
  };
  return bytes(header) + bytes(segments) + bytes(entries) + strings;
}

TEST(ImageLibraries, AnUntrustedFoldersSearchPathsStayInIt) {
  const tests::TestFolder folder;
  fs::create_directories(folder.File("site/libs"));
  fs::create_directory(folder.File("private"));
  const core::Result<LibrarySearch> machine = LibrarySearch::OfThisMachine();
  ASSERT_TRUE(machine);
  const std::string libc = machine->Find("libc.so.6", ReadSelf(), kSelf, {});
  fs::copy_file(libc, folder.File("private/libsecret.so"));
  fs::copy_file(libc, folder.File("site/libs/libown.so"));
  const std::string object = folder.File("site/object.so");
  const std::string site = fs::canonical(folder.File("site"));
  const auto found = [&](const std::string& name, const std::string& runpath,
                         const std::vector<std::string>& untrusted) {
    tests::WriteText(object, LibraryThatNeeds(name, runpath));
    const core::Result<LinkedLibraries> linked = FindLinkedLibraries({object}, *machine, untrusted);
    EXPECT_TRUE(linked) << linked.error().ToString();
    return linked && linked->paths.contains(name);
  };
  const std::string secret = folder.File("private/libsecret.so");
  const std::pair<std::string, std::string> leads[] = {
      {"libsecret.so", folder.File("private")},
      {"libsecret.so", "$ORIGIN/../private"},
      {"libsecret.so", "$ORIGIN/libs/../../private"},
      {secret, "$ORIGIN"}};
  for (const auto& [name, runpath] : leads) {
    EXPECT_TRUE(found(name, runpath, {})) << "the control: " << runpath;
    EXPECT_FALSE(found(name, runpath, {site})) << name << " by " << runpath;
  }
  EXPECT_TRUE(found("libown.so", "$ORIGIN/libs", {site}));
  EXPECT_TRUE(found("libc.so.6", "/nowhere", {site})) << "the machine's own";
}

TEST(ImageLibraries, TheLinkersCacheIsReadAndDamageOfItSeen) {
  if (!fs::exists("/etc/ld.so.cache")) GTEST_SKIP() << "this system has none";
  const std::string bytes = tests::ReadText("/etc/ld.so.cache");
  const core::Result<LoaderCache> cache = LoaderCache::Parse(bytes);
  ASSERT_TRUE(cache) << cache.error().ToString();
  ASSERT_FALSE(cache->Find("libc.so.6").empty());
  EXPECT_TRUE(fs::exists(cache->Find("libc.so.6")[0]));
  EXPECT_TRUE(cache->Find("libof-nobody.so.1").empty());

  // The older part before it, as glibc of some distributions writes it.
  const std::string older = "ld.so-1.7.0\0\1\0\0\0"s + std::string(16, 'e');
  const core::Result<LoaderCache> both = LoaderCache::Parse(older + bytes);
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
}  // namespace belljar::container::image::image_libraries_test
