// What RunscEngine asks of runsc, and what its store takes of an image. With runsc itself:
// real_engines_test.
#include "container/engines/runsc_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "container/engines/runsc_store.h"
#include "tests/container/probe_image.h"
#include "tests/engine/support.h"

namespace belljar {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

Result<std::string> Load(RunscStore& store, const std::string& tar) {
  const Result<UniqueFd> file = CreateMemoryFile("image", tar);
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
                                .folders = {{.path = "/tmp", .size = Bytes::Mebi(8)}},
                                .memory = Bytes::Mebi(64),
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
  const TemporaryFolder folder;
  RunscStore store(folder.path());
  ASSERT_TRUE(Load(store, ProbeImage()));
  ASSERT_TRUE(Load(store, ProbeImage()));
  EXPECT_EQ(Entries(folder.path()), 1u);
  const Result<std::optional<EngineImage>> image = store.Find(kProbeImage);
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->labels.at("dev.belljar.test"), "probe");
  EXPECT_TRUE(fs::is_regular_file(store.RootOf(**image) + "/probe"));
  ASSERT_TRUE(store.Remove(kProbeImage));
  EXPECT_EQ(Entries(folder.path()), 0u);
}

TEST(RunscStore, LayersThatLeadOutAreRefusedAndLeaveNothing) {
  for (const char* const name : {"../out", "/out", "a/../../out", "tmp/.wh.probe"}) {
    const TemporaryFolder folder;
    RunscStore store(folder.path() + "/images");
    const Result<std::string> loaded = Load(store, ProbeImage({{name, "x", '0', ""}}));
    ASSERT_FALSE(loaded) << name;
    EXPECT_THAT(loaded.error().ToString(), HasSubstr(name));
    EXPECT_EQ(Entries(folder.path() + "/images"), 0u);
    EXPECT_EQ(Entries(folder.path()), 1u) << name;
  }
}

TEST(RunscStore, LinksAreNotFollowedOut) {
  const TemporaryFolder folder;
  const TemporaryFolder outside;
  RunscStore store(folder.path());
  const Result<std::string> loaded =
      Load(store, ProbeImage({{"out", "", '2', outside.path()}, {"out/file", "x", '0', ""}}));
  EXPECT_EQ(Entries(outside.path()), 0u);
  const Result<std::string> linked = Load(store, ProbeImage({{"file", "", '1', "../../etc/x"}}));
  EXPECT_FALSE(linked);
  const Result<std::string> device = Load(store, ProbeImage({{"disk", "", '4', ""}}));
  EXPECT_FALSE(device);
}

TEST(RunscStore, WhatIsNoImageIsRefused) {
  const TemporaryFolder folder;
  RunscStore store(folder.path());
  for (const std::string& tar : {std::string(), std::string(4096, 'x'), std::string(10240, '\0')}) {
    EXPECT_FALSE(Load(store, tar));
  }
  EXPECT_FALSE(Load(store, ProbeImage().substr(0, 100'000)));
  EXPECT_EQ(Entries(folder.path()), 0u);
}

TEST(RunscEngine, RunscMissingIsSaidSo) {
  const TemporaryFolder folder;
  RunscEngine engine({.program = "no-such-runsc", .folder = folder.path()});
  const Result<EngineFacts> facts = engine.Check();
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().ToString(), HasSubstr("apt-get install runsc"));
}

TEST(RunscEngine, AnImageThatIsMissingIsNamed) {
  const TemporaryFolder folder;
  RunscEngine engine({.folder = folder.path()});
  const Result<StartedContainer> container = engine.Start({.image = "none:1"});
  ASSERT_FALSE(container);
  EXPECT_THAT(container.error().ToString(), HasSubstr("belljar image build"));
}

}  // namespace
}  // namespace belljar
