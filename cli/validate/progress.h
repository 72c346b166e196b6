// Progress: how far a long check is, on a terminal, in a line that goes away again.
#ifndef BELLJAR_CLI_VALIDATE_PROGRESS_H_
#define BELLJAR_CLI_VALIDATE_PROGRESS_H_

#include <chrono>
#include <cstddef>

namespace belljar::cli::validate {

class Progress {
 public:
  // `wanted` off, or standard error being no terminal: does nothing.
  Progress(size_t files, bool wanted);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;

  // One more is done.
  void Step();
  // Call it before anything else is written: both may go to the same terminal.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;

  const size_t files_;
  const bool shows_;
  size_t done_ = 0;
  bool is_shown_ = false;
  Clock::time_point next_;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_PROGRESS_H_
