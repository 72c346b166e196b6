// Progress: shows the progress of a long check on a terminal, in a line that is erased at the end.
#ifndef BELLJAR_CLI_VALIDATE_PROGRESS_H_
#define BELLJAR_CLI_VALIDATE_PROGRESS_H_

#include <chrono>
#include <cstddef>

namespace belljar::cli::validate {

class Progress {
 public:
  // Does nothing if `wanted` is false or standard error is not a terminal.
  Progress(size_t files, bool wanted);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;

  // One more file is done.
  void Step();
  // Call it before any other output, which may go to the same terminal.
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
