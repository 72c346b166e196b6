// Runs in real containers: Docker Engine with runc and with runsc, and runsc alone. The engine is
// the one of tools/containers (BELLJAR_DOCKER_SOCKET, else build/containers/docker.sock of this
// tree); the image is made here, of this build.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "container/backend/container_owner.h"
#include "container/backend/container_plan.h"
#include "container/backend/container_sandbox.h"
#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/limits.h"
#include "engine/core/socket.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "engine/host/version.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/control_groups.h"
#include "tests/container/probe_image.h"
#include "tests/container/profile_image.h"
#include "tests/container/real_places.h"
#include "tests/support/support.h"

namespace belljar::container::backend::real_backend_test {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Starting one takes seconds where others keep the machine busy.
constexpr seconds kTimeout{120};

// The image of profile basic, written once in each process.
const tests::ProfileImage& BasicImage() {
  static const tests::TemporaryFolder folder;
  static const tests::ProfileImage built = [] {
    const profiles::ProfileCatalogue catalogue = tests::Had(profiles::ProfileCatalogue::Open());
    return tests::WriteProfileImage(catalogue.installation(), tests::Had(catalogue.Choose("basic")),
                                    "basic", host::kBelljarVersion, folder.path() + "/image.tar");
  }();
  return built;
}

std::string OutputOf(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "re");
  std::string output;
  char piece[4096];
  for (size_t got; (got = fread(piece, 1, sizeof piece, pipe)) > 0;) output.append(piece, got);
  pclose(pipe);
  return output;
}

