// The engines as they are: a real Docker Engine with runc and runsc, as tools/containers has
// started it (BELLJAR_DOCKER_SOCKET, else build/containers/docker.sock of this tree), and Podman
// with crun where BELLJAR_PODMAN_SOCKET names its service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "tests/container/control_groups.h"
#include "tests/container/probe_image.h"
#include "tests/container/profile_image.h"
#include "tests/container/real_places.h"
#include "tests/support/support.h"

namespace belljar::container::engines::real_engines_test {
namespace {

using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kLabel[] = "dev.belljar.test.run";

// All that `fd` has until its end, or as much as `enough`.
std::string ReadAllOf(int fd, size_t enough = std::string::npos) {
  std::string all;
  char buffer[64 << 10];
  while (all.size() < enough && core::WaitReadable(fd, core::Clock::now() + seconds(60))) {
    const ssize_t got = read(fd, buffer, std::min(sizeof buffer, enough - all.size()));
    if (got <= 0) break;
    all.append(buffer, static_cast<size_t>(got));
  }
  return all;
}

class RealEngine : public ::testing::TestWithParam<tests::Place> {
 protected:
  void SetUp() override {
    static const tests::TemporaryFolder folder;
    tests::FoundEngine found = tests::FindEngine(GetParam(), folder.path(), seconds(60));
    if (!found.engine) BELLJAR_SKIP_OR_FAIL(found.missing);
    engine_ = std::move(found.engine);
    const core::Result<EngineFacts> facts = engine_->Check();
    ASSERT_TRUE(facts) << facts.error().ToString();
    facts_ = *facts;
    // The image of this build, whatever an engine still has under that name.
    static std::set<std::string> loaded;
    if (loaded.insert(GetParam().engine).second) Load();
  }

  void TearDown() override {
    if (!engine_) return;
    const core::Result<std::vector<ListedContainer>> left = engine_->List(kLabel, run_);
    ASSERT_TRUE(left) << left.error().ToString();
    for (const ListedContainer& container : *left) (void)engine_->Remove(container.id);
    const core::Result<std::vector<ListedContainer>> none = engine_->List(kLabel, run_);
    ASSERT_TRUE(none);
    EXPECT_THAT(*none, IsEmpty());
  }

  void Load() {
    const core::Result<core::UniqueFd> tar =
        core::CreateMemoryFile("probe-image", tests::ProbeImage());
    ASSERT_TRUE(tar);
    const core::Result<std::string> loaded = engine_->LoadImage(tar->get(), {});
    ASSERT_TRUE(loaded) << loaded.error().ToString();
  }

  ContainerSpec Spec(std::vector<std::string> arguments) const {
    ContainerSpec spec;
    spec.image = tests::kProbeImage;
    spec.runtime = GetParam().runtime;
    spec.command = {"/probe"};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    spec.labels = {{kLabel, run_}};
    spec.folders = {{.path = "/tmp", .size = core::Bytes::Mebi(8)}};
    spec.memory = core::Bytes::Mebi(128);
    return spec;
  }

  StartedContainer Started(std::vector<std::string> arguments) {
    return tests::Had(engine_->Start(Spec(std::move(arguments))));
  }
  ContainerExit ExitOf(const StartedContainer& container) {
    return tests::Had(engine_->Wait(container.id, seconds(60)));
  }

  bool IsGvisor() const { return GetParam().runtime == "runsc"; }

