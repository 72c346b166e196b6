// belljar-bench-sessions [--quick] [--json] [--rounds N]
//
// The cost of sessions: a cell, a roll-back, a branch, opening one, many at once and their memory,
// compared with a plain fork of an interpreter with the same modules. With the packages of
// data-science installed, also with a large numpy array.
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/floor.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/timing.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/sessions/session.h"

namespace belljar::bench {
namespace {

namespace fs = std::filesystem;
using Sessions = std::vector<std::shared_ptr<sessions::Session>>;

constexpr size_t kSpares = 4;
constexpr size_t kBranches = 100;
constexpr int kSlowEvery = 50;  // rounds
// What is done off the caller's path is over by then.
constexpr std::chrono::milliseconds kPause{8};

// Each session holds descriptors of its processes.
void RaiseDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

double Field(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return atof(line.c_str() + name.size()) / 1024;
  }
  return 0;
}

// MiB that the machine has left.
double Available() { return Field("/proc/meminfo", "MemAvailable:"); }

// Private memory, in MiB, of all processes below this one, without the zygote and its spares.
double PrivateBelow(const std::vector<pid_t>& pids) {
  double sum = 0;
  for (const pid_t pid : pids) {
    const fs::path file = "/proc/" + std::to_string(pid) + "/smaps_rollup";
    sum += Field(file, "Private_Dirty:") + Field(file, "Private_Clean:");
  }
  return sum;
}

struct Rows {
  Row fork{"fork + exit + wait of CPython with the same modules", "ms", {}};
  Row run{"belljar, library: a single run, spares ready", "ms", {}};
  Row open{"open a session, a spare ready", "ms", {}};
  Row cell{"cell `x += 1`", "ms", {}};
  Row busy{"cell `x += 1`, right after the one before", "ms", {}};
  Row undo{"roll back", "ms", {}};
  Row branch{"branch", "ms", {}};
  Row branches{"100 branches, each answering, all cores", "ms", {}};
  Row memory{"private memory of a session with one checkpoint, after a cell", "MiB", {}};
  Row rest{"the same, idle for some seconds", "MiB", {}};
  Row many{"1,000 sessions, each answering twice: memory", "MiB", {}};
  Row many_rest{"the same, idle for some seconds", "MiB", {}};
  Row array{"data-science, 200 MB of numpy: roll back", "ms", {}};
  Row array_branch{"data-science, 200 MB of numpy: branch", "ms", {}};
  Row array_branches{"data-science: 100 branches, each answering, all cores", "ms", {}};

  std::vector<Row> All() const {
    std::vector<Row> all = {fork,   run,      open,   cell, busy, undo,
                            branch, branches, memory, rest, many, many_rest};
    if (array.series.count() > 0) all.insert(all.end(), {array, array_branch, array_branches});
    return all;
  }
};

class Bench {
 public:
  Bench(const BenchOptions& options, const profiles::ProfileCatalogue& catalogue)
      : options_(options),
        catalogue_(catalogue),
        profile_(OrExit(catalogue.Choose("basic"))),
        python_(PythonFloor(profile_)),
        sandbox_(OpenOrExit(profile_, kSpares)) {}

  BenchReport Run() {
    session_ = OpenSession(*sandbox_, profile_);
    Cell(*session_, "x = 0");
    for (int round = 0; round < options_.rounds; ++round) {
      Round();
      if (round % kSlowEvery == 0) {
        rows_.branches.series.Add(TimeBranches(*session_, "x"));
      }
    }
    MeasureMemory();
    session_.reset();
    MeasureMany();
    MeasureArray();
    return {MachineName(interpreter_), rows_.All(), Goals(), rows_.fork.name};
  }

 private:
  static std::shared_ptr<sessions::Session> OpenSession(outside::Sandbox& sandbox,
                                                        const core::Profile& profile) {
    sessions::SessionOptions options;
    options.limits = profile.default_limits;
    return OrExit(sandbox.OpenSession(options));
  }

  void Cell(sessions::Session& session, const std::string& source) const {
    const host::Outcome outcome = OrExit(session.Run(WithDefaults(profile_, source)));
    if (!outcome.success()) Exit(outcome.error ? outcome.error->message : "a cell failed");
  }

  // Until sessions that nobody uses have ended their workers.
  static void Rest() {
    std::this_thread::sleep_for(sessions::SessionOptions{}.rest_after + std::chrono::seconds(3));
  }

  static void Pause() { std::this_thread::sleep_for(kPause); }

