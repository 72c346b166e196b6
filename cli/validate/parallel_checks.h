// ParallelChecks: checks several files in parallel and returns the results in the order of the
// files.
//
//   ParallelChecks checks(targets, checker, jobs);
//   for (size_t i = 0; i < targets.size(); ++i) Report(checks.Next());
#ifndef BELLJAR_CLI_VALIDATE_PARALLEL_CHECKS_H_
#define BELLJAR_CLI_VALIDATE_PARALLEL_CHECKS_H_

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "cli/validate/check.h"
#include "engine/core/thread.h"

namespace belljar::cli::validate {

class ParallelChecks {
 public:
  // Borrows `targets` and `checker`. `jobs` is the number of parallel checks.
  // Where the machine has no more threads, there are fewer; without any, Next itself checks.
  ParallelChecks(const std::vector<Target>& targets, const FileChecker& checker, size_t jobs);
  // Waits for running checks and starts no others.
  ~ParallelChecks();
  ParallelChecks(const ParallelChecks&) = delete;

  // The result for the next file. Single-threaded; at most once per target.
  core::Result<Judgement> Next();

 private:
  void Work();

  const std::vector<Target>& targets_;
  const FileChecker& checker_;
  // How far checks may run ahead of Next: a slow file, or a slow reader of our output, must not
  // make us buffer the results of thousands of others.
  const size_t ahead_;

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t begun_ = 0;
  size_t taken_ = 0;
  std::map<size_t, core::Result<Judgement>> done_;
  bool closing_ = false;

  std::vector<core::Thread> threads_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_PARALLEL_CHECKS_H_
