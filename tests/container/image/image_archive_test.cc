// Archives: the same again from the same, and every kind of damage seen.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "container/image/archive.h"
#include "engine/host/digest.h"
#include "tests/container/image_parts.h"
#include "tests/container/image_support.h"

namespace belljar::container::image::image_archive_test {
namespace {

using Json = nlohmann::ordered_json;

ImageInspection Inspect(const std::string& bytes) {
  const tests::TestFolder folder;
  tests::WriteText(folder.File("image.tar"), bytes);
  core::Result<ImageInspection> inspection = InspectImage(folder.File("image.tar"), nullptr);
  EXPECT_TRUE(inspection) << inspection.error().ToString();
  return std::move(*inspection);
}

// The one fault of an archive with those bytes; empty: none.
std::string FaultOf(const std::string& bytes) {
  const ImageInspection inspection = Inspect(bytes);
  return inspection.faults.empty() ? "" : inspection.faults[0];
}

#define EXPECT_FAULT(fault, words)                                              \
  do {                                                                          \
    const std::string text = (fault);                                           \
    EXPECT_NE(text.find(words), std::string::npos) << "the fault is: " << text; \
  } while (false)

TEST(ImageArchive, IsWhatWasWritten) {
  const tests::TestFolder folder;
  const ImageFacts facts = tests::Write(folder.File("image.tar"));
  const ImageInspection inspection = Inspect(tests::ReadText(folder.File("image.tar")));
  EXPECT_TRUE(inspection.faults.empty());
  EXPECT_EQ(inspection.facts.identity, facts.identity);
  EXPECT_EQ(inspection.facts.reference, "belljar:1.2.3-data-science_network");
  EXPECT_EQ(inspection.facts.manifest.digest, facts.manifest.digest);
  EXPECT_EQ(inspection.facts.listing, facts.listing);
  ASSERT_EQ(facts.listing.size(), 6u);
  EXPECT_EQ(facts.listing[1].digest, host::Sha256("one line\n"));
  EXPECT_EQ(BytesByPart(facts.listing).at(ImagePart::kPrograms), 7u);
}

TEST(ImageArchive, TheSameFilesGiveTheSameBytes) {
  const tests::TestFolder folder;
  tests::Write(folder.File("one.tar"));
  tests::Write(folder.File("two.tar"));
  EXPECT_EQ(tests::ReadText(folder.File("one.tar")), tests::ReadText(folder.File("two.tar")));
  const ImageFacts other =
      tests::Write(folder.File("three.tar"), tests::SmallFiles("another line\n"));
  EXPECT_NE(tests::ReadText(folder.File("one.tar")), tests::ReadText(folder.File("three.tar")));
  ImageFiles executable = tests::SmallFiles();
  executable.files["etc/passwd"].is_program = true;
  EXPECT_NE(tests::Write(folder.File("four.tar"), executable).identity.inputs,
            other.identity.inputs);
}

TEST(ImageArchive, WhatCannotBeWrittenLeavesWhatWasThere) {
  const tests::TestFolder folder;
  tests::WriteText(folder.File("image.tar"), "before");
  ImageFiles files = tests::SmallFiles();
  files.files["etc/gone"] = {ImageFile::Form::kCopy, folder.File("gone"), "", false};
  EXPECT_FALSE(WriteImage(files, tests::Identity(), folder.File("image.tar"), nullptr));
  EXPECT_EQ(tests::ReadText(folder.File("image.tar")), "before");
  files = tests::SmallFiles();
  files.files["../etc/out"] = {ImageFile::Form::kText, "", "x", false};
  EXPECT_FALSE(WriteImage(files, tests::Identity(), folder.File("image.tar"), nullptr));
  EXPECT_EQ(tests::ReadText(folder.File("image.tar")), "before");
  EXPECT_FALSE(
      WriteImage(tests::SmallFiles(), tests::Identity(), folder.File("no/image.tar"), nullptr));
  EXPECT_FALSE(WriteImage(tests::SmallFiles(), tests::Identity(), folder.path(), nullptr));
  size_t files_here = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files_here;
  }
  EXPECT_EQ(files_here, 1u) << "nothing is left beside it";
}

TEST(ImageArchive, EachFlippedByteIsSeen) {
  const tests::TestFolder folder;
  const std::string path = folder.File("image.tar");
  tests::Write(path);
  const std::string good = tests::ReadText(path);
  for (size_t at = 0; at < good.size(); at += 37) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    tests::WriteText(path, bytes);
    const core::Result<ImageInspection> inspection = InspectImage(path, nullptr);
    ASSERT_TRUE(inspection);
    EXPECT_FALSE(inspection->faults.empty()) << at;
  }
}