  void Round() {
    rows_.fork.series.Add(python_.Sample('f'));
    Settle(*sandbox_, kSpares);
    rows_.run.series.Add(TimeRun(*sandbox_, WithDefaults(profile_, "1")).total);
    Pause();
    rows_.cell.series.Add(Time([&] { Cell(*session_, "x += 1"); }));
    rows_.busy.series.Add(Time([&] { Cell(*session_, "x += 1"); }));
    Pause();
    rows_.undo.series.Add(Time([&] { OrExit(session_->Undo()); }));
    Pause();
    Sessions branches;
    rows_.branch.series.Add(Time([&] { branches = OrExit(session_->Branch(1)); }));
    branches.clear();
    Pause();
    std::shared_ptr<sessions::Session> opened;
    rows_.open.series.Add(Time([&] { opened = OpenSession(*sandbox_, profile_); }));
    opened.reset();
    Pause();
  }

  double TimeBranches(sessions::Session& session, const std::string& source) const {
    Sessions branches;
    const double time = Time([&] {
      branches = OrExit(session.Branch(kBranches));
      const size_t count = std::max(1u, std::thread::hardware_concurrency());
      InThreads(count, [&](size_t first) {
        for (size_t i = first; i < branches.size(); i += count) Cell(*branches[i], source);
      });
    });
    branches.clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return time;
  }

  void MeasureMemory() {
    const auto session = OpenSession(*sandbox_, profile_);
    Cell(*session, "x = 1");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rows_.memory.series.Add(PrivateBelow(session->processes()));
    Rest();
    rows_.rest.series.Add(PrivateBelow(session->processes()));
  }

  void MeasureMany() {
    constexpr size_t kMany = 1'000;
    const size_t count = options_.quick ? kMany / 10 : kMany;
    const double before = Available();
    Sessions sessions;
    for (size_t i = 0; i < count; ++i) {
      sessions.push_back(OpenSession(*sandbox_, profile_));
      Cell(*sessions.back(), "x = 1");
    }
    for (const auto& session : sessions) Cell(*session, "x + 1");
    const auto taken = [&] { return (before - Available()) * static_cast<double>(kMany / count); };
    std::this_thread::sleep_for(std::chrono::seconds(2));
    rows_.many.series.Add(taken());
    Rest();
    rows_.many_rest.series.Add(taken());
  }

  void MeasureArray() {
    const core::Profile profile = OrExit(catalogue_.Choose("data-science"));
    if (!catalogue_.installation().Missing(profile).empty()) return;
    const std::unique_ptr<outside::Sandbox> sandbox = OpenOrExit(profile, 1);
    const auto session = OpenSession(*sandbox, profile);
    Cell(*session, "import numpy as np\na = np.ones(10)");
    for (int i = 0; i < 3; ++i) rows_.array_branches.series.Add(TimeBranches(*session, "a.sum()"));
    Cell(*session, "a = np.ones(25_000_000)");
    for (int i = 0; i < 20; ++i) {
      Cell(*session, "x = a[0]");
      std::this_thread::sleep_for(10 * kPause);
      rows_.array.series.Add(Time([&] { OrExit(session->Undo()); }));
      std::this_thread::sleep_for(10 * kPause);
      Sessions branches;
      rows_.array_branch.series.Add(Time([&] { branches = OrExit(session->Branch(1)); }));
    }
  }

  std::vector<Goal> Goals() const {
    const double fork = rows_.fork.series.median();
    std::vector<Goal> goals = {
        {"p50 of a cell", "ms", rows_.cell.series.median(), 0.25},
        {"roll back, as a multiple of that fork", "x", rows_.undo.series.median() / fork, 1},
        {"branch, as a multiple of that fork", "x", rows_.branch.series.median() / fork, 1},
        {"open a session, as a multiple of a run", "x",
         rows_.open.series.median() / rows_.run.series.median(), 1},
        {"private memory of an idle session with one checkpoint", "MiB", rows_.rest.series.median(),
         3},
        {"memory of 1,000 idle sessions", "MiB", rows_.many_rest.series.median(), 4096},
    };
    if (rows_.array.series.count() > 0) {
      goals.push_back({"roll back with 200 MB of numpy", "ms", rows_.array.series.median(), 5});
      goals.push_back({"branch with 200 MB of numpy", "ms", rows_.array_branch.series.median(), 5});
      goals.push_back({"100 branches with numpy, each answering", "ms",
                       rows_.array_branches.series.median(), 300});
    }
    return goals;
  }

  const BenchOptions options_;
  const profiles::ProfileCatalogue& catalogue_;
  const core::Profile profile_;
  Floor python_;
  std::unique_ptr<outside::Sandbox> sandbox_;
  std::shared_ptr<sessions::Session> session_;
  const std::string interpreter_ = Interpreter();
  Rows rows_;
};

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) {
  using namespace belljar::bench;
  const BenchOptions options = ReadBenchOptions(argc, argv, 200, 40);
  RaiseDescriptors();
  const belljar::profiles::ProfileCatalogue catalogue =
      OrExit(belljar::profiles::ProfileCatalogue::Open());
  WarnWhenBusy();
  Print(Bench(options, catalogue).Run(), options.json);
  return 0;
}
