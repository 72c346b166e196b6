// Exit codes: a stable interface (docs/cli.md).
#ifndef BELLJAR_CLI_EXIT_CODE_H_
#define BELLJAR_CLI_EXIT_CODE_H_

#include "engine/host/outcome.h"

namespace belljar::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;  // the guest's own exception, or findings
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRefused = 3;  // by the language policy; nothing ran
inline constexpr int kExitStopped = 4;  // by a limit, or killed
inline constexpr int kExitFailure = 5;  // of Belljar or this machine, never caused by the guest

// As shells report a program ended by a signal: 130 for SIGINT, 143 for SIGTERM, 141 for SIGPIPE
// (our reader is gone).
inline constexpr int ExitOfSignal(int signal) { return 128 + signal; }

inline constexpr int ExitOfStatus(host::Status status) {
  switch (status) {
    case host::Status::kOk: return kExitOk;
    case host::Status::kException: return kExitFindings;
    case host::Status::kRefused: return kExitRefused;
    case host::Status::kTimeout:
    case host::Status::kCpuLimit:
    case host::Status::kMemoryLimit:
    case host::Status::kKilled: return kExitStopped;
  }
  return kExitFailure;
}

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_EXIT_CODE_H_