class RealContainers : public ::testing::TestWithParam<tests::Place> {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    selection_.engine = GetParam().engine;
    selection_.runtime = GetParam().runtime == "crun" ? "auto" : GetParam().runtime;
    if (tests::IsAlone(GetParam())) {
      selection_.folder = BELLJAR_TEST_RUNSC_FOLDER;
    } else {
      selection_.socket = tests::SocketOf(GetParam());
    }
    tests::FoundEngine found = tests::FindEngine(GetParam(), selection_.folder, kTimeout);
    if (!found.engine) BELLJAR_SKIP_OR_FAIL(found.missing);
    engine_ = std::move(found.engine);
    LoadImage();
  }

  void LoadImage() {
    selection_.image = BasicImage().id;
    const core::Result<std::optional<engines::EngineImage>> there =
        engine_->FindImage(selection_.image);
    ASSERT_TRUE(there) << there.error().ToString();
    if (*there) return;
    // That of an earlier build, which nobody else would remove.
    if (GetParam().engine == "runsc") {
      EXPECT_TRUE(engine_->RemoveImage("belljar:" + std::string(host::kBelljarVersion) + "-basic"));
    }
    const core::UniqueFd tar(open(BasicImage().path.c_str(), O_RDONLY | O_CLOEXEC));
    const core::Result<std::string> loaded = engine_->LoadImage(tar.get(), {});
    ASSERT_TRUE(loaded) << loaded.error().ToString();
  }

  void TearDown() override {
    if (!engine_) return;
    for (const engines::ListedContainer& each : Containers()) (void)engine_->Remove(each.id);
  }

  std::vector<engines::ListedContainer> Containers() {
    core::Result<std::vector<engines::ListedContainer>> all =
        engine_->List(kInstanceLabel, instance_);
    EXPECT_TRUE(all) << all.error().ToString();
    return all ? std::move(*all) : std::vector<engines::ListedContainer>();
  }

  std::unique_ptr<outside::Sandbox> Open(size_t spares = 1,
                                         std::optional<core::Bytes> memory = std::nullopt) {
    outside::SandboxOptions sandbox;
    sandbox.profile = tests::BasicProfile();
    sandbox.isolation = outside::IsolationMode::kStandard;
    sandbox.policy = outside::Policy::kOff;
    ContainerOptions options;
    options.selection = selection_;
    options.spares = spares;
    options.max_containers = 4;
    options.memory = memory;
    options.instance = instance_;
    core::Result<std::unique_ptr<outside::Sandbox>> opened =
        OpenContainerSandbox(std::move(sandbox), std::move(options));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return std::move(*opened);
  }

  static host::Outcome Ran(outside::Sandbox& sandbox, const host::Request& request) {
    run::RunOptions options;
    options.queue_timeout = kTimeout;
    core::Result<host::Outcome> outcome = sandbox.Run(request, options);
    if (!outcome) throw std::runtime_error(outcome.error().ToString());
    return std::move(*outcome);
  }
  static host::Outcome Ran(outside::Sandbox& sandbox, const std::string& source) {
    return Ran(sandbox, tests::MakeRequest(source, kTimeout));
  }

  // What the probe says in a container that is exactly that of a run, but for the worker's seal.
  std::string Probed(std::vector<std::string> arguments) {
    ContainerChoice choice;
    choice.runtime = GetParam().runtime;
    // The image of this build, whatever an engine still has under that name.
    static std::set<std::string> loaded;
    if (loaded.insert(GetParam().engine).second) {
      const core::Result<core::UniqueFd> tar =
          core::CreateMemoryFile("probe-image", tests::ProbeImage());
      EXPECT_TRUE(engine_->LoadImage(tar->get(), {}));
    }
    const GuestTerms terms = GuestTerms::Of(tests::BasicProfile(), "standard", "off");
    engines::ContainerSpec spec =
        PlanContainer(choice, tests::BasicProfile(), terms, core::Bytes::Mebi(256));
    spec.image = tests::kProbeImage;
    spec.command = {"/probe"};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    spec.labels = *OwnerLabels(instance_);
    core::Result<engines::StartedContainer> container = engine_->Start(spec);
    if (!container) throw std::runtime_error(container.error().ToString());
    std::string all;
    char buffer[64 << 10];
    while (core::WaitReadable(container->output.get(), core::Clock::now() + kTimeout)) {
      const ssize_t got = read(container->output.get(), buffer, sizeof buffer);
      if (got <= 0) break;
      all.append(buffer, static_cast<size_t>(got));
    }
    const core::Result<engines::ContainerExit> exit = engine_->Wait(container->id, kTimeout);
    EXPECT_TRUE(exit) << exit.error().ToString();
    exit_code_ = exit ? exit->exit_code : -1;
    EXPECT_TRUE(engine_->Remove(container->id));
    return all;
  }
  // The same outside, which opens files and does nothing to them. Not "facts": as root it would get
  // its mounts and devices.
  static std::string OpenedHere(const std::string& verb, const std::vector<std::string>& paths) {
    std::string command = tests::ProbeProgram() + " " + verb;
    for (const std::string& path : paths) command += " " + path;
    return OutputOf(command);
  }

  bool IsGvisor() const { return GetParam().runtime == "runsc"; }

  const std::string instance_ = "test-" + core::Hex(host::RandomBytes());
  ContainerSelection selection_;
  std::unique_ptr<engines::ContainerEngine> engine_;
  int exit_code_ = -1;  // of what was probed last
};

// --- runs -----------------------------------------------------------------------------------

TEST_P(RealContainers, ARunIsAsItIsAnywhere) {
  std::unique_ptr<outside::Sandbox> sandbox = Open(1);
  const core::Result<void> waits = sandbox->WaitForSpare(core::Clock::now() + kTimeout);
  ASSERT_TRUE(waits) << waits.error().ToString();
  const host::Outcome outcome = Ran(*sandbox, "print('hello')\n6 * 7");
  EXPECT_EQ(outcome.status, host::Status::kOk) << host::OutcomeToJson(outcome, 1);
  EXPECT_EQ(outcome.stdout_stream.text, "hello\n");
  EXPECT_EQ(outcome.result_json, "42");
  ASSERT_TRUE(outcome.container);
  EXPECT_EQ(outcome.container->runtime, GetParam().runtime);
  EXPECT_EQ(outcome.container->image_digest, BasicImage().id);
  EXPECT_THAT(outcome.container->engine, AnyOf("Docker Engine", "Podman Engine", "runsc"));
  EXPECT_TRUE(outcome.container->warm);
  EXPECT_GT(outcome.container->started_in, std::chrono::milliseconds(10));
  // The next one is another container, whose first run this is.
  const host::Outcome next = Ran(*sandbox, "import os\nos.uname().release");
  EXPECT_EQ(next.status, host::Status::kOk) << host::OutcomeToJson(next, 1);
  const std::string own = json::parse(*next.result_json);
  if (IsGvisor()) {
    EXPECT_EQ(own, "4.4.0");
  } else {
    EXPECT_NE(own, "4.4.0");
  }
}

