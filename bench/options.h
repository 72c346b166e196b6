// The command line of benchmarks that sample in rounds.
#ifndef BELLJAR_BENCH_OPTIONS_H_
#define BELLJAR_BENCH_OPTIONS_H_

#include <string>

namespace belljar::bench {

struct BenchOptions {
  int rounds = 0;
  bool quick = false;
  bool json = false;
};

// [--quick] [--json] [--rounds N]; exits with a usage message on anything else.
BenchOptions ReadBenchOptions(int argc, char** argv, int rounds, int quick_rounds);

// For comparisons: $BELLJAR_PYTHON, or else /usr/bin/python3.
std::string Interpreter();

// The path of a program built in the same folder.
std::string ProgramBeside(const char* name);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_OPTIONS_H_