TEST(ImageArchive, CutOrLongerIsSeen) {
  const tests::TestFolder folder;
  tests::Write(folder.File("image.tar"));
  const std::string good = tests::ReadText(folder.File("image.tar"));
  for (size_t size = 0; size < good.size(); size += 509) {
    EXPECT_NE(FaultOf(good.substr(0, size)), "") << size;
  }
  EXPECT_FAULT(FaultOf(good + "x"), "after its end");
  EXPECT_NE(FaultOf("no tar at all"), "");
}

TEST(ImageArchive, ABlobUnderAnothersDigestIsSeen) {
  tests::Parts parts = tests::TakeApart();
  parts.more[std::string(kBlobFolder) + "/" + std::string(64, 'a')] = "content";
  EXPECT_FAULT(FaultOf(parts.Join()), "another digest: sha256:");
}

TEST(ImageArchive, WhatIsMissingOrTooMuchIsSeen) {
  tests::Parts parts = tests::TakeApart();
  parts.more["repositories"] = "{}";
  EXPECT_FAULT(FaultOf(parts.Join()), "nothing like \"repositories\"");
  parts = tests::TakeApart();
  parts.more[std::string(kBlobFolder) + "/" + host::Sha256("extra")] = "extra";
  EXPECT_FAULT(FaultOf(parts.Join()), "not part of its image");
  parts = tests::TakeApart();
  parts.index["manifests"][0]["digest"] = "sha256:" + std::string(64, 'b');
  EXPECT_FAULT(FaultOf(parts.Join()), "its manifest is missing");
  EXPECT_FAULT(FaultOf(tests::TarOf({tests::Folder("blobs")})), "there is no index.json");
}

TEST(ImageArchive, WrongSizesInDescriptorsAreSeen) {
  tests::Parts parts = tests::TakeApart();
  parts.index["manifests"][0]["size"] = 1;
  EXPECT_FAULT(FaultOf(parts.Join()), "its manifest has");
  parts = tests::TakeApart();
  parts.manifest["layers"][0]["size"] = 1;
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "its layer has");
  parts = tests::TakeApart();
  parts.manifest["config"]["size"] = -1;
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "size is missing");
}

TEST(ImageArchive, DocumentsThatSayMoreOrOtherThingsAreSeen) {
  const std::pair<const char*, Json> configs[] = {{"User", "0"},
                                                  {"Env", Json::array({"LD_PRELOAD=/tmp/x.so"})},
                                                  {"Entrypoint", Json::array({"/bin/sh"})},
                                                  {"Volumes", {{"/opt", Json::object()}}}};
  for (const auto& [key, value] : configs) {
    tests::Parts parts = tests::TakeApart();
    parts.config["config"][key] = value;
    EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "its configuration differs");
  }
  tests::Parts parts = tests::TakeApart();
  parts.docker[0]["RepoTags"] = Json::array({"debian:latest"});
  EXPECT_FAULT(FaultOf(parts.Join()), "manifest.json differs");
  parts = tests::TakeApart();
  parts.docker.push_back(parts.docker[0]);
  EXPECT_FAULT(FaultOf(parts.Join()), "manifest.json differs");
  parts = tests::TakeApart();
  parts.index["manifests"].push_back(parts.index["manifests"][0]);
  EXPECT_FAULT(FaultOf(parts.Join()), "exactly one image");
  parts = tests::TakeApart();
  parts.manifest["layers"].push_back(parts.manifest["layers"][0]);
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "exactly one layer");
  parts = tests::TakeApart();
  parts.config["config"]["Labels"].erase(kInputsLabel);
  EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "no labels of");
  parts = tests::TakeApart();
  parts.config["rootfs"]["diff_ids"][0] = "sha256:" + std::string(64, 'c');
  EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "name different layers");
  parts = tests::TakeApart();
  parts.index["annotations"] = {{"more", "x"}};
  EXPECT_FAULT(FaultOf(parts.Join()), "index.json differs");
}

