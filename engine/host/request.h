// Request: one piece of code and how to run it. A plain value; the same for every backend.
#ifndef BELLJAR_ENGINE_HOST_REQUEST_H_
#define BELLJAR_ENGINE_HOST_REQUEST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"

namespace belljar::host {

// A file that is there when the program starts.
struct InputFile {
  std::string path;  // relative to the workspace, '/' between its parts
  std::string content;
};

// A variable that the program finds. Its value is plain data, as JSON of the form that results have
// (plain_data.py).
struct InputVariable {
  std::string name;
  std::string json;
};

// Among Request::functions, and in no program's reach, since none can spell it: called when a
// program has ended by itself, or by an exception, once for each of its variables with the name
// and, where that is plain data, the value; and then, that being all of them, with nothing.
inline constexpr std::string_view kTakesVariables = "@variable";

struct Request {
  enum class Mode { kRun, kValidate };

  Mode mode = Mode::kRun;
  std::string source;                // bytes as given; the worker decodes them
  std::string filename = "main.py";  // as tracebacks and findings name it
  std::optional<std::string> standard_input;
  // Narrows the profile's modules; nullopt: all of them.
  std::optional<std::vector<std::string>> allowed_imports;
  std::vector<InputFile> files;  // only in a profile with a workspace
  std::vector<InputVariable> inputs;
  // Names of functions that the program may call; RunOptions::call answers them.
  std::vector<std::string> functions;
  // The result tells tuples from lists, and frozensets from sets.
  bool exact_types = false;
  // Narrows the hosts that the operator allows; nullopt: all of them. Only in a profile with a
  // egress proxy.
  std::optional<std::vector<std::string>> allowed_domains;
  core::Limits limits;
  // What a validated source is asked beside its findings; each costs time.
  bool wants_analysis = true;   // Outcome::analysis
  bool wants_comments = false;  // Outcome::comments
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_REQUEST_H_