  const std::string run_ = core::Hex(host::RandomBytes());
  std::unique_ptr<ContainerEngine> engine_;
  EngineFacts facts_;
};

TEST_P(RealEngine, SaysWhatItIs) {
  EXPECT_THAT(facts_.name, AnyOf("Docker Engine", "Podman Engine", "runsc"));
  EXPECT_THAT(facts_.version, Not(IsEmpty()));
  EXPECT_THAT(facts_.api_version, AnyOf(HasSubstr("1.4"), IsEmpty()));
  EXPECT_THAT(facts_.runtimes, Contains(GetParam().runtime));
  EXPECT_TRUE(facts_.limits_memory);
  EXPECT_TRUE(facts_.limits_pids);
}

TEST_P(RealEngine, FindsTheImageByReferenceAndById) {
  const core::Result<std::optional<EngineImage>> image = engine_->FindImage(tests::kProbeImage);
  ASSERT_TRUE(image && *image);
  EXPECT_EQ((*image)->labels.at("belljar.profile"), "probe");
  EXPECT_GT((*image)->size.count, 500'000u);
  const core::Result<std::optional<EngineImage>> same = engine_->FindImage((*image)->id);
  ASSERT_TRUE(same && *same);
  EXPECT_EQ((*same)->id, (*image)->id);
  const core::Result<std::optional<EngineImage>> none = engine_->FindImage("belljar-test-none:1");
  ASSERT_TRUE(none) << none.error().ToString();
  EXPECT_FALSE(*none);
}

TEST_P(RealEngine, LoadingSaysHowFarItIs) {
  const core::Result<core::UniqueFd> tar =
      core::CreateMemoryFile("probe-image", tests::ProbeImage());
  uint64_t last = 0;
  const core::Result<std::string> loaded =
      engine_->LoadImage(tar->get(), [&](core::Bytes taken, core::Bytes of) {
        EXPECT_GT(taken.count, 0u);
        EXPECT_LE(taken.count, of.count);
        last = taken.count;
      });
  ASSERT_TRUE(loaded) << loaded.error().ToString();
  EXPECT_THAT(*loaded, HasSubstr(tests::kProbeImage));
  EXPECT_GT(last, tests::ProbeImage().size() / 2);
}

TEST_P(RealEngine, WhatIsNoImageIsRefused) {
  const core::Result<core::UniqueFd> tar =
      core::CreateMemoryFile("none", std::string(100'000, 'x'));
  const core::Result<std::string> loaded = engine_->LoadImage(tar->get(), {});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().ToString(), HasSubstr("load the image"));
}

TEST_P(RealEngine, BytesGoThereAndComeBack) {
  const StartedContainer container = Started({"echo"});
  std::string all(3 << 20, 'x');
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7 + i / 251);
  std::thread writer([&] {
    const std::string_view parts[] = {all};
    EXPECT_TRUE(core::SendAll(container.input.get(), parts, core::Clock::now() + seconds(60)));
    shutdown(container.input.get(), SHUT_WR);
  });
  EXPECT_TRUE(ReadAllOf(container.output.get()) == all);
  writer.join();
  EXPECT_EQ(ExitOf(container).exit_code, 0);
}

TEST_P(RealEngine, StandardErrorIsKeptApart) {
  const StartedContainer container = Started({"both", "hello"});
  EXPECT_EQ(ReadAllOf(container.output.get()), "hello");
  EXPECT_EQ(ExitOf(container).exit_code, 0);
  EXPECT_TRUE(tests::Eventually([&] { return container.errors() == "hello"; }));
}

TEST_P(RealEngine, ExitCodesCome) {
  const StartedContainer container = Started({"exit", "7"});
  const ContainerExit exit = ExitOf(container);
  EXPECT_EQ(exit.exit_code, 7);
  EXPECT_FALSE(exit.out_of_memory);
}

TEST_P(RealEngine, WaitingEnds) {
  const StartedContainer container = Started({"sleep"});
  const core::Result<ContainerExit> exit =
      engine_->Wait(container.id, std::chrono::milliseconds(200));
  ASSERT_FALSE(exit);
  EXPECT_EQ(exit.error().error_number, ETIMEDOUT);
}

TEST_P(RealEngine, KillEndsAllOfIt) {
  const StartedContainer container = Started({"echo"});
  ASSERT_TRUE(engine_->Kill(container.id));
  EXPECT_EQ(ReadAllOf(container.output.get()), "");
  const ContainerExit exit = ExitOf(container);
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_FALSE(exit.out_of_memory);
  EXPECT_TRUE(engine_->Kill(container.id));
  EXPECT_TRUE(engine_->Remove(container.id));
  EXPECT_TRUE(engine_->Kill(container.id));
  EXPECT_TRUE(engine_->Remove(container.id));
}

TEST_P(RealEngine, RemovingEndsWhatRuns) {
  const StartedContainer container = Started({"sleep"});
  EXPECT_TRUE(engine_->Remove(container.id));
  EXPECT_EQ(ReadAllOf(container.output.get()), "");
  const core::Result<std::vector<ListedContainer>> left = engine_->List(kLabel, run_);
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, IsEmpty());
}

// For want of memory on this machine, say: it then leaves what it would have removed itself.
TEST_P(RealEngine, ARunscThatIsKilledLeavesNothing) {
  if (GetParam().engine != "alone") GTEST_SKIP() << "a daemon keeps its containers by itself";
  const StartedContainer container = Started({"echo"});
  const std::string_view parts[] = {"x"};
  ASSERT_TRUE(core::SendAll(container.input.get(), parts, core::Clock::now() + seconds(60)));
  ASSERT_EQ(ReadAllOf(container.output.get(), 1), "x");
  const std::set<std::string> ids = {container.id};
  EXPECT_TRUE(tests::Eventually([&] { return !tests::ControlGroupsOf(ids).empty(); }));
  int killed = 0;
  for (const tests::ProcessEntry& process : tests::Processes()) {
    const core::Result<std::string> line =
        core::ReadFile("/proc/" + std::to_string(process.pid) + "/cmdline", 1 << 20);
    if (!line || line->find(container.id) == line->npos) continue;
    const std::vector<std::string_view> words = core::SplitAt(*line, '\0');
    if (std::ranges::find(words, "run") == words.end()) continue;
    EXPECT_EQ(kill(process.pid, SIGKILL), 0);
    ++killed;
  }
  EXPECT_EQ(killed, 1);
  EXPECT_EQ(ExitOf(container).exit_code, 137);
  // Or there would be nothing to remove.
  EXPECT_TRUE(tests::Eventually([&] { return !tests::ControlGroupsOf(ids).empty(); }));
  const core::Result<void> removed = engine_->Remove(container.id);
  EXPECT_TRUE(removed) << removed.error().ToString();
  EXPECT_TRUE(tests::Eventually([&] { return tests::ControlGroupsOf(ids).empty(); }));
  EXPECT_THAT(tests::ControlGroupsOf(ids), IsEmpty());
}

// What a host that was killed looks like to its containers: a guest ends with its input.
TEST_P(RealEngine, InputEndsWithWhoeverHeldIt) {
  StartedContainer container = Started({"echo"});
  container.input.Reset();
  container.output.Reset();
  EXPECT_EQ(ExitOf(container).exit_code, 0);
}

TEST_P(RealEngine, ListsByLabel) {
  const StartedContainer one = Started({"sleep"});
  const StartedContainer two = Started({"exit", "0"});
  ExitOf(two);
  core::Result<std::vector<ListedContainer>> all = engine_->List(kLabel, run_);
  // runsc lists one as running only once its kernel is up.
  const auto one_runs = [&] {
    all = engine_->List(kLabel, run_);
    return all && std::ranges::any_of(*all, &ListedContainer::running);
  };
  EXPECT_TRUE(tests::Eventually(one_runs));
  ASSERT_TRUE(all) << all.error().ToString();
  ASSERT_THAT(*all, SizeIs(2));
  for (const ListedContainer& container : *all) {
    EXPECT_EQ(container.labels.at(kLabel), run_);
    EXPECT_EQ(container.running, container.id == one.id);
  }
  const core::Result<std::vector<ListedContainer>> others = engine_->List(kLabel, "another");
  ASSERT_TRUE(others);
  EXPECT_THAT(*others, IsEmpty());
}

TEST_P(RealEngine, MemoryIsLimited) {
  // Podman 4.3 does not always know. Docker knows by a notification of the container's control
  // group, which it can miss when the group is removed at once: one of three has to be noticed.
  bool noticed = GetParam().engine == "podman";
  for (int attempt = 0; attempt < 3 && (attempt == 0 || !noticed); ++attempt) {
    const ContainerExit exit = ExitOf(Started({"memory"}));
    EXPECT_EQ(exit.exit_code, 137);
    noticed = noticed || exit.out_of_memory;
  }
  EXPECT_TRUE(noticed);
}

TEST_P(RealEngine, FoldersAreLimited) {
  const StartedContainer container = Started({"fill", "/tmp/file"});
  EXPECT_EQ(ReadAllOf(container.output.get()), "8\n");
}

TEST_P(RealEngine, AForkBombStaysInIt) {
  const StartedContainer container = Started({"forks"});
  const std::string forked = ReadAllOf(container.output.get());
  if (IsGvisor()) {
    // gVisor's kernel is within the limit, and does not survive having no thread left.
    EXPECT_NE(ExitOf(container).exit_code, 0);
  } else {
    EXPECT_EQ(forked, "127\n");
  }
}

TEST_P(RealEngine, NothingIsLeftToIt) {
  const StartedContainer container = Started({"facts"});
  const std::map<std::string, std::string> facts = tests::Facts(ReadAllOf(container.output.get()));
  ASSERT_EQ(ExitOf(container).exit_code, 0);
  EXPECT_EQ(facts.at("uid"), "65534");
  EXPECT_EQ(facts.at("gid"), "65534");
  EXPECT_EQ(facts.at("capabilities_effective"), "0000000000000000");
  EXPECT_EQ(facts.at("capabilities_bounding"), "0000000000000000");
  EXPECT_EQ(facts.at("become_root"), "EPERM");
  EXPECT_EQ(facts.at("open_files"), "1024");
  EXPECT_EQ(facts.at("core"), "0");
  EXPECT_EQ(facts.at("mount"), "EPERM");
  EXPECT_THAT(facts.at("write_root"), AnyOf("EROFS", "EACCES"));
  EXPECT_THAT(facts.at("write_proc_sys"), AnyOf("EROFS", "EACCES"));
  EXPECT_THAT(facts.at("connect"), AnyOf("ENETUNREACH", "EHOSTUNREACH"));
  // What the worker in it can still put on itself.
  EXPECT_EQ(facts.at("seccomp_errno"), "yes");
  EXPECT_EQ(facts.at("seccomp_trap"), "yes");
  EXPECT_EQ(facts.at("seccomp_kill"), "killed by signal 31");
  if (IsGvisor()) {
    EXPECT_THAT(facts.at("kernel"), HasSubstr("4.4.0"));
  } else {
    EXPECT_EQ(facts.at("no_new_privileges"), "1");
    EXPECT_EQ(facts.at("seccomp"), "2");
    EXPECT_EQ(facts.at("device"), "EPERM");
    EXPECT_EQ(facts.at("kernel_log"), "EPERM");
    // By Docker's seccomp profile; Podman's allows it.
    if (GetParam().engine == "docker") {
      EXPECT_EQ(facts.at("user_namespace"), "EPERM");
    }
    EXPECT_EQ(facts.at("run_from_tmp"), "EACCES");
  }
}

TEST_P(RealEngine, WhatIsMissingIsNamed) {
  ContainerSpec spec = Spec({"echo"});
  spec.image = "belljar-test-none:1";
  const core::Result<StartedContainer> no_image = engine_->Start(spec);
  ASSERT_FALSE(no_image);
  EXPECT_THAT(no_image.error().ToString(), HasSubstr("belljar image build"));
  spec = Spec({"echo"});
  spec.runtime = "no-such-runtime";
  const core::Result<StartedContainer> no_runtime = engine_->Start(spec);
  ASSERT_FALSE(no_runtime);
  EXPECT_THAT(no_runtime.error().ToString(), HasSubstr("no-such-runtime"));
}

TEST_P(RealEngine, AProgramThatIsNotThereLeavesNothing) {
  if (GetParam().engine == "alone") {
    ContainerSpec wrong = Spec({});
    wrong.command = {"/no/such/program"};
    const StartedContainer container = tests::Had(engine_->Start(wrong));
    EXPECT_EQ(ReadAllOf(container.output.get()), "");
    EXPECT_NE(ExitOf(container).exit_code, 0);
    EXPECT_THAT(container.errors(), HasSubstr("/no/such/program"));
    return;
  }
  ContainerSpec spec = Spec({});
  spec.command = {"/no/such/program"};
  const core::Result<StartedContainer> container = engine_->Start(spec);
  ASSERT_FALSE(container);
  EXPECT_THAT(container.error().ToString(), HasSubstr("/no/such/program"));
  const core::Result<std::vector<ListedContainer>> left = engine_->List(kLabel, run_);
  ASSERT_TRUE(left);
  EXPECT_THAT(*left, IsEmpty());
}

// Podman is looked at where there is one.
std::vector<tests::Place> Places() {
  std::vector<tests::Place> places = {{"docker", "runc"}, {"docker", "runsc"}, {"alone", "runsc"}};
  if (getenv("BELLJAR_PODMAN_SOCKET"))
    places.push_back({"podman", tests::FromEnvironment("BELLJAR_PODMAN_RUNTIME", "crun")});
  return places;
}

INSTANTIATE_TEST_SUITE_P(Engines, RealEngine, ::testing::ValuesIn(Places()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace belljar::container::engines::real_engines_test
