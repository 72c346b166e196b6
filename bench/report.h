// What was measured, and how it is told: as a table for people, as JSON to keep.
#ifndef BELLJAR_BENCH_REPORT_H_
#define BELLJAR_BENCH_REPORT_H_

#include <string>
#include <vector>

namespace belljar::bench {

// One quantity, sampled. A sample that failed is not added.
class Series {
 public:
  void Add(double sample) {
    if (sample >= 0) samples_.push_back(sample);
  }
  size_t count() const { return samples_.size(); }
  // Of no samples: 0.
  double Quantile(double q) const;
  double median() const { return Quantile(0.5); }

 private:
  std::vector<double> samples_;
};

struct Row {
  std::string name;
  std::string unit;
  Series series;
};

struct Goal {
  std::string name;
  std::string unit;
  double value = 0;
  double goal = 0;
  bool at_least = false;  // or at most
  bool reached() const { return at_least ? value >= goal : value <= goal; }
};

struct BenchReport {
  std::string machine;
  std::vector<Row> rows;
  std::vector<Goal> goals;
  std::string base;  // the row that others are told as multiples of
};

// Processor, kernel and user, for the head of a report; `python` names the interpreter.
std::string MachineName(const std::string& python);

// Forks suffer more than wake-ups do when others compute here, so all ratios would be off.
void WarnWhenBusy();

void PrintTable(const BenchReport& report);
void PrintJson(const BenchReport& report);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_REPORT_H_