TEST_P(RealContainers, FunctionsOfTheCallersAreCalled) {
  std::unique_ptr<outside::Sandbox> sandbox = Open(1);
  host::Request request = tests::MakeRequest(
      "print('before')\nsaid = [ask(n) for n in range(20)]\n"
      "try:\n    ask('x' * 200_000)\nexcept KeyError as error:\n    said.append(str(error))\nsaid",
      kTimeout);
  request.functions = {"ask"};
  std::string seen;
  run::OutputSink sink{[&](std::string_view text) { seen += text; }, {}};
  size_t calls = 0;
  run::RunOptions options;
  options.queue_timeout = kTimeout;
  options.sink = &sink;
  options.call = [&](std::string_view, std::string_view arguments) {
    EXPECT_EQ(seen, "before\n");
    if (++calls <= 20) return R"({"value":)" + std::to_string(calls) + "}";
    EXPECT_GT(arguments.size(), 200'000u);
    return std::string(R"({"error":{"type":"KeyError","message":"no such"}})");
  };
  const core::Result<host::Outcome> outcome = sandbox->Run(request, options);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->status, host::Status::kOk) << host::OutcomeToJson(*outcome, 1);
  const json said = json::parse(*outcome->result_json);
  ASSERT_EQ(said.size(), 21u);
  EXPECT_EQ(said[19], 20);
  EXPECT_EQ(said[20], "'no such'");
  ASSERT_TRUE(outcome->container);
}

TEST_P(RealContainers, ACallIsEndedWithItsRun) {
  std::unique_ptr<outside::Sandbox> sandbox = Open(1);
  host::Request request = tests::MakeRequest("print('before')\nask()\nprint('after')", seconds(10));
  request.functions = {"ask"};
  run::RunOptions options;
  options.queue_timeout = kTimeout;
  bool interrupted = false;
  options.interrupted = [&] { return interrupted; };
  options.call = [&](std::string_view, std::string_view) {
    interrupted = true;
    return std::string();
  };
  const core::Result<host::Outcome> cancelled = sandbox->Run(request, options);
  ASSERT_TRUE(cancelled) << cancelled.error().ToString();
  EXPECT_EQ(cancelled->error->type, "Cancelled");
  EXPECT_EQ(cancelled->stdout_stream.text, "before\n");
  interrupted = false;
  request.limits.timeout = seconds(2);
  options.call = [](std::string_view, std::string_view) {
    std::this_thread::sleep_for(seconds(4));  // sleeps: longer than the run may take
    return std::string(R"({"value":1})");
  };
  const core::Result<host::Outcome> late = sandbox->Run(request, options);
  ASSERT_TRUE(late) << late.error().ToString();
  EXPECT_EQ(late->status, host::Status::kTimeout) << host::OutcomeToJson(*late, 1);
  EXPECT_EQ(late->stdout_stream.text, "before\n");
}

TEST_P(RealContainers, WithoutSparesItIsCold) {
  std::unique_ptr<outside::Sandbox> sandbox = Open(0);
  const host::Outcome outcome = Ran(*sandbox, "raise ValueError('no')");
  EXPECT_EQ(outcome.status, host::Status::kException);
  EXPECT_EQ(outcome.error->type, "ValueError");
  EXPECT_FALSE(outcome.container->warm);
  sandbox.reset();
  // Docker lists one for a moment that it has removed.
  EXPECT_TRUE(tests::Eventually([&] { return Containers().empty(); }));
}

// --- limits ---------------------------------------------------------------------------------

TEST_P(RealContainers, AMemoryBombIsAMemoryLimit) {
  // Far below what the request may have: the wall is the container's.
  std::unique_ptr<outside::Sandbox> sandbox = Open(0, core::Bytes::Mebi(320));
  host::Request request = tests::MakeRequest("len(b'x' * (20 << 20))", kTimeout);
  request.limits.memory = core::Bytes::Mebi(2048);
  EXPECT_EQ(Ran(*sandbox, request).status, host::Status::kOk);
  request.source = "len(b'x' * (1500 << 20))";
  host::Outcome outcome = Ran(*sandbox, request);
  // Docker can lose the kernel's notice under runsc on a busy machine. The outcome then says what
  // is known, and losing it twice in a row is a failure.
  if (IsGvisor() && outcome.status == host::Status::kKilled) {
    EXPECT_THAT(outcome.error->hint, HasSubstr("at its memory limit, 320m,"));
    outcome = Ran(*sandbox, request);
  }
  EXPECT_EQ(outcome.status, host::Status::kMemoryLimit) << host::OutcomeToJson(outcome, 1);
  EXPECT_EQ(outcome.error->type, "MemoryLimit");
}

