#include "cli/validate/progress.h"

#include <unistd.h>

#include "cli/console.h"

namespace belljar::cli::validate {
namespace {

// No progress is shown for shorter checks.
constexpr std::chrono::seconds kDelay{1};
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(size_t files, bool wanted)
    : files_(files), shows_(wanted && isatty(STDERR_FILENO)), next_(Clock::now() + kDelay) {}

void Progress::Step() {
  ++done_;
  if (!shows_ || Clock::now() < next_) return;
  next_ = Clock::now() + kInterval;
  Say("\rchecked " + WithThousands(done_) + " of " + WithThousands(files_) + " files\x1b[K");
  is_shown_ = true;
}

void Progress::Clear() {
  if (!is_shown_) return;
  Say("\r\x1b[K");
  is_shown_ = false;
}

}  // namespace belljar::cli::validate
