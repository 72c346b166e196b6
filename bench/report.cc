#include "bench/report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace belljar::bench {

double Series::Quantile(double q) const {
  if (samples_.empty()) return 0;
  std::vector<double> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

namespace {

// The median of the row of that name; 0 if there is none.
double MedianOf(const BenchReport& report, const std::string& name) {
  for (const Row& row : report.rows) {
    if (row.name == name) return row.series.median();
  }
  return 0;
}

std::string Multiple(const Row& row, double base) {
  char ratio[32] = "";
  if (row.unit == "ms" && base > 0)
    snprintf(ratio, sizeof ratio, "%.2f", row.series.median() / base);
  return ratio;
}

void PrintTable(const BenchReport& report) {
  printf("%s\n\n", report.machine.c_str());
  printf("%-58s %9s %9s %9s %8s %6s %6s  %s\n", "", "least", "median", "p99", "x floor", "x B", "n",
         "unit");
  const double base = MedianOf(report, report.base), fixed = MedianOf(report, report.fixed);
  for (const Row& row : report.rows) {
    if (row.series.count() == 0) {
      printf("%-58s %10s\n", row.name.c_str(), "not available");
      continue;
    }
    printf("%-58s %9.3f %9.3f %9.3f %8s %6s %6zu  %s\n", row.name.c_str(), row.series.Quantile(0),
           row.series.median(), row.series.Quantile(0.99), Multiple(row, base).c_str(),
           Multiple(row, fixed).c_str(), row.series.count(), row.unit.c_str());
  }
  if (!report.base.empty()) printf("\nx floor: multiple of \"%s\"\n", report.base.c_str());
  if (!report.fixed.empty()) printf("x B: multiple of \"%s\"\n", report.fixed.c_str());
  printf("\n");
  for (const Goal& goal : report.goals) {
    printf("%-58s %10.3f  goal %s %.3f %s  %s\n", goal.name.c_str(), goal.value,
           goal.at_least ? ">=" : "<=", goal.goal, goal.unit.c_str(),
           goal.reached() ? "reached" : "NOT REACHED");
  }
}

void PrintJson(const BenchReport& report) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["machine"] = report.machine;
  json["base"] = report.base;
  json["fixed"] = report.fixed;
  const double base = MedianOf(report, report.base), fixed = MedianOf(report, report.fixed);
  for (const Row& row : report.rows) {
    Json entry = {{"name", row.name}, {"unit", row.unit}, {"samples", row.series.count()}};
    if (row.series.count() > 0) {
      entry["least"] = row.series.Quantile(0);
      entry["median"] = row.series.median();
      entry["p99"] = row.series.Quantile(0.99);
      if (row.unit == "ms" && base > 0) entry["times_floor"] = row.series.median() / base;
      if (row.unit == "ms" && fixed > 0) entry["times_b"] = row.series.median() / fixed;
    }
    json["rows"].push_back(entry);
  }
  for (const Goal& goal : report.goals) {
    json["goals"].push_back({{"name", goal.name},
                             {"unit", goal.unit},
                             {"value", goal.value},
                             {goal.at_least ? "at_least" : "at_most", goal.goal},
                             {"reached", goal.reached()}});
  }
  printf("%s\n", json.dump(2).c_str());
}

}  // namespace

std::string MachineName(const std::string& python) {
  std::ifstream file("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  utsname names;
  uname(&names);
  return std::to_string(std::thread::hardware_concurrency()) + " cores of " + model + ", Linux " +
         names.release + ", " + python + (geteuid() == 0 ? ", as root" : ", as an ordinary user");
}

void WarnWhenBusy() {
  double load[1];
  if (getloadavg(load, 1) == 1 && load[0] > 0.5) {
    fprintf(stderr,
            "belljar-bench: load average %.1f: the machine is busy, figures are unreliable\n",
            load[0]);
  }
}

void Print(const BenchReport& report, bool json) { json ? PrintJson(report) : PrintTable(report); }

}  // namespace belljar::bench
