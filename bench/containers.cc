// belljar-bench-containers: what a wall more costs a run. For Docker Engine with runc, with runsc,
// and runsc alone, as far as each is here and has the image (belljar image build --load …):
//
//   cold      from the request to the outcome, where a container is started for it
//   warm      the same where one waits
//   memory    of a container that waits: of its control group, gVisor's own kernel included
//
// and for comparison a run without a container, in turns with the warm ones.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/report.h"
#include "container/backend/container_owner.h"
#include "container/backend/container_sandbox.h"
#include "engine/core/fd.h"
#include "engine/outside/profile_catalogue.h"

namespace belljar {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kInstance[] = "bench";
constexpr int kColdRuns = 5;
constexpr int kWarmRuns = 30;
// After a container's start, which the engine goes on with for a moment.
constexpr milliseconds kSettling{700};

[[noreturn]] void Fail(const std::string& what) {
  fprintf(stderr, "belljar-bench-containers: %s\n", what.c_str());
  exit(1);
}

template <typename T>
T Need(Result<T> result) {
  if (!result) Fail(result.error().ToString());
  return std::move(*result);
}

double Milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

SandboxOptions Standard(const Profile& profile) {
  SandboxOptions options;
  options.profile = profile;
  options.isolation = IsolationMode::kStandard;
  options.spares = 1;
  return options;
}

double TimeOf(Sandbox& sandbox) {
  Request request;
  request.source = "1 + 1";
  request.limits = sandbox.profile().default_limits;
  const auto start = Clock::now();
  const Result<Outcome> outcome = sandbox.Run(request);
  const double time = Milliseconds(Clock::now() - start);
  if (!outcome) Fail(outcome.error().ToString());
  if (!outcome->success()) Fail("a run failed: " + OutcomeToJson(*outcome));
  return time;
}

double TimeWithSpare(Sandbox& sandbox) {
  if (Result<void> waits = sandbox.WaitForSpare(Clock::now() + seconds(60)); !waits) {
    Fail(waits.error().ToString());
  }
  std::this_thread::sleep_for(kSettling);
  return TimeOf(sandbox);
}

// Of the control group that is named for the container, of either version; negative: not found.
double MemoryOf(const std::string& id) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* const top : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
    for (const fs::directory_entry& each : fs::recursive_directory_iterator(
             top, fs::directory_options::skip_permission_denied, error)) {
      if (each.path().filename().string().find(id) == std::string::npos) continue;
      for (const char* const file : {"memory.usage_in_bytes", "memory.current"}) {
        const Result<std::string> text = ReadFile(each.path() / file, 64);
        if (text) return strtod(text->c_str(), nullptr) / (1 << 20);
      }
    }
  }
  return -1;
}

struct Place {
  const char* engine;
  const char* runtime;
};

void Measure(const Place& place, const Profile& profile, Sandbox& local, BenchReport& report) {
  const std::string name = std::string(place.engine) + " " + place.runtime + ": ";
  ContainerOptions options;
  options.wish.engine = place.engine;
  options.wish.runtime = place.runtime;
  options.instance = kInstance;
  Result<ContainerChoice> choice = ChooseContainer(options.wish, profile);
  if (!choice) {
    fprintf(stderr, "%sleft out: %s\n", name.c_str(), choice.error().ToString().c_str());
    return;
  }
  Series cold, up, warm, without, memory;
  {
    options.spares = 0;
    std::unique_ptr<Sandbox> sandbox = Need(OpenContainerSandbox(Standard(profile), options));
    for (int run = 0; run < kColdRuns; ++run) cold.Add(TimeOf(*sandbox));
  }
  options.spares = 1;
  std::unique_ptr<Sandbox> sandbox = Need(OpenContainerSandbox(Standard(profile), options));
  for (int run = 0; run < kWarmRuns; ++run) {
    warm.Add(TimeWithSpare(*sandbox));
    without.Add(TimeWithSpare(local));
  }
  (void)TimeWithSpare(*sandbox);
  (void)sandbox->WaitForSpare(Clock::now() + seconds(60));
  std::this_thread::sleep_for(kSettling);
  for (const ListedContainer& each : Need(choice->engine->List(kInstanceLabel, kInstance))) {
    memory.Add(MemoryOf(each.id));
  }
  report.rows.push_back({name + "cold", "ms", cold});
  report.rows.push_back({name + "warm", "ms", warm});
  report.rows.push_back({name + "without a container", "ms", without});
  report.rows.push_back({name + "memory of one that waits", "MiB", memory});
}

// With two arguments, an engine and a runtime, only those.
int Main(int count, char** arguments) {
  WarnWhenBusy();
  const Profile profile = Need(Need(ProfileCatalogue::Open()).Choose("basic"));
  std::unique_ptr<Sandbox> local = Need(Sandbox::Open(Standard(profile)));
  BenchReport report;
  report.machine = MachineName("");
  for (const Place& place : {Place{"docker", "runc"}, Place{"docker", "runsc"},
                             Place{"podman", "runc"}, Place{"runsc", "runsc"}}) {
    const bool is_wanted = count != 3 || (place.engine == std::string_view(arguments[1]) &&
                                          place.runtime == std::string_view(arguments[2]));
    if (is_wanted) Measure(place, profile, *local, report);
  }
  PrintTable(report);
  return 0;
}

}  // namespace
}  // namespace belljar

int main(int count, char** arguments) { return belljar::Main(count, arguments); }