TEST_P(RealContainers, ForksAndFilesEndAtTheirLimits) {
  const std::string forked = Probed({"forks"});
  if (IsGvisor()) {
    // gVisor's kernel is within the limit, and does not survive having no thread left.
    EXPECT_NE(exit_code_, 0);
  } else {
    EXPECT_GT(std::stoi(forked), 10);
    // The threads that a program without the language policy may have, and some for the worker and
    // its host.
    EXPECT_LT(std::stoi(forked), core::kMaxThreads + 100);
  }
  EXPECT_EQ(Probed({"fill", "/tmp/file"}), "16\n");
  EXPECT_THAT(Probed({"fill", "/file"}), AnyOf("EROFS\n", "EACCES\n"));
}

// --- walls ----------------------------------------------------------------------------------

// What a way out would begin with.
const std::vector<std::string> kReadable = {"/var/run/docker.sock",
                                            "/run/docker.sock",
                                            "/run/containerd/containerd.sock",
                                            "/dev/mem",
                                            "/dev/kmsg",
                                            "/dev/vda",
                                            "/dev/sda",
                                            "/etc/shadow",
                                            "/root",
                                            "/var/lib/docker"};
const std::vector<std::string> kWritable = {"/proc/sys/kernel/core_pattern",
                                            "/proc/sys/kernel/modprobe",
                                            "/proc/sys/vm/panic_on_oom",
                                            "/proc/sysrq-trigger",
                                            "/sys/kernel/uevent_helper",
                                            "/sys/fs/cgroup/release_agent",
                                            "/sys/fs/cgroup/memory/release_agent",
                                            "/sys/fs/cgroup/rdma/release_agent",
                                            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                            "/sys/fs/cgroup/cgroup.procs",
                                            "/probe",
                                            "/etc/passwd",
                                            "/proc/self/uid_map"};

std::vector<std::string> With(const std::string& verb, const std::vector<std::string>& paths) {
  std::vector<std::string> arguments = {verb};
  arguments.insert(arguments.end(), paths.begin(), paths.end());
  return arguments;
}

TEST_P(RealContainers, NothingLeadsOut) {
  // Outside, as root, these are there: what is missing inside is missing because of the container.
  std::map<std::string, std::string> here = tests::Facts(OpenedHere("readable", kReadable));
  here.merge(tests::Facts(OpenedHere("writable", kWritable)));
  if (geteuid() == 0) {
    for (const char* const path : {"/etc/shadow", "/root", "/proc/sys/kernel/core_pattern"}) {
      EXPECT_EQ(here[path], "yes") << path;
    }
  }
  for (const auto& [path, said] : tests::Facts(Probed(With("readable", kReadable)))) {
    EXPECT_NE(said, "yes") << path;
  }
  for (const auto& [path, said] : tests::Facts(Probed(With("writable", kWritable)))) {
    // Under gVisor the file of its own first process, of the same user, may be opened; it has one
    // mapping already.
    if (path != "/proc/self/uid_map") {
      EXPECT_NE(said, "yes") << path;
    }
  }
  // Docker writes this one for each container, by default out of the machine's.
  EXPECT_THAT(Probed({"dump", "/etc/resolv.conf"}), ::testing::AnyOf("nameserver 127.0.0.1\n", ""));
  // Nothing of this machine is mounted but what engines write for each container.
  const std::string mounts = Probed({"dump", "/proc/self/mountinfo"});
  ASSERT_THAT(mounts, HasSubstr(" /tmp "));
  const std::set<std::string> written = {"/etc/resolv.conf",   "/etc/hosts",  "/etc/hostname",
                                         "/etc/passwd",        "/etc/group",  "/dev/shm",
                                         "/run/.containerenv", "/run/secrets"};
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    const bool is_disk = line.find(" - ext4 ") != line.npos || line.find(" - xfs ") != line.npos ||
                         line.find(" - btrfs ") != line.npos;
    std::istringstream fields(line);
    std::string id, parent, device, root, path;
    fields >> id >> parent >> device >> root >> path;
    EXPECT_TRUE(!is_disk || written.contains(path)) << line;
  }
}

