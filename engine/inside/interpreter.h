// The embedded CPython: started once in the zygote, used once in a worker. The only C++ that knows
// the Python half (runner.py).
#ifndef BELLJAR_ENGINE_INSIDE_INTERPRETER_H_
#define BELLJAR_ENGINE_INSIDE_INTERPRETER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/wire.h"
#include "engine/inside/hot_blocks.h"

namespace belljar::inside {

struct InterpreterOptions {
  std::string program;  // the interpreter that this process runs; empty: the program belljar-zygote
  std::vector<std::string> package_paths;  // where belljar_runner, belljar_policy, … are
  std::string profile_packages;  // JSON: the profile's own packages, see runner/package_folders.py
  bool huge_pages = false;       // for the heap
  bool keeps_artifacts = false;  // collect the figures and tables of a run
  std::string missing_modules;   // JSON: module of the profile -> what installs it
  std::string profile;           // JSON
  std::string other_profiles;    // JSON: profile name -> module names
  bool single_run = false;       // no clone follows: nothing is prepared for one
  std::string named_modules = "null";       // JSON: modules that the program names, or null: all
  std::vector<HotBlock> hot_blocks;         // what workers write to; not for a single run
  BlockListener* block_listener = nullptr;  // records them
  bool loads_all_modules() const { return named_modules == "null"; }
};

// Zygote: starts an isolated interpreter (no environment, no site, random hash seed), imports the
// profile's modules and builds the policy. The error holds the Python exception.
core::Result<void> StartInterpreter(const InterpreterOptions& options);

// The directory of the standard library. Call after the interpreter has started.
std::string StandardLibraryPath();

// Zygote, last before the first clone: freezes all objects, so that a worker's collector never
// touches shared pages.
void FreezeInterpreter();

// Around clone3: what os.fork does around fork.
void BeforeClone();
void AfterCloneInZygote();
// Also reseeds every generator of the interpreter: raw clone3 runs no atfork handlers of C
// libraries, and libraries that compare pids would see no change, since each worker is pid 1 of its
// namespace. A single run, whose worker is not a clone, calls none of the three.
core::Result<void> AfterCloneInWorker();

// Worker of a session, before its first cell.
core::Result<void> BeginSession();
// Around its clone, after BeforeClone(). A copy calls its half when it is woken.
void AfterCopyInOriginal(const std::vector<core::PageRange>& hot);
core::Result<void> AfterCopyInWorker(bool reseeds);

// In a clone that is then discarded: does everything that a request does (hot_pages.h).
core::Result<void> RehearseRequest();

// Likewise for what requests do less often: fail, refuse, validate.
core::Result<void> RehearseOthers();

// Calls a function of the host: takes its name and arguments (JSON), returns the answer (JSON).
using HostCall = std::function<std::string(std::string_view, std::string_view)>;

struct RequestParts {
  std::string_view metadata;  // a JSON object; belljar_runner defines its keys
  std::string_view inputs;    // JSON: variable -> value; empty: none
  std::string_view modules;   // as in core/wire.h; empty: none
  std::string_view source;
  const std::string* standard_input = nullptr;  // null: none
  HostCall call_host;
  std::function<void()> start_over;  // does not return; empty: the zygote has loaded all modules
};

// Worker: runs one request and returns the report (UTF-8 JSON). An empty report means that the
// Python half itself failed.
std::string ExecuteRequest(const RequestParts& parts);

// Likewise for a cell of a session, whose variables persist.
std::string ExecuteCell(const RequestParts& parts);

// A question of the session's host between cells (runner/questions.py), which changes nothing.
std::string AnswerQuestion(const RequestParts& parts);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_INTERPRETER_H_
