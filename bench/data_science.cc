// belljar-bench-data-science [--quick] [--json] [--rounds N]
//
// The cost of the profile data-science: a run of a few lines that use numpy and pandas, compared
// with a cold interpreter that imports them and a plain fork of one that has them loaded; a plot; a
// batch on all cores; and the memory of a waiting worker.
#include <string>
#include <vector>

#include "bench/floor.h"
#include "bench/measure.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/timing.h"
#include "engine/core/text.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

constexpr size_t kSpares = 4;
constexpr int kBatch = 100;
constexpr char kSeries[] =
    "import numpy as np, pandas as pd\nresult = float(pd.Series(np.arange(10)).mean())";
constexpr char kArray[] = "import numpy as np\nresult = float(np.arange(10).mean())";
constexpr char kPlot[] =
    "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.title('squares')\nresult = 1";

constexpr int kSlowEvery = 20;  // rounds

struct Rows {
  Row small{"fork + exit + wait of a small C process", "ms", {}};
  Row fork{"fork + exit + wait of CPython with the same packages", "ms", {}};
  Row cold_two{"python3 -I, cold: import numpy, pandas", "ms", {}};
  Row cold{"python3 -I, cold: import what the profile preloads", "ms", {}};
  Row series{"belljar, library: mean of a pandas Series, spares ready", "ms", {}};
  Row plot{"belljar, library: a line plot as PNG, spares ready", "ms", {}};
  Row batch{"belljar, library: 100 means of a numpy array, all cores", "ms", {}};
  Row worker_cpu{"CPU of a worker, clone to reaped", "ms", {}};
  Row host_cpu{"CPU of the host a run", "ms", {}};
  Row zygote_cpu{"CPU of the zygote a run", "ms", {}};
  Row memory{"private memory of a waiting spare", "MiB", {}};
  Row first{"belljar, library: open to first result", "ms", {}};

  std::vector<Row> All() const {
    return {small, fork,       cold_two, cold,       series, plot,
            batch, worker_cpu, host_cpu, zygote_cpu, memory, first};
  }
};

class Bench {
 public:
  Bench(const BenchOptions& options, const profiles::ProfileCatalogue& catalogue)
      : options_(options),
        profile_(OrExit(catalogue.Choose("data-science"))),
        packages_(PackagesOrExit(catalogue.installation())),
        series_(WithDefaults(profile_, kSeries)),
        array_(WithDefaults(profile_, kArray)),
        plot_(WithDefaults(profile_, kPlot)),
        small_({ProgramBeside("belljar-bench-floor-c")}),
        python_(PythonFloor()),
        sandbox_(OpenOrExit(profile_, kSpares)) {}

  BenchReport Run() {
    for (int round = 0; round < options_.rounds; ++round) {
      Round();
      if (round % kSlowEvery == 0) SlowRound();
    }
    return {MachineName(interpreter_), rows_.All(), Goals(), rows_.fork.name};
  }

 private:
  std::string PackagesOrExit(const installation::Installation& installation) const {
    for (const installation::MissingPackages& missing : installation.Missing(profile_)) {
      Exit("no packages here; install them: " + missing.command);
    }
    return installation.FolderOfSet(profile_.packages.front().name).path;
  }

  // What a plain interpreter would have to import, without the policy.
  std::vector<std::string> Preloaded() const {
    std::vector<std::string> names;
    for (const core::ModuleExports& module : profile_.modules) {
      const std::string_view top = core::TopLevelName(module.name);
      for (const std::string& package : profile_.packages.front().modules) {
        if (top == package) names.push_back(module.name);
      }
    }
    return names;
  }

  std::vector<std::string> PythonFloor() const {
    std::vector<std::string> command = {ProgramBeside("belljar-bench-floor-python"), packages_};
    for (std::string& name : Preloaded()) command.push_back(std::move(name));
    return command;
  }

  double TimeImport(const std::vector<std::string>& names) const {
    std::string program = "import sys; sys.path.insert(0, sys.argv[1])\n";
    for (const std::string& name : names) {
      program += "try:\n import " + name + "\nexcept ImportError: pass\n";
    }
    return TimeCommand({interpreter_, "-I", "-B", "-c", program, packages_});
  }

  void Round() {
    Settle(*sandbox_, kSpares);
    rows_.small.series.Add(small_.Sample('f'));
    rows_.fork.series.Add(python_.Sample('f'));
    Settle(*sandbox_, kSpares);
    rows_.series.series.Add(TimeRun(*sandbox_, series_).total);
  }

  void SlowRound() {
    Settle(*sandbox_, kSpares);
    rows_.plot.series.Add(TimeRun(*sandbox_, plot_).total);
    Settle(*sandbox_, kSpares);
    rows_.cold_two.series.Add(TimeImport({"numpy", "pandas"}));
    rows_.cold.series.Add(TimeImport(Preloaded()));
    Settle(*sandbox_, kSpares);
    for (const double mebibytes : PrivateMemoryOfSpares(*sandbox_)) {
      rows_.memory.series.Add(mebibytes);
    }
    rows_.batch.series.Add(TimeBatch(*sandbox_, array_, kBatch));
    Settle(*sandbox_, kSpares);
    const Load load = MeasureLoad(*sandbox_, array_, 2, std::chrono::milliseconds(500));
    rows_.worker_cpu.series.Add(load.worker_cpu);
    rows_.host_cpu.series.Add(load.host_cpu);
    rows_.zygote_cpu.series.Add(load.zygote_cpu);
    if (rows_.first.series.count() < 3) {
      rows_.first.series.Add(TimeFirstResult(series_, profile_));
    }
  }

  std::vector<Goal> Goals() const {
    const double run = rows_.series.series.median();
    return {
        {"p50 of a run", "ms", run, 4},
        {"cold import of what is preloaded, as a multiple of a run", "x",
         rows_.cold.series.median() / run, 200, true},
        {"100 results of numpy, all cores", "ms", rows_.batch.series.median(), 150},
        {"private memory of a waiting spare", "MiB", rows_.memory.series.median(), 6},
    };
  }

  const BenchOptions options_;
  const core::Profile profile_;
  const std::string packages_;
  const host::Request series_;
  const host::Request array_;
  const host::Request plot_;
  Floor small_;
  Floor python_;
  std::unique_ptr<outside::Sandbox> sandbox_;
  const std::string interpreter_ = Interpreter();
  Rows rows_;
};

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) {
  using namespace belljar::bench;
  const BenchOptions options = ReadBenchOptions(argc, argv, 200, 40);
  const belljar::profiles::ProfileCatalogue catalogue =
      OrExit(belljar::profiles::ProfileCatalogue::Open());
  WarnWhenBusy();
  Print(Bench(options, catalogue).Run(), options.json);
  return 0;
}
