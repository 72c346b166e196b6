// A worker of a launcher: sealed, used for one program, killed. Like a worker of Python's it
// reports that it is sealed, waits for its request and reports what became of it.
//
// It stays the first process of its PID namespace (in a container, the reaper of what it starts, if
// the kernel can: PR_SET_CHILD_SUBREAPER of prctl(2)), and starts the program as its child: it
// passes its input on, moves its output into the capture, reaps what the program leaves behind, and
// ends all of it when the program ends. The program has the worker's own filter, limits and rights;
// the worker is not dumpable, so the program can neither read nor drive it, but nobody trusts it
// for that.
#ifndef BELLJAR_ENGINE_INSIDE_PROGRAM_WORKER_H_
#define BELLJAR_ENGINE_INSIDE_PROGRAM_WORKER_H_

#include <vector>

#include "engine/core/profile.h"
#include "engine/core/program_messages.h"
#include "engine/inside/error_lines.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/spawning.h"

namespace belljar::inside {

struct ProgramStart : UnsealedWorker {
  const core::ProgramRule& program;  // its commands begin with absolute paths
  const std::vector<ErrorLine>& errors;
  bool starts_ahead = false;  // ProgramRule::warm, before there is a request
};
// Exits if there is none: it is the host's.
core::ProgramRequest ProgramRequestIn(const ReceivedRequest& received);

[[noreturn]] void RunProgramWorker(const ProgramStart& start, SpawnOrder order);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_WORKER_H_
