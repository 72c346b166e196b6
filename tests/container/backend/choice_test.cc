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
#include "engine/host/version.h"
#include "tests/container/fake_engine.h"
#include "tests/support/support.h"

namespace belljar::container::backend::choice_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kDigest = "sha256:" + std::string(64, 'b');

using Labels = std::map<std::string, std::string>;

Labels OwnLabels() {
  return {{image::kVersionLabel, host::kBelljarVersion},
          {image::kPythonLabel, host::kPythonVersion},
          {image::kProfileLabel, "basic"},
          {image::kInputsLabel, std::string(64, 'c')}};
}

struct Described {
  std::vector<std::string> runtimes = {"runc", "runsc"};
  std::optional<Labels> image = OwnLabels();
  bool is_podman = false;
  bool limits = true;
};

tests::FakeEngine::Answer Engine(const Described& described) {
  return [described](const tests::FakeRequest& request, int) {
    const auto asks = [&](const char* part) {
      return request.line.find(part) != std::string::npos;
    };
    if (asks("/version")) {
      Json version = {{"Version", "20.10.24"}, {"ApiVersion", "1.41"}};
      if (described.is_podman) version["Components"] = {{{"Name", "Podman Engine"}}};
      return tests::HttpAnswer(200, version.dump());
    }
    if (asks("/info")) {
      Json runtimes = Json::object();
      for (const std::string& name : described.runtimes) runtimes[name] = Json::object();
      return tests::HttpAnswer(200, Json{{"DefaultRuntime", described.runtimes.front()},
                                         {"Runtimes", runtimes},
                                         {"MemoryLimit", described.limits},
                                         {"PidsLimit", true},
                                         {"CpuCfsQuota", true}}
                                        .dump());
    }
    if (!described.image) return tests::HttpAnswer(404, R"({"message":"No such image"})");
    return tests::HttpAnswer(
        200, Json{{"Id", kDigest}, {"Config", {{"Labels", *described.image}}}, {"Size", 1}}.dump());
  };
}

ContainerSelection SelectionFor(const tests::FakeEngine& engine) {
  ContainerSelection selection;
  selection.engine = "docker";
  selection.socket = engine.socket();
  return selection;
}

std::string ErrorOf(const ContainerSelection& selection) {
  const core::Result<ContainerChoice> choice = ChooseContainer(selection, tests::BasicProfile());
  return choice ? "no error: " + choice->runtime : choice.error().ToString();
}

std::string RuntimeOf(const ContainerSelection& selection) {
  const core::Result<ContainerChoice> choice = ChooseContainer(selection, tests::BasicProfile());
  return choice ? choice->runtime : choice.error().ToString();
}

// --- runtimes ---------------------------------------------------------------------------------

TEST(ContainerRuntime, GvisorWhereItIs) {
  tests::FakeEngine engine(Engine({}));
  EXPECT_EQ(RuntimeOf(SelectionFor(engine)), "runsc");
  ContainerSelection selection = SelectionFor(engine);
  selection.runtime = "runc";
  EXPECT_EQ(RuntimeOf(selection), "runc");
  selection.runtime = "runsc";
  selection.require_gvisor = true;
  EXPECT_EQ(RuntimeOf(selection), "runsc");
}

TEST(ContainerRuntime, RuncElse) {
  tests::FakeEngine engine(Engine({.runtimes = {"io.containerd.runc.v2", "runc"}}));
  EXPECT_EQ(RuntimeOf(SelectionFor(engine)), "runc");
}

