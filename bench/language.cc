// belljar-bench-language [--quick] [--json] [KERNEL ...]
//
// The run-time cost of the language policy: each kernel in kernels/*.py runs alternately in the
// with the policy and without it, each time in a fresh sealed worker of the same interpreter,
// which times the kernel itself. And its cost before the run: the CPU time of workers that check
// and compile all kernels, many times over, compared with workers that only compile them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/report.h"
#include "bench/timing.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kMeanGoal = 1.15;
constexpr double kWorstGoal = 1.5;
constexpr int kCorpusLines = 1000;  // at least

// The best of three in one worker: the first one also specialises the byte code.
constexpr char kTimer[] = R"(
import time

best = float("inf")
for _ in range(3):
    start = time.perf_counter()
    kernel()
    best = min(best, time.perf_counter() - start)
result = best
)";

struct Options {
  int rounds = 9;
  bool json = false;
  std::vector<std::string> kernels;  // none: all
};

struct Kernel {
  std::string name;
  std::string source;
  Series restricted;  // ms
  Series full;
  double ratio() const { return restricted.median() / full.median(); }
};

Options ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.rounds = 3;
    } else if (!word.starts_with("-")) {
      options.kernels.push_back(word);
    } else {
      fprintf(stderr, "usage: belljar-bench-language [--quick] [--json] [KERNEL ...]\n");
      exit(2);
    }
  }
  return options;
}

std::vector<Kernel> ReadKernels(const std::vector<std::string>& wanted) {
  std::vector<Kernel> kernels;
  for (const fs::directory_entry& entry : fs::directory_iterator(BELLJAR_BENCH_KERNELS)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() != ".py") continue;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    std::ostringstream source;
    source << std::ifstream(entry.path()).rdbuf();
    kernels.push_back({.name = name, .source = source.str(), .restricted = {}, .full = {}});
  }
  if (kernels.empty()) Exit("no such kernel in " BELLJAR_BENCH_KERNELS);
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  return kernels;
}

std::unique_ptr<outside::Sandbox> Open(const core::Profile& profile, outside::Policy policy) {
  outside::SandboxOptions options;
  options.profile = profile;
  options.policy = policy;
  options.spares = 1;
  return OrExit(outside::Sandbox::Open(std::move(options)));
}

host::Outcome RunOrExit(outside::Sandbox& sandbox, const std::string& source) {
  host::Outcome outcome = OrExit(sandbox.Run(WithDefaults(sandbox.profile(), source)));
  if (!outcome.success()) Exit("a kernel did not run: " + host::OutcomeToJson(outcome, 1));
  return outcome;
}

double TimeKernel(outside::Sandbox& sandbox, const Kernel& kernel) {
  const host::Outcome outcome = RunOrExit(sandbox, kernel.source + kTimer);
  return 1e3 * nlohmann::json::parse(outcome.result_json.value_or("-1")).get<double>();
}

double CpuMilliseconds(outside::Sandbox& sandbox, const std::string& source) {
  return static_cast<double>(RunOrExit(sandbox, source).usage.cpu_time.count()) / 1e3;
}

// All kernels after an exit, so that running it measures only compilation.
std::string Corpus(const std::vector<Kernel>& kernels, int& lines) {
  std::string corpus = "raise SystemExit(0)\n";
  for (lines = 0; lines < kCorpusLines;) {
    for (const Kernel& kernel : kernels) {
      corpus += kernel.source;
      lines += static_cast<int>(std::count(kernel.source.begin(), kernel.source.end(), '\n'));
    }
  }
  return corpus;
}

struct CompileTimes {
  Series restricted;  // ms a thousand lines
  Series full;
};

void MeasureCompile(outside::Sandbox& sandbox, const std::string& corpus, int lines,
                    Series& series) {
  const double whole = CpuMilliseconds(sandbox, corpus);
  const double nothing = CpuMilliseconds(sandbox, "raise SystemExit(0)");
  series.Add((whole - nothing) * 1e3 / lines);
}

double GeometricMean(const std::vector<Kernel>& kernels) {
  double sum = 0;
  for (const Kernel& kernel : kernels) sum += std::log(kernel.ratio());
  return std::exp(sum / static_cast<double>(kernels.size()));
}

void Print(const std::vector<Kernel>& kernels, const CompileTimes& compile) {
  printf("%-20s %12s %12s %8s\n", "", "policy on", "off", "ratio");
  double worst = 0;
  for (const Kernel& kernel : kernels) {
    printf("%-20s %9.2f ms %9.2f ms %8.2f\n", kernel.name.c_str(), kernel.restricted.median(),
           kernel.full.median(), kernel.ratio());
    worst = std::max(worst, kernel.ratio());
  }
  const auto goal = [](const char* name, double value, double bound, const char* unit) {
    printf("%-44s %8.2f  goal <= %.2f %s  %s\n", name, value, bound, unit,
           value <= bound ? "reached" : "NOT REACHED");
  };
  printf("\n");
  goal("policy on against off, geometric mean", GeometricMean(kernels), kMeanGoal, "x");
  goal("policy on against off, the worst", worst, kWorstGoal, "x");
  // No goal here: the goal is for a warm interpreter, as measured by `./dev bench compile`.
  printf("%-44s %8.2f  ms/kLOC\n", "judge, transform, compile, in a new worker",
         compile.restricted.median());
  printf("%-44s %8.2f  ms/kLOC\n", "compile alone, in a new worker", compile.full.median());
}

void PrintJson(const std::vector<Kernel>& kernels, const CompileTimes& compile) {
  nlohmann::ordered_json json;
  for (const Kernel& kernel : kernels) {
    json["kernels"].push_back({{"name", kernel.name},
                               {"restricted_ms", kernel.restricted.median()},
                               {"full_ms", kernel.full.median()},
                               {"ratio", kernel.ratio()},
                               {"samples", kernel.full.count()}});
  }
  json["geometric_mean"] = GeometricMean(kernels);
  json["compile_ms_per_kloc"] = compile.restricted.median();
  json["plain_compile_ms_per_kloc"] = compile.full.median();
  printf("%s\n", json.dump(2).c_str());
}

int Bench(const Options& options) {
  const core::Profile profile = OrExit(OrExit(profiles::ProfileCatalogue::Open()).Choose("basic"));
  std::vector<Kernel> kernels = ReadKernels(options.kernels);
  const std::unique_ptr<outside::Sandbox> restricted = Open(profile, outside::Policy::kOn);
  const std::unique_ptr<outside::Sandbox> full = Open(profile, outside::Policy::kOff);
  int lines = 0;
  const std::string corpus = Corpus(kernels, lines);
  CompileTimes compile;
  for (int round = 0; round < options.rounds; ++round) {
    for (Kernel& kernel : kernels) {
      kernel.restricted.Add(TimeKernel(*restricted, kernel));
      kernel.full.Add(TimeKernel(*full, kernel));
    }
    MeasureCompile(*restricted, corpus, lines, compile.restricted);
    MeasureCompile(*full, corpus, lines, compile.full);
  }
  options.json ? PrintJson(kernels, compile) : Print(kernels, compile);
  return 0;
}

}  // namespace
}  // namespace belljar::bench

int main(int argc, char** argv) {
  return belljar::bench::Bench(belljar::bench::ReadOptions(argc, argv));
}