TEST_P(RealContainers, ItHasNoPrivileges) {
  const std::map<std::string, std::string> facts = tests::Facts(Probed({"facts"}));
  ASSERT_EQ(exit_code_, 0);
  EXPECT_EQ(facts.at("uid"), "65534");
  EXPECT_EQ(facts.at("capabilities_effective"), "0000000000000000");
  EXPECT_EQ(facts.at("capabilities_bounding"), "0000000000000000");
  EXPECT_EQ(facts.at("become_root"), "EPERM");
  EXPECT_EQ(facts.at("mount"), "EPERM");
  EXPECT_THAT(facts.at("connect"), AnyOf("ENETUNREACH", "EHOSTUNREACH"));
  EXPECT_THAT(facts.at("write_root"), AnyOf("EROFS", "EACCES"));
  if (IsGvisor()) return;
  EXPECT_EQ(facts.at("device"), "EPERM");
  // By Docker's seccomp profile; Podman's allows it.
  if (GetParam().engine == "docker") {
    EXPECT_EQ(facts.at("user_namespace"), "EPERM");
  }
  EXPECT_EQ(facts.at("no_new_privileges"), "1");
}

TEST_P(RealContainers, ItsKernelIsTheOneItSays) {
  const std::string log = Probed({"log"});
  if (IsGvisor()) {
    EXPECT_THAT(log, HasSubstr("Starting gVisor"));
    EXPECT_THAT(tests::Facts(Probed({"facts"})).at("kernel"), HasSubstr("4.4.0"));
  } else {
    EXPECT_EQ(log, "");
    utsname own;
    ASSERT_EQ(uname(&own), 0);
    EXPECT_THAT(tests::Facts(Probed({"facts"})).at("kernel"), HasSubstr(own.release));
  }
}

// The whole: a program in all of Python, in the worker's seal, in the container.
const char kAttempts[] = R"(
import errno, os, socket
said = {}
def attempt(name, do):
    try:
        do()
        said[name] = 'yes'
    except (OSError, PermissionError) as error:
        said[name] = errno.errorcode.get(error.errno, 'refused')
attempt('shadow', lambda: os.close(os.open('/etc/shadow', os.O_RDONLY)))
attempt('core_pattern', lambda: os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)))
attempt('users', lambda: os.close(os.open('/etc/passwd', os.O_WRONLY)))
attempt('home', lambda: os.listdir('/root'))
attempt('socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close())
attempt('fork', lambda: os.fork() or os._exit(0))
attempt('root', lambda: os.setuid(0))
)";

TEST_P(RealContainers, AProgramGetsNothing) {
  if (geteuid() == 0) {
    // In a folder of our own: in /tmp anybody may have put a link there before.
    const tests::TemporaryFolder folder;
    const std::string program = folder.Write(
        "attempts.py", std::string(kAttempts) + "\nimport json\nprint(json.dumps(said))\n");
    const json here = json::parse(OutputOf("python3 " + program));
    for (const auto& [name, said] : here.items()) EXPECT_EQ(said, "yes") << name;
    EXPECT_EQ(here.size(), 7u);
  }
  std::unique_ptr<outside::Sandbox> sandbox = Open(0);
  const host::Outcome outcome = Ran(*sandbox, std::string(kAttempts) + "said");
  ASSERT_EQ(outcome.status, host::Status::kOk) << host::OutcomeToJson(outcome, 1);
  const json said = json::parse(*outcome.result_json);
  EXPECT_EQ(said.size(), 7u);
  for (const auto& [name, answer] : said.items()) EXPECT_NE(answer, "yes") << name;
}

// --- nothing is left --------------------------------------------------------------------------

