// Which engine, runtime and image a run in a container takes, and what is said where there is none:
// against engines that answer what a test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "container/backend/container_choice.h"
#include "container/image/documents.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/version.h"
#include "tests/container/fake_engine.h"
#include "tests/engine/support.h"

namespace belljar {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kDigest = "sha256:" + std::string(64, 'b');

using Labels = std::map<std::string, std::string>;

Labels OwnLabels() {
  return {{kVersionLabel, kBelljarVersion},
          {kPythonLabel, kPythonVersion},
          {kProfileLabel, "basic"},
          {kInputsLabel, std::string(64, 'c')}};
}

struct Described {
  std::vector<std::string> runtimes = {"runc", "runsc"};
  std::optional<Labels> image = OwnLabels();
  bool is_podman = false;
  bool limits = true;
};

FakeEngine::Answer Engine(const Described& described) {
  return [described](const FakeRequest& request, int) {
    const auto asks = [&](const char* part) {
      return request.line.find(part) != std::string::npos;
    };
    if (asks("/version")) {
      Json version = {{"Version", "20.10.24"}, {"ApiVersion", "1.41"}};
      if (described.is_podman) version["Components"] = {{{"Name", "Podman Engine"}}};
      return HttpAnswer(200, version.dump());
    }
    if (asks("/info")) {
      Json runtimes = Json::object();
      for (const std::string& name : described.runtimes) runtimes[name] = Json::object();
      return HttpAnswer(200, Json{{"DefaultRuntime", described.runtimes.front()},
                                  {"Runtimes", runtimes},
                                  {"MemoryLimit", described.limits},
                                  {"PidsLimit", true},
                                  {"CpuCfsQuota", true}}
                                 .dump());
    }
    if (!described.image) return HttpAnswer(404, R"({"message":"No such image"})");
    return HttpAnswer(
        200, Json{{"Id", kDigest}, {"Config", {{"Labels", *described.image}}}, {"Size", 1}}.dump());
  };
}

ContainerWish WishFor(const FakeEngine& engine) {
  ContainerWish wish;
  wish.engine = "docker";
  wish.socket = engine.socket();
  return wish;
}

std::string ErrorOf(const ContainerWish& wish) {
  const Result<ContainerChoice> choice = ChooseContainer(wish, BasicProfile());
  return choice ? "no error: " + choice->runtime : choice.error().ToString();
}

std::string RuntimeOf(const ContainerWish& wish) {
  const Result<ContainerChoice> choice = ChooseContainer(wish, BasicProfile());
  return choice ? choice->runtime : choice.error().ToString();
}

// --- runtimes ---------------------------------------------------------------------------------

TEST(ContainerRuntime, GvisorWhereItIs) {
  FakeEngine engine(Engine({}));
  EXPECT_EQ(RuntimeOf(WishFor(engine)), "runsc");
  ContainerWish wish = WishFor(engine);
  wish.runtime = "runc";
  EXPECT_EQ(RuntimeOf(wish), "runc");
  wish.runtime = "runsc";
  wish.require_gvisor = true;
  EXPECT_EQ(RuntimeOf(wish), "runsc");
}

TEST(ContainerRuntime, RuncElse) {
  FakeEngine engine(Engine({.runtimes = {"io.containerd.runc.v2", "runc"}}));
  EXPECT_EQ(RuntimeOf(WishFor(engine)), "runc");
}

TEST(ContainerRuntime, PodmansIsNamedForWhatItIs) {
  FakeEngine engine(Engine({.runtimes = {"crun"}, .is_podman = true}));
  ContainerWish wish = WishFor(engine);
  wish.engine = "podman";
  wish.runtime = "runc";
  const Result<ContainerChoice> choice = ChooseContainer(wish, BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_EQ(choice->runtime, "crun");
  EXPECT_EQ(choice->facts.name, "Podman Engine");
}

TEST(ContainerRuntime, GvisorThatIsRequiredAndNotThere) {
  FakeEngine engine(Engine({.runtimes = {"runc"}}));
  ContainerWish wish = WishFor(engine);
  wish.require_gvisor = true;
  EXPECT_THAT(ErrorOf(wish), AllOf(HasSubstr("gVisor is required"), HasSubstr("has runc"),
                                   HasSubstr("daemon.json")));
  wish.require_gvisor = false;
  wish.runtime = "runsc";
  EXPECT_THAT(ErrorOf(wish), AllOf(HasSubstr("runsc is not there"), Not(HasSubstr("required"))));
  FakeEngine podman(Engine({.runtimes = {"crun"}, .is_podman = true}));
  wish.socket = podman.socket();
  EXPECT_THAT(ErrorOf(wish), HasSubstr("containers.conf"));
}

TEST(ContainerRuntime, WishesThatCannotBe) {
  FakeEngine engine(Engine({}));
  ContainerWish wish = WishFor(engine);
  wish.runtime = "kata";
  EXPECT_THAT(ErrorOf(wish), HasSubstr("there are auto, runsc and runc"));
  wish.runtime = "runc";
  wish.require_gvisor = true;
  EXPECT_THAT(ErrorOf(wish), HasSubstr("runc is not it"));
  FakeEngine none(Engine({.runtimes = {"youki"}}));
  EXPECT_THAT(ErrorOf(WishFor(none)), HasSubstr("neither runc nor crun is there"));
}

// --- images -----------------------------------------------------------------------------------

TEST(ContainerImage, ThatOfThisVersionAndProfile) {
  FakeEngine engine(Engine({}));
  const Result<ContainerChoice> choice = ChooseContainer(WishFor(engine), BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_EQ(choice->image.id, kDigest);
  EXPECT_THAT(engine.requests().back().line,
              HasSubstr("belljar%3A" + std::string(kBelljarVersion) + "-basic"));
}

TEST(ContainerImage, OneThatIsMissing) {
  FakeEngine docker(Engine({.image = std::nullopt}));
  EXPECT_THAT(ErrorOf(WishFor(docker)),
              HasSubstr("belljar image build --profile basic --load docker"));
  FakeEngine podman(Engine({.runtimes = {"crun"}, .image = std::nullopt, .is_podman = true}));
  EXPECT_THAT(ErrorOf(WishFor(podman)),
              HasSubstr("belljar image build --profile basic --load podman"));
}

TEST(ContainerImage, OneOfAnother) {
  const auto error_with = [](const char* label, const std::string& value) {
    Labels labels = OwnLabels();
    labels[label] = value;
    FakeEngine engine(Engine({.image = labels}));
    return ErrorOf(WishFor(engine));
  };
  EXPECT_THAT(error_with(kVersionLabel, "0.0.1"),
              AllOf(HasSubstr("of Belljar 0.0.1, not " + std::string(kBelljarVersion)),
                    HasSubstr("belljar image build")));
  EXPECT_THAT(error_with(kPythonLabel, "3.9.0"), HasSubstr("of Python 3.9.0, not "));
  EXPECT_THAT(error_with(kProfileLabel, "network"), HasSubstr("of profile network, not basic"));
  EXPECT_THAT(error_with(kVersionLabel, "\x1b[2J"), Not(HasSubstr("\x1b")));
  FakeEngine strangers(Engine({.image = Labels{}}));
  EXPECT_THAT(ErrorOf(WishFor(strangers)), HasSubstr("it is none of Belljar's"));
}

// --- engines ----------------------------------------------------------------------------------

TEST(ContainerEngineChoice, ANameThatIsNone) {
  ContainerWish wish;
  wish.engine = "lxc";
  EXPECT_THAT(ErrorOf(wish), HasSubstr("there are auto, docker, podman and runsc"));
}

TEST(ContainerEngineChoice, ASocketThatIsMissing) {
  ContainerWish wish;
  wish.socket = "/nonexistent/docker.sock";
  EXPECT_THAT(ErrorOf(wish), AllOf(HasSubstr("/nonexistent/docker.sock"),
                                   HasSubstr("install and start Docker or Podman")));
}

TEST(ContainerEngineChoice, OfSocketsThatAreAllMissingTheFirstIsNamed) {
  if (access("/run/podman/podman.sock", F_OK) == 0) GTEST_SKIP() << "root's Podman is here";
  unsetenv("DOCKER_HOST");
  setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  ContainerWish wish;
  wish.engine = "podman";
  EXPECT_THAT(ErrorOf(wish), HasSubstr("/nonexistent/podman/podman.sock"));
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(ContainerEngineChoice, RunscAloneWithoutTheImage) {
  const TemporaryFolder folder;
  ContainerWish wish;
  wish.engine = "runsc";
  wish.folder = folder.path();
  if (!RunscEngine({.folder = folder.path()}).Check()) BELLJAR_SKIP_OR_FAIL("there is no runsc");
  EXPECT_THAT(ErrorOf(wish), HasSubstr("belljar image build --profile basic --load runsc"));
  wish.runtime = "runc";
  EXPECT_THAT(ErrorOf(wish), HasSubstr("neither runc nor crun"));
}

TEST(ContainerEngineChoice, DockersSocketsAreNotPodmans) {
  unsetenv("DOCKER_HOST");
  setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1);
  EXPECT_THAT(UsualSocketsOf("docker"),
              ElementsAre("/var/run/docker.sock", "/run/user/1000/docker.sock"));
  EXPECT_THAT(UsualSocketsOf("podman"),
              ElementsAre("/run/user/1000/podman/podman.sock", "/run/podman/podman.sock"));
  setenv("DOCKER_HOST", "unix:///somewhere/podman.sock", 1);
  EXPECT_THAT(UsualSocketsOf("docker"), ElementsAre("/somewhere/podman.sock"));
  unsetenv("DOCKER_HOST");
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(ContainerEngineChoice, TheFolderOfRunsc) {
  if (geteuid() == 0) {
    EXPECT_EQ(UsualRunscFolder(), "/var/lib/belljar/runsc");
    return;
  }
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(UsualRunscFolder(), "/somewhere/belljar/runsc");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/one", 1);
  EXPECT_EQ(UsualRunscFolder(), "/home/one/.cache/belljar/runsc");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(UsualRunscFolder(), "");
}

TEST(ContainerEngineChoice, WhatItDoesNotLimitIsNamed) {
  FakeEngine engine(Engine({.limits = false}));
  Result<ContainerChoice> choice = ChooseContainer(WishFor(engine), BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_THAT(NotLimitedBy(choice->facts), ElementsAre("memory"));
  FakeEngine other(Engine({}));
  choice = ChooseContainer(WishFor(other), BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_THAT(NotLimitedBy(choice->facts), ::testing::IsEmpty());
}

TEST(ContainerEngineChoice, DoctorIsToldOfEach) {
  FakeEngine engine(Engine({.limits = false}));
  ContainerWish wish = WishFor(engine);
  const std::vector<EngineCheck> checks = CheckEngines(wish);
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(checks[0].engine, "docker");
  EXPECT_TRUE(checks[0].found);
  EXPECT_THAT(checks[0].detail,
              AllOf(HasSubstr("Docker Engine 20.10.24"), HasSubstr(engine.socket()),
                    HasSubstr("with runc, runsc"), HasSubstr("does not limit memory")));
  EXPECT_EQ(checks[1].engine, "podman");
  EXPECT_EQ(checks[2].engine, "runsc");
  for (const EngineCheck& check : checks) EXPECT_NE(check.detail, "");
}

}  // namespace
}  // namespace belljar
