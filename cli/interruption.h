// Interruption: Ctrl-C, SIGTERM and the loss of the reader, as one descriptor to wait on.
//
//   Interruption interruption;              // from here on SIGINT and SIGTERM
//   options.cancel_fd = interruption.fd();  // end the run instead of the process
//   ...
//   if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
//
// A second Ctrl-C ends the process at once, whatever hangs. Workers are then killed by their
// parent-death signal. Without a descriptor (EMFILE), the first Ctrl-C does so. A prompt outlives
// what Ctrl-C interrupts (Kind::kRepeated): there, only a second SIGTERM ends the process.
#ifndef BELLJAR_CLI_INTERRUPTION_H_
#define BELLJAR_CLI_INTERRUPTION_H_

#include "engine/core/fd.h"

namespace belljar::cli {

class Interruption {
 public:
  enum class Kind { kOnce, kRepeated };

  // At most one instance per process at a time.
  explicit Interruption(Kind kind = Kind::kOnce);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Becomes readable on the first interruption and stays readable.
  int fd() const { return event_.get(); }
  // The first signal; 0: none.
  int signal() const;
  // As if `signal` had arrived. Any thread.
  void Raise(int signal);
  // Forgets a Ctrl-C, and nothing else: what it was meant to interrupt has ended.
  void Clear();

 private:
  core::UniqueFd event_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_INTERRUPTION_H_
