#include "engine/outside/run_once.h"

#include <memory>
#include <utility>

namespace belljar::outside {
namespace {

core::Result<host::Outcome> RunIn(SandboxOptions options, const host::Request& request,
                                  const run::RunOptions& run) {
  core::Result<std::unique_ptr<Sandbox>> sandbox = Sandbox::Open(std::move(options));
  if (!sandbox) return sandbox.error();
  return (*sandbox)->Run(request, run);
}

}  // namespace

core::Result<host::Outcome> RunWithNamed(SandboxOptions options, const host::Request& request,
                                         const run::RunOptions& run, const Runner& complete) {
  options.single_run = true;
  options.named_modules = NamedModules(options.profile, request.source);
  // Such a program may import any standard library module, and those import each other.
  if (LanguageOf(options) == Language::kFull) options.named_modules->push_back(kWholeLibrary);
  const Runner named = [&](const run::RunOptions& through) {
    run::RunOptions first = through;
    first.deferred = nullptr;  // its sandbox ends here
    return RunIn(std::move(options), request, first);
  };
  return RunNamedOrComplete(run, named, complete);
}

core::Result<host::Outcome> RunOnlyOnce(SandboxOptions options, const host::Request& request,
                                        const run::RunOptions& run) {
  options.single_run = true;
  return RunIn(std::move(options), request, run);
}

core::Result<host::Outcome> RunOnce(SandboxOptions options, const host::Request& request,
                                    const run::RunOptions& run) {
  if (!MayStartOver(options.profile, request)) {
    return RunOnlyOnce(std::move(options), request, run);
  }
  options.single_run = true;
  return RunWithNamed(options, request, run, [&](const run::RunOptions& through) {
    return RunIn(std::move(options), request, through);
  });
}

}  // namespace belljar::outside
