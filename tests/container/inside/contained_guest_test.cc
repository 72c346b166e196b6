// belljar-guest where it is meant to be: in a container of each engine, over an image of this
// build. Engines as in real_engines_test.cc; what a run without a container does, guest_test.cc
// says, and most here only looks for a difference.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/backend/guest_connection.h"
#include "container/image/image_files.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/profile_image.h"
#include "tests/container/real_places.h"
#include "tests/support/support.h"

namespace belljar::container::inside::contained_guest_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Not;

constexpr char kLabel[] = "dev.belljar.test.run";
// Version of the images here, so that they cannot be mistaken for others.
constexpr char kImageVersion[] = "contained-guest-test";

// Built once per program.
const tests::ProfileImage& Image(const std::string& profile_name) {
  static std::map<std::string, tests::ProfileImage> built;
  static const tests::TemporaryFolder folder;
  if (const auto found = built.find(profile_name); found != built.end()) return found->second;
  const profiles::ProfileCatalogue catalogue = tests::Had(profiles::ProfileCatalogue::Open());
  return built[profile_name] = tests::WriteProfileImage(
             catalogue.installation(), tests::Had(catalogue.Choose(profile_name)), profile_name,
             kImageVersion, folder.path() + "/" + profile_name + ".tar");
}

class ContainedGuest : public ::testing::TestWithParam<tests::Place> {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    static const tests::TemporaryFolder folder;
    tests::FoundEngine found = tests::FindEngine(GetParam(), folder.path(), seconds(60));
    if (!found.engine) BELLJAR_SKIP_OR_FAIL(found.missing);
    engine_ = std::move(found.engine);
  }

  void TearDown() override {
    if (!engine_) return;
    const core::Result<std::vector<engines::ListedContainer>> left = engine_->List(kLabel, run_);
    ASSERT_TRUE(left) << left.error().ToString();
    for (const engines::ListedContainer& container : *left)
      EXPECT_TRUE(engine_->Remove(container.id));
  }

  void Load(const tests::ProfileImage& image) {
    if (tests::Had(engine_->FindImage(image.id))) return;
    const core::UniqueFd tar(open(image.path.c_str(), O_RDONLY | O_CLOEXEC));
    (void)tests::Had(engine_->LoadImage(tar.get(), {}));
  }

  bool IsGvisor() const { return GetParam().runtime == "runsc"; }

  // A guest that waits for its request, in a container as the backend starts them.
  std::unique_ptr<backend::GuestConnection> Started(const core::Profile& profile,
                                                    const std::string& policy = "on",
                                                    const std::string& isolation = "standard") {
    const tests::ProfileImage& image = Image(profile.name);
    Load(image);
    engines::ContainerSpec spec;
    spec.image = image.id;
    spec.runtime = GetParam().runtime;
    spec.command = {std::string("/") + image::kImagePrefix + "/" + image::kGuestProgram,
                    "--profile",
                    profile.name,
                    "--policy",
                    policy,
                    "--isolation",
                    isolation};
    spec.labels = {{kLabel, run_}};
    const core::Bytes size = profile.workspace ? profile.workspace->size : core::Bytes::Mebi(1);
    spec.folders = {{.path = core::kTemporaryPath, .size = size}};
    if (profile.workspace) spec.folders.push_back({.path = core::kWorkspacePath, .size = size});
    spec.memory = core::Bytes::Mebi(1024);
    container_ = tests::Had(engine_->Start(spec));
    auto guest = std::make_unique<backend::GuestConnection>(
        *wire::Channel::OfPipes(std::move(container_.output), std::move(container_.input)),
        backend::GuestTerms::Of(profile, isolation, policy));
    ready_ = guest->AwaitReady({core::Clock::now() + seconds(120)});
    return guest;
  }

  static core::Profile Chosen(const std::string& name) {
    return tests::Had(tests::Had(profiles::ProfileCatalogue::Open()).Choose(name));
  }

  host::Outcome RunIn(const core::Profile& profile,
                      const std::function<void(host::Request&)>& change,
                      const std::string& policy = "on", const run::RunOptions& options = {}) {
    const std::unique_ptr<backend::GuestConnection> guest = Started(profile, policy);
    if (!ready_) throw std::runtime_error(ready_.error().ToString() + "; " + container_.errors());
    host::Request request;
    request.limits = profile.default_limits;
    request.limits.timeout = std::min<milliseconds>(seconds(60), profile.maximum_limits.timeout);
    change(request);
    host::Outcome outcome = tests::Had(guest->Run(request, options));
    EXPECT_EQ(guest->end(), backend::GuestConnection::End::kOutcome) << container_.errors();
    return outcome;
  }

  host::Outcome RunBasic(const std::string& source, const std::string& policy = "on") {
    return RunIn(
        tests::BasicProfile(), [&](host::Request& request) { request.source = source; }, policy);
  }

  const std::string run_ = core::Hex(host::RandomBytes());
  std::unique_ptr<engines::ContainerEngine> engine_;
  engines::StartedContainer container_;
  core::Result<void> ready_;
};