// Where the id of one still stands: mounts, command lines of processes, and control groups.
std::vector<std::string> TracesOf(const std::set<std::string>& ids) {
  std::vector<std::string> traces;
  const auto look = [&](const std::string& place) {
    const core::Result<std::string> text = core::ReadFile(place, 16 << 20);
    if (!text) return;
    for (const std::string& id : ids) {
      if (text->find(id) != text->npos) traces.push_back(place + ": " + id);
    }
  };
  look("/proc/self/mountinfo");
  for (const tests::ProcessEntry& process : tests::Processes()) {
    look("/proc/" + std::to_string(process.pid) + "/cmdline");
  }
  for (std::string& group : tests::ControlGroupsOf(ids)) traces.push_back(std::move(group));
  return traces;
}

class ManyContainers : public RealContainers {
 protected:
  void RunMany(int runs) {
    std::set<std::string> ids;
    const size_t descriptors = tests::OpenDescriptors();
    {
      std::unique_ptr<outside::Sandbox> sandbox = Open(1);
      for (int run = 0; run < runs; ++run) {
        if (run % 5 == 0) {
          for (const engines::ListedContainer& each : Containers()) ids.insert(each.id);
        }
        const host::Outcome outcome = Ran(*sandbox, "1 + 1");
        ASSERT_EQ(outcome.result_json, "2") << host::OutcomeToJson(outcome, 1);
      }
      // The control: the next one, which is being started, can be seen.
      EXPECT_TRUE(tests::Eventually([&] {
        for (const engines::ListedContainer& each : Containers()) ids.insert(each.id);
        return !TracesOf(ids).empty();
      }));
    }
    EXPECT_TRUE(tests::Eventually([&] { return Containers().empty(); }));
    EXPECT_TRUE(tests::Eventually([&] { return TracesOf(ids).empty(); }));
    EXPECT_THAT(TracesOf(ids), IsEmpty());
    EXPECT_EQ(tests::OpenDescriptors(), descriptors);
  }
};

// gVisor takes longer to come up.
TEST_P(ManyContainers, RunsLeaveNothing) { RunMany(IsGvisor() ? 10 : 30); }

using ManyContainersSoak = ManyContainers;
TEST_P(ManyContainersSoak, FiveHundredRunsLeaveNothing) { RunMany(500); }

TEST_P(RealContainers, AHostThatIsKilledLeavesNothingRunning) {
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const pid_t host = fork();
  if (host == 0) {
    // What is thrown here must not end as a second run of these tests.
    try {
      std::unique_ptr<outside::Sandbox> sandbox = Open(1);
      const bool waits = sandbox->WaitForSpare(core::Clock::now() + kTimeout).ok();
      (void)!write(said[1], waits ? "y" : "n", 1);
      for (;;) pause();
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
    }
    _exit(1);
  }
  close(said[1]);  // of a child that ends without a word the end is read
  char waits = '?';
  EXPECT_EQ(read(said[0], &waits, 1), 1);
  close(said[0]);
  EXPECT_EQ(waits, 'y');
  EXPECT_THAT(Containers(), Not(IsEmpty()));
  kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  EXPECT_TRUE(tests::Eventually([&] {
    for (const engines::ListedContainer& each : Containers()) {
      if (each.running) return false;
    }
    return true;
  }));
  if (GetParam().engine == "docker") {
    EXPECT_TRUE(tests::Eventually([&] { return Containers().empty(); }));
  }
  // What is left of it the next one removes.
  const core::Result<size_t> removed = RemoveOrphans(*engine_, instance_);
  ASSERT_TRUE(removed) << removed.error().ToString();
  EXPECT_THAT(Containers(), IsEmpty());
}

// Podman is looked at where there is one.
std::vector<tests::Place> Places() {
  std::vector<tests::Place> places = {{"docker", "runc"}, {"docker", "runsc"}, {"runsc", "runsc"}};
  if (getenv("BELLJAR_PODMAN_SOCKET")) {
    places.push_back({"podman", tests::FromEnvironment("BELLJAR_PODMAN_RUNTIME", "crun")});
  }
  return places;
}

INSTANTIATE_TEST_SUITE_P(Engines, RealContainers, ::testing::ValuesIn(Places()),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Engines, ManyContainers, ::testing::ValuesIn(Places()),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Engines, ManyContainersSoak, ::testing::ValuesIn(Places()),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace belljar::container::backend::real_backend_test
