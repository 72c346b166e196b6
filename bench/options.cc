#include "bench/options.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace belljar::bench {

BenchOptions ReadBenchOptions(int argc, char** argv, int rounds, int quick_rounds) {
  BenchOptions options{.rounds = rounds};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--quick") {
      options.quick = true;
      options.rounds = quick_rounds;
    } else if (word == "--rounds" && i + 1 < argc && atoi(argv[i + 1]) > 0) {
      options.rounds = atoi(argv[++i]);
    } else {
      const std::string program = std::filesystem::path(argv[0]).filename();
      fprintf(stderr, "usage: %s [--quick] [--json] [--rounds N]\n", program.c_str());
      exit(2);
    }
  }
  return options;
}

std::string Interpreter() {
  const char* chosen = getenv("BELLJAR_PYTHON");
  return chosen ? chosen : "/usr/bin/python3";
}

std::string ProgramBeside(const char* name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace belljar::bench
