// RunOnce: one program in a sandbox of its own, for callers that are being waited for: `belljar
// run`, and the first run of a sandbox whose zygote is still loading its packages. Its zygote loads
// the modules that the program's text names, if restarting the program would go unnoticed
// (start_over.h).
#ifndef BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_
#define BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_

#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"
#include "engine/outside/start_over.h"
#include "engine/run/run_options.h"

namespace belljar::outside {

// Opens a sandbox for a single run, runs the request and closes it. Any thread.
core::Result<host::Outcome> RunOnce(SandboxOptions options, const host::Request& request,
                                    const run::RunOptions& run = {});

// Likewise for a run that must happen exactly once: what was displayed is what gets a receipt. Its
// zygote loads all modules of the profile.
core::Result<host::Outcome> RunOnlyOnce(SandboxOptions options, const host::Request& request,
                                        const run::RunOptions& run = {});

// For a request that may start over: runs it with the modules that it names. If it needs another
// one, `complete` runs it with the given options.
core::Result<host::Outcome> RunWithNamed(SandboxOptions options, const host::Request& request,
                                         const run::RunOptions& run, const Runner& complete);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_RUN_ONCE_H_
