// GuestOutput: the guest's output to ours while it runs, byte for byte.
//
// A thread writes, because a reader may be slow or stopped: the thread that watches the guest's
// clock must never wait for it. What waits here is bounded by the output limit of the run.
#ifndef BELLJAR_CLI_GUEST_OUTPUT_H_
#define BELLJAR_CLI_GUEST_OUTPUT_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/interruption.h"
#include "engine/core/result.h"
#include "engine/outside/backend.h"

namespace belljar::cli {

class GuestOutput {
 public:
  // `interruption` is told SIGPIPE when the reader of standard output has gone: nobody is left to
  // run for. Once it is interrupted, a reader that does not read is no longer waited for.
  explicit GuestOutput(Interruption& interruption);
  ~GuestOutput();

  const outside::OutputSink& sink() const { return sink_; }

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
  outside::OutputSink sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  bool finishing_ = false;
  // The writer's own until it has been joined.
  std::optional<core::Error> stdout_error_;
  bool stderr_failed_ = false;
  std::thread writer_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_GUEST_OUTPUT_H_
