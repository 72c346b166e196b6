// What RunscEngine asks of runsc, and what its store takes of an image. With runsc itself:
// real_engines_test.
#include "container/runsc/runsc_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/runsc/runsc_store.h"
#include "tests/container/image_parts.h"
#include "tests/container/probe_image.h"
#include "tests/support/support.h"

namespace belljar::container::runsc::runsc_engine_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

core::Result<std::string> Load(RunscStore& store, const std::string& tar) {
  const core::Result<core::UniqueFd> file = core::CreateMemoryFile("image", tar);
  return file ? store.Load(file->get(), {}) : file.error();
}

size_t Entries(const std::string& folder) {
  size_t entries = 0;
  for (auto it = fs::directory_iterator(folder); it != fs::directory_iterator(); ++it) ++entries;
  return entries;
}

TEST(BundleConfig, GivesAContainerNothing) {
  const Json config =
      Json::parse(BundleConfig({.command = {"/guest"},
                                .labels = {{"a", "b"}},
                                .folders = {{.path = "/tmp", .size = core::Bytes::Mebi(8)}},
                                .memory = core::Bytes::Mebi(64),
                                .cpus = 0.5,
                                .pids = 70},
                               "/root", "id", false));
  EXPECT_EQ(config["process"]["user"], Json::parse(R"({"uid":65534,"gid":65534})"));
  EXPECT_EQ(config["process"]["capabilities"], Json::object());
  EXPECT_EQ(config["process"]["noNewPrivileges"], true);
  EXPECT_EQ(config["root"], Json::parse(R"({"path":"/root","readonly":true})"));
  EXPECT_EQ(config["linux"]["resources"]["memory"]["limit"], 64 << 20);
  EXPECT_EQ(config["linux"]["resources"]["memory"]["swap"], 64 << 20);
  EXPECT_EQ(config["linux"]["resources"]["pids"]["limit"], 70);
  EXPECT_EQ(config["linux"]["resources"]["cpu"]["quota"], 50'000);
  EXPECT_EQ(config["annotations"]["a"], "b");
  for (const Json& mount : config["mounts"]) EXPECT_NE(mount["type"], "bind");
}

TEST(BundleConfig, WithoutRootThereAreNoLimitsToAskFor) {
  const Json config = Json::parse(BundleConfig({.command = {"/guest"}}, "/root", "id", true));
  EXPECT_FALSE(config["linux"].contains("resources"));
  EXPECT_EQ(config["process"]["user"]["uid"], 0);
  EXPECT_EQ(config["process"]["capabilities"], Json::object());
}

TEST(RunscStore, KeepsAnImageOnce) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  ASSERT_TRUE(Load(store, tests::ProbeImage()));
  ASSERT_TRUE(Load(store, tests::ProbeImage()));
  EXPECT_EQ(Entries(folder.path()), 1u);
  const core::Result<std::optional<engines::EngineImage>> image = store.Find(tests::kProbeImage);
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->labels.at("belljar.profile"), "probe");
  EXPECT_GT((*image)->size.count, fs::file_size(store.RootOf(**image) + "/probe"));
  ASSERT_TRUE(store.Remove(tests::kProbeImage));
  EXPECT_EQ(Entries(folder.path()), 0u);
}

TEST(RunscStore, UnpacksWhatIsInTheLayerAndNothingElse) {
  const mode_t mask = umask(077);  // a container's user reads all of it none the less
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  const core::Result<std::string> loaded = Load(store, tests::TakeApart().Join());
  umask(mask);
  ASSERT_TRUE(loaded) << loaded.error().ToString();
  const core::Result<std::optional<engines::EngineImage>> image = store.Find(*loaded);
  ASSERT_TRUE(image && *image);
  const std::string root = store.RootOf(**image);
  std::map<std::string, unsigned> modes = {
      {"", static_cast<unsigned>(fs::status(root).permissions())}};
  for (const fs::directory_entry& each : fs::recursive_directory_iterator(root)) {
    modes[each.path().string().substr(root.size())] =
        static_cast<unsigned>(each.symlink_status().permissions());
  }
  const std::map<std::string, unsigned> expected = {
      {"", 0755},     {"/etc", 0755},         {"/etc/passwd", 0444},
      {"/opt", 0755}, {"/opt/belljar", 0755}, {"/opt/belljar/belljar-guest", 0555},
      {"/tmp", 0755}};
  EXPECT_EQ(modes, expected);
  EXPECT_EQ(tests::ReadText(root + "/etc/passwd"), "one line\n");
}

TEST(RunscStore, AReferenceMeansWhatWasLoadedLast) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  const tests::TestFolder archives;
  std::vector<std::string> tars;
  for (const char* const text : {"one", "another"}) {
    tests::Write(archives.File("image.tar"), tests::SmallFiles(text));
    tars.push_back(tests::ReadText(archives.File("image.tar")));
  }
  for (const size_t each : {0, 1, 0}) {
    const core::Result<std::string> reference = Load(store, tars[each]);
    ASSERT_TRUE(reference);
    const core::Result<std::optional<engines::EngineImage>> image = store.Find(*reference);
    ASSERT_TRUE(image && *image);
    EXPECT_EQ(tests::ReadText(store.RootOf(**image) + "/etc/passwd"),
              each == 0 ? "one" : "another");
    const core::Result<std::optional<engines::EngineImage>> same = store.Find((*image)->id);
    ASSERT_TRUE(same && *same);
  }
  EXPECT_EQ(Entries(folder.path()), 2u);
  const core::Result<std::optional<engines::EngineImage>> nameless = store.Find("");
  ASSERT_TRUE(nameless);
  EXPECT_FALSE(*nameless) << "an image that has lost its reference has none";
}

