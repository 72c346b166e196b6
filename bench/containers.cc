// belljar-bench-containers: the cost of running in a container. Measures Docker Engine with runc,
// Docker Engine with runsc, and runsc alone, where available and where the image is loaded (belljar
// image build --load …):
//
//   cold      from the request to the outcome, with a container started for it
//   warm      the same with a waiting container
//   memory    of a waiting container: of its control group, including gVisor's kernel
//
// and, for comparison, a run without a container, alternating with the warm ones. If the docker
// command and runsc are available, also the equivalent without Belljar, for the goal of a warm run:
//
//   docker run --rm --network=none --runtime=runsc IMAGE python3 -c pass
//
// IMAGE contains only this machine's python3. It is created for the benchmark and removed again.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "bench/measure.h"
#include "bench/report.h"
#include "bench/timing.h"
#include "container/backend/container_owner.h"
#include "container/backend/container_sandbox.h"
#include "engine/core/fd.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kInstance[] = "bench";
constexpr int kColdRuns = 5;
constexpr int kWarmRuns = 30;
// Goal for a warm run, as a fraction of the time of a cold `docker run`.
constexpr double kWarmGoal = 1.0 / 20;
// After a container's start, because the engine continues to work for a moment.
constexpr milliseconds kSettling{700};

outside::SandboxOptions Standard(const core::Profile& profile) {
  outside::SandboxOptions options;
  options.profile = profile;
  options.isolation = outside::IsolationMode::kStandard;
  options.spares = 1;
  return options;
}

double TimeOf(outside::Sandbox& sandbox) {
  return TimeRun(sandbox, WithDefaults(sandbox.profile(), "1 + 1")).total;
}

double TimeWithSpare(outside::Sandbox& sandbox) {
  OrExit(sandbox.WaitForSpare(core::Clock::now() + seconds(60)));
  std::this_thread::sleep_for(kSettling);
  return TimeOf(sandbox);
}

// From the control group named after the container, v1 or v2; negative: not found.
double MemoryOf(const std::string& id) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* const top : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
    for (const fs::directory_entry& each : fs::recursive_directory_iterator(
             top, fs::directory_options::skip_permission_denied, error)) {
      if (each.path().filename().string().find(id) == std::string::npos) continue;
      for (const char* const file : {"memory.usage_in_bytes", "memory.current"}) {
        const core::Result<std::string> text = core::ReadFile(each.path() / file, 64);
        if (text) return strtod(text->c_str(), nullptr) / (1 << 20);
      }
    }
  }
  return -1;
}

// --- docker run -----------------------------------------------------------------------------

// Prefers the command of the Debian package to other programs called docker on PATH.
constexpr char kDocker[] = "docker=/usr/bin/docker; [ -x $docker ] || docker=docker; ";
constexpr char kMakeImage[] = R"sh(
command -v $docker >/dev/null || exit 1
stdlib=$(/usr/bin/python3 -I -c 'import sysconfig; print(sysconfig.get_path("stdlib"))') || exit 1
libraries=$(ldd /usr/bin/python3 | grep -o '/[^ )]*')
tar -cPh --transform 's,^/,,' --exclude='*-packages' --exclude=test --exclude='config-*' \
  /usr/bin/python3 "$stdlib" $libraries 2>/dev/null |
  $docker import - belljar-bench-python >/dev/null
)sh";
constexpr char kRunImage[] =
    "exec $docker run --rm --network=none --runtime=runsc belljar-bench-python python3 -c pass";
constexpr char kRemoveImage[] = "exec $docker image rm --force belljar-bench-python >/dev/null";

bool Shell(const char* script) { return system((std::string(kDocker) + script).c_str()) == 0; }

// Makes the docker command use the same engine as Belljar. Call it before any thread reads the
// environment.
void NameSocketForDocker() {
  for (const std::string& socket : container::backend::DefaultSocketsOf("docker")) {
    if (access(socket.c_str(), F_OK) != 0) continue;
    setenv("DOCKER_HOST", ("unix://" + socket).c_str(), 1);
    return;
  }
}