TEST(ContainerRuntime, PodmansIsNamedForWhatItIs) {
  tests::FakeEngine engine(Engine({.runtimes = {"crun"}, .is_podman = true}));
  ContainerSelection selection = SelectionFor(engine);
  selection.engine = "podman";
  selection.runtime = "runc";
  const core::Result<ContainerChoice> choice = ChooseContainer(selection, tests::BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_EQ(choice->runtime, "crun");
  EXPECT_EQ(choice->facts.name, "Podman Engine");
}

TEST(ContainerRuntime, GvisorThatIsRequiredAndNotThere) {
  tests::FakeEngine engine(Engine({.runtimes = {"runc"}}));
  ContainerSelection selection = SelectionFor(engine);
  selection.require_gvisor = true;
  EXPECT_THAT(ErrorOf(selection), AllOf(HasSubstr("gVisor is required"), HasSubstr("has runc"),
                                        HasSubstr("daemon.json")));
  selection.require_gvisor = false;
  selection.runtime = "runsc";
  EXPECT_THAT(ErrorOf(selection),
              AllOf(HasSubstr("runsc is not available"), Not(HasSubstr("required"))));
  tests::FakeEngine podman(Engine({.runtimes = {"crun"}, .is_podman = true}));
  selection.socket = podman.socket();
  EXPECT_THAT(ErrorOf(selection), HasSubstr("containers.conf"));
}

TEST(ContainerRuntime, SelectionesThatCannotBe) {
  tests::FakeEngine engine(Engine({}));
  ContainerSelection selection = SelectionFor(engine);
  selection.runtime = "kata";
  EXPECT_THAT(ErrorOf(selection), HasSubstr("choose auto, runsc or runc"));
  selection.runtime = "runc";
  selection.require_gvisor = true;
  EXPECT_THAT(ErrorOf(selection), HasSubstr("runc is not gVisor"));
  tests::FakeEngine none(Engine({.runtimes = {"youki"}}));
  EXPECT_THAT(ErrorOf(SelectionFor(none)), HasSubstr("neither runc nor crun is available"));
}

// --- images -----------------------------------------------------------------------------------

TEST(ContainerImage, ThatOfThisVersionAndProfile) {
  tests::FakeEngine engine(Engine({}));
  const core::Result<ContainerChoice> choice =
      ChooseContainer(SelectionFor(engine), tests::BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_EQ(choice->image.id, kDigest);
  EXPECT_THAT(engine.requests().back().line,
              HasSubstr("belljar%3A" + std::string(host::kBelljarVersion) + "-basic"));
}

TEST(ContainerImage, OneThatIsMissing) {
  tests::FakeEngine docker(Engine({.image = std::nullopt}));
  EXPECT_THAT(ErrorOf(SelectionFor(docker)),
              HasSubstr("belljar image build --profile basic --load docker"));
  tests::FakeEngine podman(
      Engine({.runtimes = {"crun"}, .image = std::nullopt, .is_podman = true}));
  EXPECT_THAT(ErrorOf(SelectionFor(podman)),
              HasSubstr("belljar image build --profile basic --load podman"));
}

TEST(ContainerImage, OneOfAnother) {
  const auto error_with = [](const char* label, const std::string& value) {
    Labels labels = OwnLabels();
    labels[label] = value;
    tests::FakeEngine engine(Engine({.image = labels}));
    return ErrorOf(SelectionFor(engine));
  };
  EXPECT_THAT(error_with(image::kVersionLabel, "0.0.1"),
              AllOf(HasSubstr("of Belljar 0.0.1, not " + std::string(host::kBelljarVersion)),
                    HasSubstr("belljar image build")));
  EXPECT_THAT(error_with(image::kPythonLabel, "3.9.0"), HasSubstr("of Python 3.9.0, not "));
  EXPECT_THAT(error_with(image::kProfileLabel, "network"),
              HasSubstr("of profile network, not basic"));
  EXPECT_THAT(error_with(image::kVersionLabel, "\x1b[2J"), Not(HasSubstr("\x1b")));
  tests::FakeEngine untrusted(Engine({.image = Labels{}}));
  EXPECT_THAT(ErrorOf(SelectionFor(untrusted)), HasSubstr("it was not built by Belljar"));
}

// --- engines ----------------------------------------------------------------------------------

TEST(ContainerEngineChoice, ANameThatIsNone) {
  ContainerSelection selection;
  selection.engine = "lxc";
  EXPECT_THAT(ErrorOf(selection), HasSubstr("choose auto, docker, podman or runsc"));
}

TEST(ContainerEngineChoice, ASocketThatIsMissing) {
  ContainerSelection selection;
  selection.socket = "/nonexistent/docker.sock";
  EXPECT_THAT(ErrorOf(selection), AllOf(HasSubstr("/nonexistent/docker.sock"),
                                        HasSubstr("install and start Docker or Podman")));
}

TEST(ContainerEngineChoice, OfSocketsThatAreAllMissingTheFirstIsNamed) {
  if (access("/run/podman/podman.sock", F_OK) == 0) GTEST_SKIP() << "root's Podman is here";
  unsetenv("DOCKER_HOST");
  setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  ContainerSelection selection;
  selection.engine = "podman";
  EXPECT_THAT(ErrorOf(selection), HasSubstr("/nonexistent/podman/podman.sock"));
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(ContainerEngineChoice, RunscAloneWithoutTheImage) {
  const tests::TemporaryFolder folder;
  ContainerSelection selection;
  selection.engine = "runsc";
  selection.folder = folder.path();
  if (!runsc::RunscEngine({.folder = folder.path()}).Check())
    BELLJAR_SKIP_OR_FAIL("there is no runsc");
  EXPECT_THAT(ErrorOf(selection), HasSubstr("belljar image build --profile basic --load runsc"));
  selection.runtime = "runc";
  EXPECT_THAT(ErrorOf(selection), HasSubstr("neither runc nor crun"));
}

TEST(ContainerEngineChoice, DockersSocketsAreNotPodmans) {
  unsetenv("DOCKER_HOST");
  setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1);
  EXPECT_THAT(DefaultSocketsOf("docker"),
              ElementsAre("/var/run/docker.sock", "/run/user/1000/docker.sock"));
  EXPECT_THAT(DefaultSocketsOf("podman"),
              ElementsAre("/run/user/1000/podman/podman.sock", "/run/podman/podman.sock"));
  setenv("DOCKER_HOST", "unix:///somewhere/podman.sock", 1);
  EXPECT_THAT(DefaultSocketsOf("docker"), ElementsAre("/somewhere/podman.sock"));
  unsetenv("DOCKER_HOST");
  unsetenv("XDG_RUNTIME_DIR");
}

TEST(ContainerEngineChoice, TheFolderOfRunsc) {
  if (geteuid() == 0) {
    EXPECT_EQ(runsc::DefaultRunscFolder(), "/var/lib/belljar/runsc");
    return;
  }
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(runsc::DefaultRunscFolder(), "/somewhere/belljar/runsc");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/one", 1);
  EXPECT_EQ(runsc::DefaultRunscFolder(), "/home/one/.cache/belljar/runsc");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(runsc::DefaultRunscFolder(), "");
}

TEST(ContainerEngineChoice, WhatItDoesNotLimitIsNamed) {
  tests::FakeEngine engine(Engine({.limits = false}));
  core::Result<ContainerChoice> choice =
      ChooseContainer(SelectionFor(engine), tests::BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_THAT(NotLimitedBy(choice->facts), ElementsAre("memory"));
  tests::FakeEngine other(Engine({}));
  choice = ChooseContainer(SelectionFor(other), tests::BasicProfile());
  ASSERT_TRUE(choice) << choice.error().ToString();
  EXPECT_THAT(NotLimitedBy(choice->facts), ::testing::IsEmpty());
}

TEST(ContainerEngineChoice, DoctorReportsEach) {
  tests::FakeEngine engine(Engine({.limits = false}));
  ContainerSelection selection = SelectionFor(engine);
  const std::vector<EngineCheck> checks = CheckEngines(selection);
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
}  // namespace belljar::container::backend::choice_test
