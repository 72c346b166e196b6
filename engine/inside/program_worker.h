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

#include <string>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/inside/error_lines.h"
#include "engine/seal/seal.h"

namespace belljar::inside {

// How programs of the language are run (core::ProgramRule). "{file}" and "{binary}" in a command
// are replaced; the request's arguments follow.
struct ProgramRunner {
  std::vector<std::string> command;  // the first is an absolute path
  std::vector<std::string> compile;
  std::vector<std::string> warm;
  bool starts_ahead = false;         // warm, before there is a request
  bool reports_value = false;        // warm
  std::vector<std::string> session;  // stays for many cells; empty: there are no sessions
  std::string shows;                 // a folder (shown_files.h); empty: there is none
  std::string file;                  // the usual name of a program
  std::vector<std::string> environment;
  std::vector<ErrorLine> errors;
};

struct ProgramStart {
  const ProgramRunner& runner;
  const seal::SealPlan& plan;
  const seal::PreparedSeal& prepared;
  core::CaptureLayout layout;
};
[[noreturn]] void RunProgramWorker(const ProgramStart& start, core::UniqueFd socket,
                                   core::UniqueFd capture_memory);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_WORKER_H_
