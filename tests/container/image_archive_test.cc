// Archives: the same again from the same, and every kind of damage seen.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "container/image/archive.h"
#include "engine/core/digest.h"
#include "tests/container/image_parts.h"
#include "tests/container/image_support.h"

namespace belljar {
namespace {

using Json = nlohmann::ordered_json;

ImageInspection Inspect(const std::string& bytes) {
  const TestFolder folder;
  WriteText(folder.File("image.tar"), bytes);
  Result<ImageInspection> inspection = InspectImage(folder.File("image.tar"), nullptr);
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
  const TestFolder folder;
  const ImageFacts facts = Write(folder.File("image.tar"));
  const ImageInspection inspection = Inspect(ReadText(folder.File("image.tar")));
  EXPECT_TRUE(inspection.faults.empty());
  EXPECT_EQ(inspection.facts.identity, facts.identity);
  EXPECT_EQ(inspection.facts.reference, "belljar:1.2.3-data-science_network");
  EXPECT_EQ(inspection.facts.manifest.digest, facts.manifest.digest);
  EXPECT_EQ(inspection.facts.listing, facts.listing);
  ASSERT_EQ(facts.listing.size(), 6u);
  EXPECT_EQ(facts.listing[1].digest, Sha256("one line\n"));
  EXPECT_EQ(BytesByPart(facts.listing).at(ImagePart::kPrograms), 7u);
}

TEST(ImageArchive, TheSameFilesGiveTheSameBytes) {
  const TestFolder folder;
  Write(folder.File("one.tar"));
  Write(folder.File("two.tar"));
  EXPECT_EQ(ReadText(folder.File("one.tar")), ReadText(folder.File("two.tar")));
  const ImageFacts other = Write(folder.File("three.tar"), SmallFiles("another line\n"));
  EXPECT_NE(ReadText(folder.File("one.tar")), ReadText(folder.File("three.tar")));
  ImageFiles executable = SmallFiles();
  executable.files["etc/passwd"].is_program = true;
  EXPECT_NE(Write(folder.File("four.tar"), executable).identity.inputs, other.identity.inputs);
}

TEST(ImageArchive, WhatCannotBeWrittenLeavesWhatWasThere) {
  const TestFolder folder;
  WriteText(folder.File("image.tar"), "before");
  ImageFiles files = SmallFiles();
  files.files["etc/gone"] = {ImageFile::Form::kCopy, folder.File("gone"), "", false};
  EXPECT_FALSE(WriteImage(files, Identity(), folder.File("image.tar"), nullptr));
  EXPECT_EQ(ReadText(folder.File("image.tar")), "before");
  files = SmallFiles();
  files.files["../etc/out"] = {ImageFile::Form::kText, "", "x", false};
  EXPECT_FALSE(WriteImage(files, Identity(), folder.File("image.tar"), nullptr));
  EXPECT_EQ(ReadText(folder.File("image.tar")), "before");
  EXPECT_FALSE(WriteImage(SmallFiles(), Identity(), folder.File("no/image.tar"), nullptr));
  EXPECT_FALSE(WriteImage(SmallFiles(), Identity(), folder.path(), nullptr));
  size_t files_here = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files_here;
  }
  EXPECT_EQ(files_here, 1u) << "nothing is left beside it";
}

TEST(ImageArchive, EachFlippedByteIsSeen) {
  const TestFolder folder;
  const std::string path = folder.File("image.tar");
  Write(path);
  const std::string good = ReadText(path);
  for (size_t at = 0; at < good.size(); at += 37) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    WriteText(path, bytes);
    const Result<ImageInspection> inspection = InspectImage(path, nullptr);
    ASSERT_TRUE(inspection);
    EXPECT_FALSE(inspection->faults.empty()) << at;
  }
}

TEST(ImageArchive, CutOrLongerIsSeen) {
  const TestFolder folder;
  Write(folder.File("image.tar"));
  const std::string good = ReadText(folder.File("image.tar"));
  for (size_t size = 0; size < good.size(); size += 509) {
    EXPECT_NE(FaultOf(good.substr(0, size)), "") << size;
  }
  EXPECT_FAULT(FaultOf(good + "x"), "behind its end");
  EXPECT_NE(FaultOf("no tar at all"), "");
}

TEST(ImageArchive, ABlobUnderAnothersDigestIsSeen) {
  Parts parts = TakeApart();
  parts.more[std::string(kBlobFolder) + "/" + std::string(64, 'a')] = "content";
  EXPECT_FAULT(FaultOf(parts.Join()), "another digest: sha256:");
}

TEST(ImageArchive, WhatIsMissingOrTooMuchIsSeen) {
  Parts parts = TakeApart();
  parts.more["repositories"] = "{}";
  EXPECT_FAULT(FaultOf(parts.Join()), "nothing like \"repositories\"");
  parts = TakeApart();
  parts.more[std::string(kBlobFolder) + "/" + Sha256("extra")] = "extra";
  EXPECT_FAULT(FaultOf(parts.Join()), "no part of its image");
  parts = TakeApart();
  parts.index["manifests"][0]["digest"] = "sha256:" + std::string(64, 'b');
  EXPECT_FAULT(FaultOf(parts.Join()), "its manifest is not there");
  EXPECT_FAULT(FaultOf(TarOf({Folder("blobs")})), "there is no index.json");
}

