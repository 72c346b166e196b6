// Floors: programs beside the bench that take one sample when they are told to.
#ifndef BELLJAR_BENCH_FLOOR_H_
#define BELLJAR_BENCH_FLOOR_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "engine/core/fd.h"

namespace belljar::bench {

// A helper program that stays up for the whole run, so that its samples can be taken in turn with
// those of others.
class Floor {
 public:
  // Aborts when the program cannot be started: it is built with the bench.
  explicit Floor(const std::vector<std::string>& command);
  ~Floor();
  Floor(const Floor&) = delete;

  // Milliseconds; negative when the helper could not do it on this machine.
  double Sample(char kind);

 private:
  pid_t pid_;
  core::UniqueFd requests_;
  core::UniqueFd samples_;
};

// Milliseconds from starting the program to its end; negative when it failed. Its output is lost.
double TimeCommand(const std::vector<std::string>& command);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_FLOOR_H_
