// A program first runs in a zygote with some modules only, and again in one with all of them if it
// turns out to need another.
//
// Loading all modules of a profile takes seconds, cloning them milliseconds, and a program uses
// few. So a zygote loads only some: those that the program's text names. The names are the
// profile's own; no text of the program reaches a zygote. A program that needs another module after
// all is killed where it requests it, and restarted in a zygote that has loaded all. Nobody notices
// the first run: it could neither keep nor send anything, and output already shown is not shown
// again. A program with network access, or with functions of its caller, could be noticed, so those
// run where all modules are loaded.
#ifndef BELLJAR_ENGINE_OUTSIDE_START_OVER_H_
#define BELLJAR_ENGINE_OUTSIDE_START_OVER_H_

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/run_options.h"

namespace belljar::outside {

// Always among the modules that a zygote loads: the whole standard library
// (policy/belljar_policy/preload.py).
inline constexpr char kWholeLibrary[] = "*";

// Whether running the request twice would go unnoticed.
bool MayStartOver(const core::Profile& profile, const host::Request& request);

// The top-level names of the profile's modules that occur in `source` as words, in code or not, and
// those needed by its builtins, sorted.
std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source);

// Whether one of `names` occurs in `source` as a word.
bool NamesAny(const std::set<std::string, std::less<>>& names, std::string_view source);

// For a request that may start over: `named` runs it with some modules. If it needs another one,
// `complete` runs it. Both get the options to run it with.
using Runner = std::function<core::Result<host::Outcome>(const run::RunOptions& run)>;
core::Result<host::Outcome> RunNamedOrComplete(const run::RunOptions& run, const Runner& named,
                                               const Runner& complete);

// The output of a program that was restarted, as if it had run once. Output that is the same is not
// shown again. If it differs (because it depends on the time), all of it is shown, after a note.
class OutputOfBoth {
 public:
  // Borrowed.
  explicit OutputOfBoth(const run::OutputSink& sink);
  OutputOfBoth(const OutputOfBoth&) = delete;

  // Used for both runs.
  const run::OutputSink& sink() const { return through_; }
  void StartOver() { is_second_ = true; }

 private:
  struct Stream {
    std::string shown;    // by the first run
    size_t repeated = 0;  // bytes of it repeated by the second
    bool differs = false;
  };
  void Show(Stream& stream, const std::function<void(std::string_view)>& show,
            std::string_view bytes);

  const run::OutputSink& sink_;
  run::OutputSink through_;
  Stream stdout_, stderr_;
  bool is_second_ = false;
  bool has_said_so_ = false;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_START_OVER_H_
