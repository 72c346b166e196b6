// StartPlan: how a run gets its worker. PlanStart chooses between the ways, CarryOut follows the
// plan, and ZygoteFor states what each source is; nothing else tells the ways apart. A further one
// is a row here, a WorkerSource with its zygote, and a member of Ways that says when there is one.
//
//   what is run                                              first         fallback
//   any program, once the sandbox is ready                   kSpare        -
//   then, one that names no package but those of the         kLightSpare   kSpare, also if the
//     light zygote (`[zygote] light` of the profile)                       light zygote fails
//   while the sandbox is still loading packages: one that    kOwnNamed     kSpare
//     may start over, if no other runs in this way
//   by `belljar run`, one that may start over                kOwnNamed     kOwn
//   by `belljar run`, any other, or exactly once             kOwn          -
//
// Loading all modules of a profile takes seconds, cloning them milliseconds, and a program uses
// few. So a zygote may load only some: those that the program's text names, or the light packages.
// The names are the profile's own; no text of the program reaches a zygote. A program that needs
// another module after all is killed where it requests it, and started over where all are loaded.
// Nobody notices the first run: it could neither keep nor send anything, and output already shown
// is not shown again, nor a person asked again for the input. A program with network access, or
// with functions of its caller, could be noticed, so those run where all modules are loaded.
//
// In containers, a spare is a waiting container (container/backend/container_pool.h), whose sandbox
// has one worker (SandboxOptions::single_run). A session's worker is a spare with an init, which
// lets it be copied, or where copies cannot be limited, one like those of runs
// (LocalBackend::OpenSession).
#ifndef BELLJAR_ENGINE_OUTSIDE_START_PLAN_H_
#define BELLJAR_ENGINE_OUTSIDE_START_PLAN_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox_options.h"
#include "engine/run/run_options.h"
#include "engine/workers/zygote_process.h"

namespace belljar::outside {

enum class WorkerSource {
  kSpare,       // of the sandbox: waits, all modules are loaded
  kLightSpare,  // of its light zygote: waits, only the light packages are loaded
  kOwn,         // a zygote for this run alone, which loads all modules and becomes the worker
  kOwnNamed,    // likewise, but it loads only the modules that the program names
};

struct StartPlan {
  WorkerSource first = WorkerSource::kSpare;
  // Where the program starts over if it needs a module that the first has not loaded. nullopt: it
  // has loaded all.
  std::optional<WorkerSource> fallback;
  bool fallback_on_any_failure = false;  // also if the first could not run it

  bool operator==(const StartPlan&) const = default;
};

using Names = std::set<std::string, std::less<>>;

// What there is for a run at this moment.
struct Ways {
  WorkerSource whole = WorkerSource::kSpare;  // with all modules
  bool own_named = false;                     // a zygote of its own would be ready sooner
  const Names* light_lacks = nullptr;         // null: there is no light zygote
  bool has_network = false;
};

// Looks at the program's text only if there is a light zygote.
StartPlan PlanStart(const host::Request& request, const Ways& ways);

// The text of the program and of the modules that it brings along (.py).
std::string ProgramText(const host::Request& request);

// The zygote that a source needs for a program with this text.
workers::ZygoteKind ZygoteFor(WorkerSource source, const SandboxOptions& options,
                              std::string_view program);

// The top-level names of the profile's modules that occur in `source` as words, in code or not, and
// those needed by its builtins, sorted.
std::vector<std::string> NamedModules(const core::Profile& profile, std::string_view source);

// The top-level names of the packages that only the complete zygote loads.
Names LightLacks(const core::Profile& profile);

// Runs the program with a worker from the given source. If that has none to give after all, it
// returns an error with the cause kStartOver.
using RunFrom =
    std::function<core::Result<host::Outcome>(WorkerSource source, const run::RunOptions& run)>;
core::Result<host::Outcome> CarryOut(const StartPlan& plan, const run::RunOptions& run,
                                     const RunFrom& run_from);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_START_PLAN_H_