// Empty if there is no docker command, or no python3 for an image.
Series TimesOfDockerRun() {
  Series times;
  if (!Shell(kMakeImage)) return times;
  for (int run = 0; run < kColdRuns; ++run) {
    const Clock::time_point start = Clock::now();
    if (Shell(kRunImage)) times.Add(MillisecondsSince(start));
  }
  (void)Shell(kRemoveImage);
  return times;
}

// --- engines --------------------------------------------------------------------------------

struct Place {
  const char* engine;
  const char* runtime;
};

// Under gVisor: the time of a warm run as a fraction of `docker run`, which is measured once.
void CompareWithDockerRun(const std::string& name, const Series& warm, BenchReport& report) {
  static const Series times = TimesOfDockerRun();
  if (times.count() == 0) {
    fprintf(stderr, "%sno comparison: docker run with runsc is not available\n", name.c_str());
    return;
  }
  report.rows.push_back({name + "docker run --rm … python3 -c pass", "ms", times});
  report.goals.push_back({.name = name + "warm, as a part of docker run",
                          .unit = "",
                          .value = warm.median() / times.median(),
                          .goal = kWarmGoal});
}

void Measure(const Place& place, const core::Profile& profile, outside::Sandbox& local,
             BenchReport& report) {
  const std::string name = std::string(place.engine) + " " + place.runtime + ": ";
  container::backend::ContainerOptions options;
  options.selection.engine = place.engine;
  options.selection.runtime = place.runtime;
  options.instance = kInstance;
  core::Result<container::backend::ContainerChoice> choice =
      container::backend::ChooseContainer(options.selection, profile);
  if (!choice) {
    fprintf(stderr, "%sskipped: %s\n", name.c_str(), choice.error().ToString().c_str());
    return;
  }
  Series cold, up, warm, without, memory;
  {
    options.spares = 0;
    std::unique_ptr<outside::Sandbox> sandbox =
        OrExit(container::backend::OpenContainerSandbox(Standard(profile), options));
    for (int run = 0; run < kColdRuns; ++run) cold.Add(TimeOf(*sandbox));
  }
  options.spares = 1;
  std::unique_ptr<outside::Sandbox> sandbox =
      OrExit(container::backend::OpenContainerSandbox(Standard(profile), options));
  for (int run = 0; run < kWarmRuns; ++run) {
    warm.Add(TimeWithSpare(*sandbox));
    without.Add(TimeWithSpare(local));
  }
  (void)TimeWithSpare(*sandbox);
  (void)sandbox->WaitForSpare(core::Clock::now() + seconds(60));
  std::this_thread::sleep_for(kSettling);
  for (const container::engines::ListedContainer& each :
       OrExit(choice->engine->List(container::backend::kInstanceLabel, kInstance))) {
    memory.Add(MemoryOf(each.id));
  }
  report.rows.push_back({name + "cold", "ms", cold});
  report.rows.push_back({name + "warm", "ms", warm});
  if (place.runtime == std::string_view("runsc")) CompareWithDockerRun(name, warm, report);
  report.rows.push_back({name + "without a container", "ms", without});
  report.rows.push_back({name + "memory of one that waits", "MiB", memory});
}

// With two arguments, an engine and a runtime, measures only those.
int Main(int count, char** arguments) {
  WarnWhenBusy();
  NameSocketForDocker();
  const core::Profile profile = OrExit(OrExit(profiles::ProfileCatalogue::Open()).Choose("basic"));
  std::unique_ptr<outside::Sandbox> local = OrExit(outside::Sandbox::Open(Standard(profile)));
  BenchReport report;
  report.machine = MachineName("");
  for (const Place& place : {Place{"docker", "runc"}, Place{"docker", "runsc"},
                             Place{"podman", "runc"}, Place{"runsc", "runsc"}}) {
    const bool is_wanted = count != 3 || (place.engine == std::string_view(arguments[1]) &&
                                          place.runtime == std::string_view(arguments[2]));
    if (is_wanted) Measure(place, profile, *local, report);
  }
  Print(report, false);
  return 0;
}

}  // namespace
}  // namespace belljar::bench

int main(int count, char** arguments) { return belljar::bench::Main(count, arguments); }