host::LayerState LayerOf(const host::Outcome& outcome, const std::string& name) {
  for (const host::LayerState& layer : outcome.isolation.layers) {
    if (layer.name == name) return layer;
  }
  return {"", false, "there is no such layer"};
}

TEST_P(ContainedGuest, AProgramRunsAndTheLayersAreWhatHolds) {
  const host::Outcome outcome = RunBasic("print('hello')\n[6 * 7, 'ü']");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.stdout_stream.text, "hello\n");
  EXPECT_EQ(outcome.result_json, R"([42,"ü"])");
  EXPECT_GT(outcome.usage.max_rss_bytes, 1'000'000u);
  // gVisor counts in ticks of 10 ms.
  EXPECT_THAT(outcome.usage.cpu_time, AllOf(Ge(milliseconds(0)), Lt(seconds(20))));
  EXPECT_EQ(outcome.isolation.mode, "standard");
  for (const char* name : {"privileges", "rlimits", "seccomp"}) {
    const host::LayerState layer = LayerOf(outcome, name);
    EXPECT_TRUE(layer.held) << name << ": " << layer.detail;
    // gVisor shows neither; its limits can be asked for.
    const bool seen = !IsGvisor() || name == std::string_view("rlimits");
    EXPECT_EQ(layer.detail.find("reported by the worker") == std::string::npos, seen)
        << layer.detail;
  }
  EXPECT_EQ(LayerOf(outcome, "landlock").held, !IsGvisor());
  EXPECT_FALSE(LayerOf(outcome, "namespaces").held);
  EXPECT_THAT(LayerOf(outcome, "namespaces").detail, HasSubstr("container's namespaces"));
}

TEST_P(ContainedGuest, CallsAreDeniedAndHostileOnesKill) {
  const host::Outcome denied = RunBasic(
      "import os, socket\n"
      "for attempt in (os.fork, lambda: os.kill(1, 9), lambda: socket.socket(),\n"
      "                lambda: os.execv('/opt/belljar/belljar-guest', ['x'])):\n"
      "    try:\n"
      "        attempt()\n"
      "        print('done')\n"
      "    except PermissionError as error:\n"
      "        print(error.errno)\n",
      "off");
  EXPECT_EQ(denied.stdout_stream.text, "1\n1\n1\n1\n");
  EXPECT_THAT(denied.security_events, Not(IsEmpty()));
  const host::Outcome killed = RunBasic(
      "import socket\n"
      "print('before')\n"
      "socket.sethostname('x')\n"
      "print('after')\n",
      "off");
  EXPECT_EQ(killed.status, host::Status::kKilled) << (killed.error ? killed.error->message : "");
  EXPECT_EQ(killed.stdout_stream.text, "before\n");
  EXPECT_THAT(killed.security_events, Not(IsEmpty()));
}

TEST_P(ContainedGuest, MemoryEndsAtItsLimit) {
  EXPECT_EQ(RunBasic("x = bytearray(10**9)").status, host::Status::kMemoryLimit);
  const host::Outcome small = RunIn(tests::BasicProfile(), [](host::Request& request) {
    request.source = "x = []\nwhile True:\n    x.append('%d' % len(x) * 100)\n";
    request.limits.memory = core::Bytes::Mebi(32);
  });
  EXPECT_EQ(small.status, host::Status::kMemoryLimit);
}

TEST_P(ContainedGuest, TimeEndsAtItsLimits) {
  const host::Outcome late = RunIn(tests::BasicProfile(), [](host::Request& request) {
    request.source = "print('before')\nwhile True: pass";
    request.limits.timeout = seconds(2);
  });
  EXPECT_EQ(late.status, host::Status::kTimeout);
  EXPECT_EQ(late.stdout_stream.text, "before\n");
  const host::Outcome spent = RunIn(tests::BasicProfile(), [](host::Request& request) {
    request.source = "while True: pass";
    request.limits.cpu = milliseconds(300);
  });
  EXPECT_EQ(spent.status, host::Status::kCpuLimit);
}

