// The command line of the programs that sample round by round.
#ifndef BELLJAR_BENCH_OPTIONS_H_
#define BELLJAR_BENCH_OPTIONS_H_

#include <string>

namespace belljar::bench {

struct BenchOptions {
  int rounds = 0;
  bool quick = false;
  bool json = false;
};

// [--quick] [--json] [--rounds N]; ends the program with its usage where there is anything else.
BenchOptions ReadBenchOptions(int argc, char** argv, int rounds, int quick_rounds);

// The path of a program that is built beside this one.
std::string ProgramBeside(const char* name);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_OPTIONS_H_