TEST(ImageArchive, ALayerWithOtherFilesIsSeenThoughEveryDigestIsRight) {
  EXPECT_FAULT(
      FaultOf(tests::WithLayer({tests::Folder("etc"), tests::File("etc/passwd", "root\n")}).Join()),
      "belljar.inputs");
  tests::Parts parts = tests::TakeApart();
  parts.layer = tests::WithField(parts.layer, 0, tests::kModeField, "0000777");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "is writable");
  parts = tests::TakeApart();
  parts.layer =
      tests::WithField(tests::TarOf({tests::File("su", "")}), 0, tests::kModeField, "0004555");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "setuid");
  parts.layer =
      tests::WithField(tests::TarOf({tests::File("link", "")}), 0, tests::kTypeField, "2");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "symbolic link");
  parts.layer = tests::WithField(tests::TarOf({tests::File("xx/out", "")}), 0, 0, "../out");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "\"..\"");
}

TEST(ImageArchive, WhatIsHeldOfOneIsBounded) {
  std::vector<tests::TestEntry> folders;
  for (int i = 100; i < 164; ++i) folders.push_back(tests::Folder(std::to_string(i)));
  EXPECT_FAULT(FaultOf(tests::TarOf(folders)), "there is no");
  folders.push_back(tests::Folder("more"));
  EXPECT_FAULT(FaultOf(tests::TarOf(folders)), "more files than an image built by Belljar");
}

TEST(ImageArchive, WhatIsNoFileIsTheMachinesAnswer) {
  const tests::TestFolder folder;
  EXPECT_FALSE(InspectImage(folder.File("nothing"), nullptr));
  EXPECT_FALSE(InspectImage(folder.path(), nullptr));
  EXPECT_FALSE(InspectImage("/dev/zero", nullptr));
}

TEST(ImageArchive, IsComparedFileByFile) {
  const tests::TestFolder folder;
  const ImageFacts image = tests::Write(folder.File("image.tar"));
  ImageFiles files = tests::SmallFiles();
  const auto differences = [&] {
    core::Result<ImageListing> here = ListFiles(files, nullptr);
    EXPECT_TRUE(here);
    return CompareImage(image, tests::Identity(), *here);
  };
  EXPECT_TRUE(differences().empty());
  files = tests::SmallFiles("other");
  EXPECT_EQ(differences(), std::vector<std::string>{"/etc/passwd is another"});
  files = tests::SmallFiles();
  files.files.erase("etc/passwd");
  EXPECT_EQ(differences(), std::vector<std::string>{"/etc/passwd is not in this installation"});
  files = tests::SmallFiles();
  files.files["x"] = {ImageFile::Form::kText, "", "x", false};
  EXPECT_EQ(differences(), std::vector<std::string>{"/x is missing"});
  ImageIdentity newer = tests::Identity();
  newer.version = "2.0.0";
  const std::vector<std::string> of_version =
      CompareImage(image, newer, *ListFiles(tests::SmallFiles(), nullptr));
  EXPECT_EQ(of_version, std::vector<std::string>{"it is of Belljar 1.2.3, and here is 2.0.0"});
}

}  // namespace
}  // namespace belljar::container::image::image_archive_test
