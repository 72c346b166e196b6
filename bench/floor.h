// Floors: helper programs of the benchmark that take samples on request.
#ifndef BELLJAR_BENCH_FLOOR_H_
#define BELLJAR_BENCH_FLOOR_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/profile.h"

namespace belljar::bench {

// A helper program that keeps running, so that its samples can alternate with those of others.
class Floor {
 public:
  // Aborts if the program cannot be started: it is built together with the benchmark.
  explicit Floor(const std::vector<std::string>& command);
  ~Floor();
  Floor(const Floor&) = delete;

  // Milliseconds; negative if not possible on this machine.
  double Sample(char kind);

 private:
  pid_t pid_;
  core::UniqueFd requests_;
  core::UniqueFd samples_;
};

// The command of the floor B: CPython as it starts, without site and without another module.
std::vector<std::string> BarePythonFloor();

// The command of the floor that has imported the same modules as a zygote of `profile`.
std::vector<std::string> PythonFloor(const core::Profile& profile);

// Milliseconds from the start of the program to its end; negative if it failed. Its output is
// discarded.
double TimeCommand(const std::vector<std::string>& command);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_FLOOR_H_
