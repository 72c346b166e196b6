// Interruption: Ctrl-C, SIGTERM and a reader that went away, as one descriptor to wait on.
//
//   Interruption interruption;              // from here SIGINT and SIGTERM no longer end us
//   options.cancel_fd = interruption.fd();  // they end the run
//   ...
//   if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
//
// A second Ctrl-C ends the process at once: whatever hangs, the user gets out. The workers have
// their parent-death signal, so nothing is left running then either.
#ifndef BELLJAR_CLI_INTERRUPTION_H_
#define BELLJAR_CLI_INTERRUPTION_H_

#include "engine/core/fd.h"

namespace belljar::cli {

class Interruption {
 public:
  // At most one at a time in a process.
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Readable once something has interrupted; stays readable.
  int fd() const { return event_.get(); }
  // What interrupted first; 0: nothing.
  int signal() const;
  // As if `signal` had arrived. Any thread.
  void Raise(int signal);

 private:
  core::UniqueFd event_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_INTERRUPTION_H_
