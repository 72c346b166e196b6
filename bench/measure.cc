#include "bench/measure.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "bench/timing.h"

namespace belljar::bench {
namespace {

namespace fs = std::filesystem;

double CpuOf(int who) {
  rusage usage;
  getrusage(who, &usage);
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

std::string ReadWord(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

pid_t ParentOf(const fs::path& process) {
  std::ifstream file(process / "status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PPid:")) return atoi(line.c_str() + 5);
  }
  return -1;
}

// Sum of the lines that begin so; negative if not readable.
double Mebibytes(const fs::path& process, std::string_view field) {
  std::ifstream file(process / "smaps_rollup");
  double kibibytes = 0;
  bool any = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field)) continue;
    kibibytes += atof(line.c_str() + line.find(':') + 1);
    any = true;
  }
  return any ? kibibytes / 1024 : -1;
}

std::vector<pid_t> ZygotesOf(const outside::Sandbox& sandbox) {
  const outside::Backend::Counters counters = sandbox.counters();
  return {counters.zygote_pid, counters.light_zygote_pid};
}

double CpuOfProcesses(const std::vector<pid_t>& pids) {
  double sum = 0;
  for (const pid_t pid : pids) {
    if (pid > 0) sum += CpuOfProcess(pid);
  }
  return sum;
}

}  // namespace

double CpuOfProcess(pid_t pid) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

std::unique_ptr<outside::Sandbox> OpenOrExit(const core::Profile& profile, size_t spares) {
  outside::SandboxOptions options;
  options.profile = profile;
  options.spares = spares;
  return OrExit(outside::Sandbox::Open(std::move(options)));
}

void Settle(const outside::Sandbox& sandbox, size_t spares) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
  while (sandbox.counters().waiting < spares) {
    if (Clock::now() > deadline) Exit("the pool of spares does not fill");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

host::Request WithDefaults(const core::Profile& profile, std::string source) {
  host::Request request;
  request.source = std::move(source);
  request.limits = profile.default_limits;
  return request;
}

RunTime TimeRun(outside::Sandbox& sandbox, const host::Request& request, host::Status status) {
  const Clock::time_point start = Clock::now();
  core::Result<host::Outcome> result = sandbox.Run(request);
  const double total = MillisecondsSince(start);
  const host::Outcome outcome = OrExit(std::move(result));
  // Programs of other languages have none.
  const bool lacks_result = outcome.success() && outcome.language.empty() && !outcome.result_json;
  if (outcome.status != status || lacks_result)
    Exit("a run ended otherwise than expected: " + host::OutcomeToJson(outcome));
  return {total, std::chrono::duration<double, std::milli>(outcome.usage.wall_time).count()};
}

Load MeasureLoad(outside::Sandbox& sandbox, const host::Request& request, size_t clients,
                 std::chrono::milliseconds duration) {
  const std::vector<pid_t> zygotes = ZygotesOf(sandbox);
  const double zygotes_before = CpuOfProcesses(zygotes);
  const double workers_before = CpuOf(RUSAGE_CHILDREN);
  const double host_before = CpuOf(RUSAGE_SELF);
  const Clock::time_point start = Clock::now();
  std::atomic<int> runs = 0;
  InThreads(clients, [&](size_t) {
    while (Clock::now() - start < duration) {
      TimeRun(sandbox, request);
      ++runs;
    }
  });
  const double elapsed = MillisecondsSince(start);
  const double count = runs;
  Load load;
  load.per_second = count / elapsed * 1e3;
  load.worker_cpu = (CpuOf(RUSAGE_CHILDREN) - workers_before) / count;
  load.host_cpu = (CpuOf(RUSAGE_SELF) - host_before) / count;
  // After a rotation, the new zygote is one of the children.
  if (ZygotesOf(sandbox) == zygotes) {
    load.zygote_cpu = (CpuOfProcesses(zygotes) - zygotes_before) / count;
  }
  return load;
}

void MeasureLatencies(outside::Sandbox& sandbox, const host::Request& request, size_t clients,
                      std::chrono::milliseconds duration, Series& series) {
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  InThreads(clients, [&](size_t) {
    while (Clock::now() - start < duration) {
      const double time = TimeRun(sandbox, request).total;
      const std::lock_guard lock(mutex);
      series.Add(time);
    }
  });
}

double TimeBatch(outside::Sandbox& sandbox, const host::Request& request, int count) {
  std::atomic<int> left = count;
  return Time([&] {
    InThreads(std::thread::hardware_concurrency() + 1, [&](size_t) {
      while (left-- > 0) TimeRun(sandbox, request);
    });
  });
}

std::vector<double> PrivateMemoryOfSpares(const outside::Sandbox& sandbox) {
  const std::vector<pid_t> zygotes = ZygotesOf(sandbox);
  std::vector<double> memory;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const int pid = atoi(entry.path().filename().c_str());
    if (pid <= 0 || std::ranges::count(zygotes, pid) > 0) continue;
    if (ParentOf(entry.path()) != getpid()) continue;
    // A worker keeps the name of the zygote.
    if (ReadWord(entry.path() / "comm") != "belljar-zygote") continue;
    memory.push_back(Mebibytes(entry.path(), "Private_"));
  }
  return memory;
}

SandboxMemory ProportionalMemory(const outside::Sandbox& sandbox, size_t spares) {
  SandboxMemory memory;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const int pid = atoi(entry.path().filename().c_str());
    int ancestor = pid;
    while (ancestor > 1 && ancestor != getpid())
      ancestor = ParentOf("/proc/" + std::to_string(ancestor));
    if (pid == getpid() || ancestor != getpid()) continue;
    double& sum = pid == sandbox.counters().zygote_pid ? memory.zygote : memory.spare;
    sum += Mebibytes(entry.path(), "Pss:");
  }
  memory.spare /= static_cast<double>(spares);
  return memory;
}

double TimeFirstResult(const host::Request& request, const core::Profile& profile) {
  const Clock::time_point start = Clock::now();
  const std::unique_ptr<outside::Sandbox> sandbox = OpenOrExit(profile, 1);
  TimeRun(*sandbox, request);
  return MillisecondsSince(start);
}

}  // namespace belljar::bench
