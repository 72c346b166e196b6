// Benchmark results and their output, as a table or as JSON.
#ifndef BELLJAR_BENCH_REPORT_H_
#define BELLJAR_BENCH_REPORT_H_

#include <string>
#include <vector>

namespace belljar::bench {

// Samples of one quantity, without failed ones.
class Series {
 public:
  void Add(double sample) {
    if (sample >= 0) samples_.push_back(sample);
  }
  size_t count() const { return samples_.size(); }
  // 0 without samples.
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
  bool at_least = false;  // otherwise at most
  bool reached() const { return at_least ? value >= goal : value <= goal; }
};

struct BenchReport {
  std::string machine;
  std::vector<Row> rows;
  std::vector<Goal> goals;
  std::string base;   // the row that others are shown as multiples of
  std::string fixed;  // likewise, a floor that Belljar's design does not move (B)
};

// Processor, kernel and user, for the header of a report; `python` names the interpreter.
std::string MachineName(const std::string& python);

// On a busy machine forks slow down more than wake-ups, so all ratios would be wrong.
void WarnWhenBusy();

// As a table, or as JSON.
void Print(const BenchReport& report, bool json);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_REPORT_H_