TEST(ImageArchive, WrongSizesInDescriptorsAreSeen) {
  Parts parts = TakeApart();
  parts.index["manifests"][0]["size"] = 1;
  EXPECT_FAULT(FaultOf(parts.Join()), "its manifest has");
  parts = TakeApart();
  parts.manifest["layers"][0]["size"] = 1;
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "its layer has");
  parts = TakeApart();
  parts.manifest["config"]["size"] = -1;
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "size is missing");
}

TEST(ImageArchive, DocumentsThatSayMoreOrOtherThingsAreSeen) {
  const std::pair<const char*, Json> configs[] = {{"User", "0"},
                                                  {"Env", Json::array({"LD_PRELOAD=/tmp/x.so"})},
                                                  {"Entrypoint", Json::array({"/bin/sh"})},
                                                  {"Volumes", {{"/opt", Json::object()}}}};
  for (const auto& [key, value] : configs) {
    Parts parts = TakeApart();
    parts.config["config"][key] = value;
    EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "its configuration says other things");
  }
  Parts parts = TakeApart();
  parts.docker[0]["RepoTags"] = Json::array({"debian:latest"});
  EXPECT_FAULT(FaultOf(parts.Join()), "manifest.json says other things");
  parts = TakeApart();
  parts.docker.push_back(parts.docker[0]);
  EXPECT_FAULT(FaultOf(parts.Join()), "manifest.json says other things");
  parts = TakeApart();
  parts.index["manifests"].push_back(parts.index["manifests"][0]);
  EXPECT_FAULT(FaultOf(parts.Join()), "exactly one image");
  parts = TakeApart();
  parts.manifest["layers"].push_back(parts.manifest["layers"][0]);
  EXPECT_FAULT(FaultOf(parts.FollowManifest().Join()), "exactly one layer");
  parts = TakeApart();
  parts.config["config"]["Labels"].erase(kInputsLabel);
  EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "none of the labels");
  parts = TakeApart();
  parts.config["rootfs"]["diff_ids"][0] = "sha256:" + std::string(64, 'c');
  EXPECT_FAULT(FaultOf(parts.FollowConfig().Join()), "name two layers");
  parts = TakeApart();
  parts.index["annotations"] = {{"more", "x"}};
  EXPECT_FAULT(FaultOf(parts.Join()), "index.json says other things");
}

TEST(ImageArchive, ALayerWithOtherFilesIsSeenThoughEveryDigestIsRight) {
  EXPECT_FAULT(FaultOf(WithLayer({Folder("etc"), File("etc/passwd", "root\n")}).Join()),
               "belljar.inputs");
  Parts parts = TakeApart();
  parts.layer = WithField(parts.layer, 0, kModeField, "0000777");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "can be written to");
  parts = TakeApart();
  parts.layer = WithField(TarOf({File("su", "")}), 0, kModeField, "0004555");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "setuid");
  parts.layer = WithField(TarOf({File("link", "")}), 0, kTypeField, "2");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "symbolic link");
  parts.layer = WithField(TarOf({File("xx/out", "")}), 0, 0, "../out");
  EXPECT_FAULT(FaultOf(parts.Follow().Join()), "\"..\"");
}

TEST(ImageArchive, WhatIsHeldOfOneIsBounded) {
  std::vector<TestEntry> folders;
  for (int i = 100; i < 164; ++i) folders.push_back(Folder(std::to_string(i)));
  EXPECT_FAULT(FaultOf(TarOf(folders)), "there is no");
  folders.push_back(Folder("more"));
  EXPECT_FAULT(FaultOf(TarOf(folders)), "more files than one of ours");
}

TEST(ImageArchive, WhatIsNoFileIsTheMachinesAnswer) {
  const TestFolder folder;
  EXPECT_FALSE(InspectImage(folder.File("nothing"), nullptr));
  EXPECT_FALSE(InspectImage(folder.path(), nullptr));
  EXPECT_FALSE(InspectImage("/dev/zero", nullptr));
}

TEST(ImageArchive, IsComparedFileByFile) {
  const TestFolder folder;
  const ImageFacts image = Write(folder.File("image.tar"));
  ImageFiles files = SmallFiles();
  const auto differences = [&] {
    Result<ImageListing> here = ListFiles(files, nullptr);
    EXPECT_TRUE(here);
    return CompareImage(image, Identity(), *here);
  };
  EXPECT_TRUE(differences().empty());
  files = SmallFiles("other");
  EXPECT_EQ(differences(), std::vector<std::string>{"/etc/passwd is another"});
  files = SmallFiles();
  files.files.erase("etc/passwd");
  EXPECT_EQ(differences(), std::vector<std::string>{"/etc/passwd is not in this installation"});
  files = SmallFiles();
  files.files["x"] = {ImageFile::Form::kText, "", "x", false};
  EXPECT_EQ(differences(), std::vector<std::string>{"/x is missing"});
  ImageIdentity newer = Identity();
  newer.version = "2.0.0";
  const std::vector<std::string> of_version =
      CompareImage(image, newer, *ListFiles(SmallFiles(), nullptr));
  EXPECT_EQ(of_version, std::vector<std::string>{"it is of Belljar 1.2.3, and here is 2.0.0"});
}

}  // namespace
}  // namespace belljar
