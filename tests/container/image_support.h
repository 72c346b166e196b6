// Small images of texts, for tests, and what they are unpacked into.
#ifndef BELLJAR_TESTS_CONTAINER_IMAGE_SUPPORT_H_
#define BELLJAR_TESTS_CONTAINER_IMAGE_SUPPORT_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "container/image/tar.h"
#include "engine/core/fd.h"

namespace belljar::tests {

class TestFolder {
 public:
  TestFolder() {
    path_ = std::filesystem::temp_directory_path() / "belljar-image-test-XXXXXX";
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ~TestFolder() {
    std::error_code code;
    // Folders of an image are nobody's to write, whoever unpacked them.
    for (std::filesystem::recursive_directory_iterator entries(path_, code), end;
         !code && entries != end; entries.increment(code)) {
      if (entries->is_directory(code) && !entries->is_symlink(code)) {
        std::filesystem::permissions(entries->path(), std::filesystem::perms::owner_all, code);
      }
    }
    std::filesystem::remove_all(path_, code);
  }

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string ReadText(const std::string& path) {
  core::Result<std::string> text = core::ReadFile(path, size_t{1} << 30);
  EXPECT_TRUE(text) << path;
  return text ? std::move(*text) : "";
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct TestEntry {
  container::image::TarEntry entry;
  std::string content;
};

// The tar of `entries`, as the writer makes it.
inline std::string TarOf(const std::vector<TestEntry>& entries) {
  const TestFolder folder;
  const std::string path = folder.File("tar");
  core::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  container::image::TarWriter writer(fd.get());
  for (const TestEntry& each : entries) {
    EXPECT_TRUE(writer.Begin(each.entry)) << each.entry.path;
    EXPECT_TRUE(writer.Append(each.content));
  }
  EXPECT_TRUE(writer.Finish());
  return ReadText(path);
}

inline TestEntry Folder(const std::string& path) { return {{.path = path, .is_folder = true}, ""}; }
inline TestEntry File(const std::string& path, const std::string& content) {
  return {{.path = path, .size = content.size()}, content};
}

// What the reader says of `bytes`; empty: nothing is wrong.
inline std::string ReadFault(const std::string& bytes) {
  const core::Result<core::UniqueFd> fd = core::CreateMemoryFile("tar", bytes);
  EXPECT_TRUE(fd);
  const container::image::TarVisitor visitor{
      .entry = [](const container::image::TarEntry&, uint64_t) -> core::Result<void> { return {}; },
      .bytes = [](std::string_view) -> core::Result<void> { return {}; }};
  const core::Result<container::image::TarSummary> read =
      container::image::ReadTar(fd->get(), 0, bytes.size(), visitor);
  if (read) return "";
  EXPECT_EQ(read.error().error_number, 0) << "it is not the machine's";
  return read.error().ToString();
}

// Offsets of fields of a ustar header.
inline constexpr size_t kModeField = 100;
inline constexpr size_t kUserField = 108;
inline constexpr size_t kTimeField = 136;
inline constexpr size_t kChecksumField = 148;
inline constexpr size_t kTypeField = 156;
inline constexpr size_t kLinkField = 157;
inline constexpr size_t kUserNameField = 265;
inline constexpr size_t kHeader = 512;

// `bytes` with other `content` in a field of the header at `header`, and the sum that makes it
// right again for everybody who only looks at that.
inline std::string WithField(std::string bytes, size_t header, size_t field,
                             const std::string& content) {
  bytes.replace(header + field, content.size(), content);
  bytes.replace(header + kChecksumField, 8, 8, ' ');
  unsigned sum = 0;
  for (size_t i = 0; i < kHeader; ++i) sum += static_cast<unsigned char>(bytes[header + i]);
  char text[8];
  snprintf(text, sizeof text, "%06o", sum);
  bytes.replace(header + kChecksumField, 7, std::string(text, 7));
  return bytes;
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_IMAGE_SUPPORT_H_
