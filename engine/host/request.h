// Request: one piece of code and how to run it. A plain value, the same for every backend.
#ifndef BELLJAR_ENGINE_HOST_REQUEST_H_
#define BELLJAR_ENGINE_HOST_REQUEST_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/result.h"

namespace belljar::host {

// A file that exists when the program starts.
struct InputFile {
  std::string path;  // relative to the workspace, '/' between its parts
  std::string content;
};

// A predefined variable of the program. Its value is plain data, as JSON of the form that results
// have (plain_data.py).
struct InputVariable {
  std::string name;
  std::string json;
};

// One of Request::functions that no program can call, since its name is not an identifier. It is
// called when a program has ended, normally or by an exception: once for each of its variables with
// the name and, if it is plain data, the value, and finally without arguments.
inline constexpr std::string_view kTakesVariables = "@variable";

// Likewise, called for each line that the program reads of its standard input (run/input.h). Then
// there is no `standard_input`.
inline constexpr std::string_view kAsksInput = "@input";

// Likewise, for the caller's coroutine functions, of which a program may await several side by
// side. Each stands among the functions as "+NAME"; a call of that name begins one of NAME and is
// answered at once, with the call's number. The others are called while the program has nothing
// else to do until one of them ends, with the seconds until it has, and to cancel one, with its
// number. Whoever answers (run/run_options.h) numbers the calls and bounds how many have begun and
// not ended.
inline constexpr char kBeginsCall = '+';
inline constexpr std::string_view kAwaitsCalls = "@await";
inline constexpr std::string_view kAwaitsCallsUntil = "@await_until";
inline constexpr std::string_view kCancelsCall = "@cancel";

// Likewise, called for each thing that the program shows by IPython.display, with its media type,
// its data and its text (engine/inside/runner/shown.py): for notebooks.
inline constexpr std::string_view kShows = "@display";

// Likewise, called to run Python code in a jar of its own (outside/own_programs.h): with source,
// its name, arguments, environment, standard input and seconds. The policy's subprocess does so.
inline constexpr std::string_view kStartsPython = "@python";

struct Request {
  enum class Mode { kRun, kValidate };

  Mode mode = Mode::kRun;
  std::string source;                // bytes as given; the worker decodes them
  std::string filename = "main.py";  // as named in tracebacks and findings
  // Language of a cell in a session of several (sessions/mixed_session.h); empty: the session's
  // own.
  std::string language;
  std::optional<std::string> standard_input;
  std::vector<std::string> arguments;    // sys.argv after the program's name
  std::vector<std::string> environment;  // "NAME=VALUE", all from the caller; see CheckArguments
  // Restricts the profile's modules; nullopt: all of them.
  std::optional<std::vector<std::string>> allowed_imports;
  std::vector<InputFile> files;  // only in a profile with a workspace
  std::vector<InputVariable> inputs;
  // Names of functions that the program may call; RunOptions::call answers the calls.
  std::vector<std::string> functions;
  // The result distinguishes tuples from lists, and frozensets from sets.
  bool exact_types = false;
  // Restricts the hosts that the operator allows; nullopt: all of them. Only in a profile with an
  // egress proxy.
  std::optional<std::vector<std::string>> allowed_domains;
  core::Limits limits;
  // For a program that is compiled; nullopt: what its language has.
  std::optional<std::chrono::milliseconds> compile_time;
  // What to report of a validated source in addition to its findings. Each costs time.
  bool wants_analysis = true;   // Outcome::analysis
  bool wants_comments = false;  // Outcome::comments
};

// An ASCII letter, followed by letters, digits and underscores: Python would normalise others to
// another spelling. The policy handles leading underscores.
bool IsVariableName(std::string_view name);

// For arguments and environment variables alike: size of each, number, and total size.
inline constexpr size_t kMaxArgument = size_t{64} << 10;
inline constexpr size_t kMaxArguments = 1000;
inline constexpr size_t kMaxArgumentsTotal = size_t{256} << 10;
inline constexpr size_t kMaxVariableName = 256;

// Checks the arguments and the environment against these bounds. They must be UTF-8 without NUL,
// and each variable must have a name and occur once. The operation of an error names the culprit.
core::Result<void> CheckArguments(const Request& request);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_REQUEST_H_