TEST_P(ContainedGuest, OutputEndsAtItsLimitAndACancellationEndsARun) {
  const host::Outcome outcome = RunIn(tests::BasicProfile(), [](host::Request& request) {
    request.source = "for i in range(30):\n    print('x' * 100_000)\n";
    request.limits.output = core::Bytes{1'000'003};
  });
  EXPECT_EQ(outcome.stdout_stream.text.size(), 1'000'003u);
  EXPECT_EQ(outcome.stdout_stream.dropped_bytes, 30u * 100'001 - 1'000'003);

  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  const run::OutputSink sink{[&](std::string_view) { eventfd_write(cancel.get(), 1); }, {}};
  run::RunOptions options;
  options.sink = &sink;
  options.cancel_fd = cancel.get();
  const host::Outcome cancelled = RunIn(
      tests::BasicProfile(),
      [](host::Request& request) { request.source = "print('before')\nwhile True: pass"; }, "on",
      options);
  EXPECT_EQ(cancelled.status, host::Status::kKilled);
  ASSERT_TRUE(cancelled.error);
  EXPECT_EQ(cancelled.error->type, "Cancelled");
  EXPECT_EQ(cancelled.stdout_stream.text, "before\n");
}

TEST_P(ContainedGuest, AWorkspaceTakesFilesAndGivesThem) {
  const host::Outcome outcome = RunIn(
      Chosen("filesystem"),
      [](host::Request& request) {
        request.source =
            "import os\n"
            "text = open('in/a.txt').read()\n"
            "open('copy.txt', 'w').write(text * 2)\n"
            "os.mkdir('d')\n"
            "open('d/empty', 'w').close()\n"
            "open('in/changed', 'a').write('!')\n"
            "os.symlink('/etc/passwd', 'link')\n"
            "os.chmod('d', 0)\n"
            "open('/tmp/other', 'w').write('x')\n"
            "print(os.getcwd(), os.listdir('/tmp'))\n"
            "try:\n"
            "    with open('/tmp/large', 'wb') as file:\n"
            "        for i in range(1000): file.write(bytes(10**6))\n"
            "except OSError as error:\n"
            "    print(os.strerror(error.errno))\n";
        request.files = {{"in/a.txt", "hello\n"}, {"in/changed", "as given"}, {"kept", "as given"}};
      },
      "off");
  EXPECT_EQ(outcome.status, host::Status::kOk);
  EXPECT_EQ(outcome.stdout_stream.text, "/workspace ['other']\nNo space left on device\n");
  std::vector<std::string> names;
  for (const host::Artifact& artifact : outcome.artifacts) names.push_back(artifact.name);
  EXPECT_THAT(names, ElementsAre("copy.txt", "d/empty", "in/changed"));
  EXPECT_EQ(outcome.artifacts.at(0).content, "hello\nhello\n");
  EXPECT_EQ(outcome.artifacts.at(2).content, "as given!");
  EXPECT_THAT(outcome.artifacts_note, HasSubstr("1 symbolic link"));
}

TEST_P(ContainedGuest, AFigureComesBack) {
  const core::Profile profile = Chosen("data-science");
  if (!installation::Installation::Find()->Missing(profile).empty()) {
    BELLJAR_SKIP_OR_FAIL("the packages of data-science are not installed");
  }
  const host::Outcome outcome = RunIn(profile, [](host::Request& request) {
    request.source = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n";
  });
  EXPECT_EQ(outcome.status, host::Status::kOk);
  ASSERT_EQ(outcome.artifacts.size(), 1u);
  EXPECT_EQ(outcome.artifacts[0].origin, host::Artifact::Origin::kDisplay);
}

TEST_P(ContainedGuest, StrictIsolationIsRefused) {
  (void)Started(tests::BasicProfile(), "on", "strict");
  ASSERT_FALSE(ready_);
  EXPECT_THAT(ready_.error().ToString(), HasSubstr("strict"));
}

INSTANTIATE_TEST_SUITE_P(Engines, ContainedGuest,
                         ::testing::Values(tests::Place{"docker", "runc"},
                                           tests::Place{"docker", "runsc"},
                                           tests::Place{"alone", "runsc"}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace belljar::container::inside::contained_guest_test
