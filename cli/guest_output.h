// GuestOutput: copies the guest's output to ours while it runs, byte for byte.
//
// A separate thread writes, because the reader may be slow or stopped and the thread that enforces
// the guest's timeout must not wait for it. The buffer is bounded by the output limit of the run.
#ifndef BELLJAR_CLI_GUEST_OUTPUT_H_
#define BELLJAR_CLI_GUEST_OUTPUT_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/interruption.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "engine/run/run_options.h"

namespace belljar::cli {

class GuestOutput {
 public:
  // Raises SIGPIPE on `interruption` if the reader of standard output is gone, which ends the run.
  // After an interruption, it does not wait for a stalled reader.
  explicit GuestOutput(Interruption& interruption);
  ~GuestOutput();

  // Why nothing can be shown; checked before a run, whose output would otherwise be lost.
  const std::optional<core::Error>& start_error() const { return start_error_; }

  const run::OutputSink& sink() const { return sink_; }

  // Blocks until what has come so far is written, so that what we write next comes after it.
  void Flush();
  // Blocks until everything has been written. The error of standard output, if any.
  core::Result<void> Finish();

 private:
  struct Piece {
    int fd;
    std::string bytes;
  };

  void Add(int fd, std::string_view bytes);
  void Write();
  void WritePiece(const Piece& piece);

  Interruption& interruption_;
  run::OutputSink sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  bool is_writing_ = false;
  bool finishing_ = false;
  std::optional<core::Error> start_error_;
  // Accessed only by the writer thread until it has been joined.
  std::optional<core::Error> stdout_error_;
  bool stderr_failed_ = false;
  core::Thread writer_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_GUEST_OUTPUT_H_
