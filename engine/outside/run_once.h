// RunOnce: one program in a sandbox of its own, for callers that somebody waits for: `belljar run`,
// and the first run of a sandbox whose zygote still loads its packages.
//
// Loading all modules of a profile takes most of the time of such a run, and a program uses few of
// them. So the zygote loads those that the program's text names. The names are the profile's own;
// no text of the program reaches a zygote. A program that needs another module after all is killed
// where it asks for it, and started over in a zygote that has loaded all. Nobody notices that it
// ran before: it can neither keep nor send anything, and of its output what has been shown is not
// shown again. A program with a network, or with functions of its caller, could have been noticed,
// so for those all modules are loaded at once.
#ifndef BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_
#define BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/sandbox.h"

namespace belljar::outside {

// Opens a sandbox for a single run, runs the request and closes it. Any thread.
core::Result<host::Outcome> RunOnce(SandboxOptions options, const host::Request& request,
                                    const RunOptions& run = {});

// Whether nobody could notice that the request runs twice.
bool MayStartOver(const SandboxOptions& options, const host::Request& request);

// Of a request that may start over: runs it with the modules that it names. If it needs another
// one, `whole` runs it, with the given options.
using Runner = std::function<core::Result<host::Outcome>(const RunOptions& run)>;
core::Result<host::Outcome> RunWithNamed(SandboxOptions options, const host::Request& request,
                                         const RunOptions& run, const Runner& whole);

// The outermost names of the profile's modules that occur in `source` as words, in code or not,
// sorted.
std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source);

// The output of a program that was started over, as if it had run once. It is not shown again as
// far as it is the same. If it is not (it depends on the time), all of it is shown, after a note.
class OutputOfBoth {
 public:
  // Borrowed.
  explicit OutputOfBoth(const OutputSink& sink);
  OutputOfBoth(const OutputOfBoth&) = delete;

  // For both runs.
  const OutputSink& sink() const { return through_; }
  void StartOver() { is_second_ = true; }

 private:
  struct Stream {
    std::string shown;    // by the first run
    size_t repeated = 0;  // of it, by the second
    bool differs = false;
  };
  void Show(Stream& stream, const std::function<void(std::string_view)>& show,
            std::string_view bytes);

  const OutputSink& sink_;
  OutputSink through_;
  Stream stdout_, stderr_;
  bool is_second_ = false;
  bool has_said_so_ = false;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_
