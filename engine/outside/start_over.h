// A program that runs in a zygote with some modules only, and again in one with all of them if it
// turns out to need another.
//
// Loading all modules of a profile takes seconds, and a clone of all of them milliseconds, and a
// program uses few. So a zygote loads some, which the program's text names. The names are the
// profile's own; no text of the program reaches a zygote. A program that needs another module after
// all is killed where it asks for it, and started over in a zygote that has loaded all. Nobody
// notices that it ran before: it can neither keep nor send anything, and of its output what has
// been shown is not shown again. A program with a network, or with functions of its caller, could
// have been noticed, so those run where all modules are loaded.
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

// Among the modules that a zygote loads: the whole standard library (belljar_policy/preload.py).
inline constexpr char kWholeLibrary[] = "*";

// Whether nobody could notice that the request runs twice.
bool MayStartOver(const core::Profile& profile, const host::Request& request);

// The top-level names of the profile's modules that occur in `source` as words, in code or not,
// and of what its builtins need, sorted.
std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source);

// Whether one of `names` occurs in `source` as a word.
bool NamesAny(const std::set<std::string, std::less<>>& names, std::string_view source);

// Of a request that may start over: `named` runs it with some modules. If it needs another one,
// `complete` runs it. Both get the options that they are to run it with.
using Runner = std::function<core::Result<host::Outcome>(const run::RunOptions& run)>;
core::Result<host::Outcome> RunNamedOrComplete(const run::RunOptions& run, const Runner& named,
                                               const Runner& complete);

// The output of a program that was started over, as if it had run once. It is not shown again as
// far as it is the same. If it is not (it depends on the time), all of it is shown, after a note.
class OutputOfBoth {
 public:
  // Borrowed.
  explicit OutputOfBoth(const run::OutputSink& sink);
  OutputOfBoth(const OutputOfBoth&) = delete;

  // For both runs.
  const run::OutputSink& sink() const { return through_; }
  void StartOver() { is_second_ = true; }

 private:
  struct Stream {
    std::string shown;    // by the first run
    size_t repeated = 0;  // of it, by the second
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