// Each digest is right: only what the layer has is wrong.
TEST(RunscStore, LayersThatLeadOutAreRefusedAndLeaveNothing) {
  const std::string file = tests::TarOf({tests::File("xx/out", "x")});
  const std::pair<std::string, const char*> layers[] = {
      {tests::WithField(file, 0, 0, "../out"), "\"..\""},
      {tests::WithField(file, 0, 0, std::string("/out\0\0", 6)), "/out"},
      {tests::WithField(tests::WithField(file, 0, tests::kTypeField, "2"), 0, tests::kLinkField,
                        "/etc"),
       "symbolic link"},
      {tests::WithField(tests::WithField(file, 0, tests::kTypeField, "1"), 0, tests::kLinkField,
                        "/etc/x"),
       "hard link"},
      {tests::WithField(file, 0, tests::kTypeField, "4"), "device"},
      {tests::WithField(file, 0, tests::kModeField, "0004555"), "setuid"},
      {file, "its parent folder is missing"},
      {tests::TarOf({tests::Folder("xx"), tests::File("xx/out", "x")}), "belljar.inputs"}};
  for (const auto& [layer, words] : layers) {
    const tests::TemporaryFolder folder;
    RunscStore store(folder.path() + "/images");
    tests::Parts parts = tests::TakeApart();
    parts.layer = layer;
    const core::Result<std::string> loaded = Load(store, parts.Follow().Join());
    ASSERT_FALSE(loaded) << words;
    EXPECT_THAT(loaded.error().ToString(), HasSubstr(words));
    EXPECT_EQ(Entries(folder.path() + "/images"), 0u) << words;
    EXPECT_EQ(Entries(folder.path()), 1u) << words;
  }
}

TEST(RunscStore, AConfigurationOfSomebodyElsesIsRefused) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  tests::Parts parts = tests::TakeApart();
  parts.config["config"]["User"] = "0";
  const core::Result<std::string> loaded = Load(store, parts.FollowConfig().Join());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().ToString(), HasSubstr("belljar image build"));
  EXPECT_EQ(Entries(folder.path()), 0u);
}

TEST(RunscStore, AnImageWithADamagedNoteIsNotThereUntilItIsLoadedAgain) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  ASSERT_TRUE(Load(store, tests::ProbeImage()));
  const core::Result<std::optional<engines::EngineImage>> image = store.Find(tests::kProbeImage);
  ASSERT_TRUE(image && *image);
  const std::string note = fs::path(store.RootOf(**image)).parent_path().string() + "/image.json";
  for (const char* const text : {"", "[]", "{\"reference\": 1, \"labels\": {}, \"size\": 1}"}) {
    tests::WriteText(note, text);
    const core::Result<std::optional<engines::EngineImage>> damaged =
        store.Find(tests::kProbeImage);
    ASSERT_TRUE(damaged) << damaged.error().ToString();
    EXPECT_FALSE(*damaged);
    ASSERT_TRUE(Load(store, tests::ProbeImage()));
    const core::Result<std::optional<engines::EngineImage>> mended = store.Find(tests::kProbeImage);
    EXPECT_TRUE(mended && *mended);
  }
}

// As a host leaves them that is killed in the middle of it.
TEST(RunscStore, WhatWasNeverFinishedIsRemovedADayLater) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  const std::string old = folder.path() + "/.new-old";
  const std::string fresh = folder.path() + "/.new-fresh";
  for (const std::string& each : {old, fresh}) fs::create_directories(each + "/root/etc");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(25));
  ASSERT_TRUE(Load(store, tests::ProbeImage()));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "somebody may be at it";
}

TEST(RunscStore, AFolderThatCannotBeReachedIsNamed) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("only root can become somebody else");
  const tests::TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
  RunscStore store(folder.path() + "/images");
  ASSERT_TRUE(store.Find("x"));
  const tests::Death death = tests::InChild([&] {
    if (setuid(65534) != 0) return 2;
    const core::Result<std::optional<engines::EngineImage>> image = store.Find("x");
    const std::string error = image ? "no error" : image.error().ToString();
    return error.find(folder.path()) != error.npos && error.find("HOME") != error.npos ? 0 : 1;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST(RunscStore, WhatIsNoImageIsRefused) {
  const tests::TemporaryFolder folder;
  RunscStore store(folder.path());
  for (const std::string& tar : {std::string(), std::string(4096, 'x'), std::string(10240, '\0')}) {
    EXPECT_FALSE(Load(store, tar));
  }
  EXPECT_FALSE(Load(store, tests::ProbeImage().substr(0, 100'000)));
  EXPECT_EQ(Entries(folder.path()), 0u);
}

TEST(RunscEngine, RunscMissingIsSaidSo) {
  const tests::TemporaryFolder folder;
  RunscEngine engine({.program = "no-such-runsc", .folder = folder.path()});
  const core::Result<engines::EngineFacts> facts = engine.Check();
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().ToString(), HasSubstr("apt-get install runsc"));
}

TEST(RunscEngine, AnImageThatIsMissingIsNamed) {
  const tests::TemporaryFolder folder;
  RunscEngine engine({.folder = folder.path()});
  const core::Result<engines::StartedContainer> container = engine.Start({.image = "none:1"});
  ASSERT_FALSE(container);
  EXPECT_THAT(container.error().ToString(), HasSubstr("belljar image build"));
}

}  // namespace
}  // namespace belljar::container::runsc::runsc_engine_test
