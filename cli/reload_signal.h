// ReloadSignal: SIGHUP as a descriptor to wait on.
//
//   ReloadSignal reload;             // from here on SIGHUP no longer ends the process
//   poll({reload.fd(), POLLIN, 0});  // readable once SIGHUP has come, however often
#ifndef BELLJAR_CLI_RELOAD_SIGNAL_H_
#define BELLJAR_CLI_RELOAD_SIGNAL_H_

#include "engine/core/fd.h"

namespace belljar::cli {

class ReloadSignal {
 public:
  // At most one instance per process at a time. A signal that is ignored, as set by nohup, stays
  // so.
  ReloadSignal();
  ~ReloadSignal();
  ReloadSignal(const ReloadSignal&) = delete;

  // Readable after a signal, until it is read; -1: there was no descriptor, and nothing has
  // changed.
  int fd() const { return event_.get(); }

 private:
  core::UniqueFd event_;
};

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_RELOAD_SIGNAL_H_
