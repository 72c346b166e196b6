// belljar-bench-library: measures Belljar's C++ library, one sample per line of standard input, so
// that another program can alternate with it (bench/python_package.py).
//
//   run               milliseconds of one run of "1+1", spares ready
//   load CLIENTS MS   runs a second
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "bench/measure.h"
#include "bench/timing.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::bench {
namespace {

constexpr size_t kSpares = 4;  // the default of Sandbox

int Serve() {
  const core::Profile profile = OrExit(OrExit(profiles::ProfileCatalogue::Open()).Choose("basic"));
  const std::unique_ptr<outside::Sandbox> sandbox = OpenOrExit(profile, kSpares);
  const host::Request request = WithDefaults(profile, "1+1");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    int clients = 0;
    int64_t milliseconds = 0;
    words >> what >> clients >> milliseconds;
    Settle(*sandbox, kSpares);
    if (what == "run") {
      printf("%.6f\n", TimeRun(*sandbox, request).total);
    } else if (what == "load" && clients > 0 && milliseconds > 0) {
      const std::chrono::milliseconds duration(milliseconds);
      printf("%.3f\n", MeasureLoad(*sandbox, request, clients, duration).per_second);
    } else {
      fprintf(stderr, "belljar-bench-library: not a sample: %s\n", line.c_str());
      return 2;
    }
    fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace belljar::bench

int main() { return belljar::bench::Serve(); }
