// The one form of tar that images have: what is written is read, and nothing else is.

#include "tests/container/image_support.h"

namespace belljar::container::image::image_tar_test {
namespace {

using std::string_literals::operator""s;

std::string Small() {
  return tests::TarOf({tests::Folder("etc"), tests::File("etc/passwd", "one line\n"),
                       tests::Folder("tmp"), tests::File("x", "")});
}

struct Read {
  std::vector<tests::TestEntry> entries;
  std::vector<uint64_t> places;
};

Read ReadBack(const std::string& bytes) {
  const core::Result<core::UniqueFd> fd = core::CreateMemoryFile("tar", bytes);
  Read read;
  const TarVisitor visitor{.entry = [&](const TarEntry& entry, uint64_t at) -> core::Result<void> {
                             read.entries.push_back({entry, ""});
                             read.places.push_back(at);
                             return {};
                           },
                           .bytes = [&](std::string_view piece) -> core::Result<void> {
                             read.entries.back().content += piece;
                             return {};
                           }};
  const core::Result<TarSummary> done = ReadTar(fd->get(), 0, bytes.size(), visitor);
  EXPECT_TRUE(done) << done.error().ToString();
  return read;
}

TEST(ImageTar, IsReadAsItWasWritten) {
  const std::string large(1'000'001, 'z');
  const std::string bytes = tests::TarOf({tests::Folder("a"),
                                          tests::File("a/large", large),
                                          {{.path = "b", .is_program = true, .size = 2}, "ok"}});
  const Read read = ReadBack(bytes);
  ASSERT_EQ(read.entries.size(), 3u);
  EXPECT_TRUE(read.entries[0].entry.is_folder);
  EXPECT_EQ(read.entries[1].content, large);
  EXPECT_FALSE(read.entries[1].entry.is_program);
  EXPECT_TRUE(read.entries[2].entry.is_program);
  EXPECT_EQ(bytes.substr(read.places[2], 2), "ok");
}

TEST(ImageTar, ALongPathIsDividedAtASlash) {
  const std::string folder = std::string(90, 'f') + "/" + std::string(60, 'g');
  const std::string path = folder + "/" + std::string(99, 'h');
  const std::string bytes = tests::TarOf(
      {tests::Folder(std::string(90, 'f')), tests::Folder(folder), tests::File(path, "deep")});
  EXPECT_EQ(ReadBack(bytes).entries.back().entry.path, path);
}

TEST(ImageTar, APathWithoutRoomIsRefused) {
  EXPECT_NE(EntryFault({.path = std::string(101, 'x')}), "");
  EXPECT_NE(EntryFault({.path = std::string(160, 'x') + "/y"}), "");
  EXPECT_EQ(EntryFault({.path = std::string(100, 'x')}), "");
}

TEST(ImageTar, APathThatLeadsOutIsNeitherWrittenNorRead) {
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "a//b", ".", "a/./b", "a\nb", ""}) {
    EXPECT_NE(EntryFault({.path = path}), "") << path;
    std::string name = path;
    name.resize(100, '\0');
    EXPECT_NE(tests::ReadFault(tests::WithField(tests::TarOf({tests::File("x", "")}), 0, 0, name)),
              "")
        << path;
  }
}

TEST(ImageTar, OnlyFoldersAndPlainFilesAreRead) {
  const std::string good = tests::TarOf({tests::File("x", "")});
  ASSERT_EQ(tests::ReadFault(good), "");
  const std::pair<char, const char*> kinds[] = {{'1', "hard link"},
                                                {'2', "symbolic link"},
                                                {'3', "device"},
                                                {'4', "device"},
                                                {'6', "pipe"},
                                                {'7', "type is not used"},
                                                {'x', "type is not used"},
                                                {'L', "type is not used"}};
  for (const auto& [type, words] : kinds) {
    std::string bytes = tests::WithField(good, 0, tests::kTypeField, std::string(1, type));
    bytes = tests::WithField(bytes, 0, tests::kLinkField, "/etc/shadow");
    EXPECT_NE(tests::ReadFault(bytes).find(words), std::string::npos)
        << type << tests::ReadFault(bytes);
  }
}

TEST(ImageTar, NothingIsSetuidWritableDatedOrSomebodys) {
  const std::string good = tests::TarOf({tests::File("x", "")});
  const std::tuple<size_t, std::string, const char*> fields[] = {
      {tests::kModeField, "0004444", "setuid"},
      {tests::kModeField, "0000644", "writable"},
      {tests::kModeField, "0000400", "permissions"},
      {tests::kUserField, "0001750", "root"},
      {tests::kTimeField, "14000000000", "date"},
      {tests::kUserNameField, "root", "damaged"},
      {tests::kLinkField, "x", "damaged"},
      {257, "ustar ", "damaged"},
      {500, "hidden", "damaged"}};
  for (const auto& [field, content, words] : fields) {
    const std::string fault = tests::ReadFault(tests::WithField(good, 0, field, content));
    EXPECT_NE(fault.find(words), std::string::npos) << field << ": " << fault;
  }
}

TEST(ImageTar, OrderAndFoldersAreAsWritten) {
  EXPECT_NE(tests::ReadFault(tests::TarOf({tests::File("b", ""), tests::File("a", "")})), "");
  EXPECT_NE(tests::ReadFault(tests::TarOf({tests::File("a", ""), tests::File("a", "")})), "");
  EXPECT_NE(tests::ReadFault(tests::TarOf({tests::File("a/b", "")})), "");
  EXPECT_NE(tests::ReadFault(tests::TarOf({tests::File("a", ""), tests::File("a/b", "")})), "")
      << "a file is no folder";
}

TEST(ImageTar, EachFlippedByteIsSeen) {
  const std::string good = Small();
  const size_t content = 2 * tests::kHeader;  // of etc/passwd: the digest of the layer is for that
  for (size_t at = 0; at < good.size(); ++at) {
    if (at >= content && at < content + 9) continue;
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_NE(tests::ReadFault(bytes), "") << at;
  }
}

TEST(ImageTar, CutOrLongerIsSeen) {
  const std::string good = Small();
  for (size_t size = 0; size < good.size(); size += 64) {
    EXPECT_NE(tests::ReadFault(good.substr(0, size)), "") << size;
  }
  EXPECT_NE(tests::ReadFault(good + "x"), "");
  EXPECT_NE(tests::ReadFault(good + std::string(512, '\0')), "");
}

TEST(ImageTar, AFileThatGrowsOrShrinksMeanwhileIsAnError) {
  const tests::TestFolder folder;
  core::UniqueFd fd(open(folder.File("tar").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  TarWriter writer(fd.get());
  ASSERT_TRUE(writer.Begin({.path = "x", .size = 3}));
  EXPECT_FALSE(writer.Append("four"));
  ASSERT_TRUE(writer.Append("tw"));
  EXPECT_FALSE(writer.Begin({.path = "y"}));
  EXPECT_FALSE(writer.Finish());
}

}  // namespace
}  // namespace belljar::container::image::image_tar_test
