// Sandbox: the public facade. One profile, one configuration of the seal, many runs.
//
//   SandboxOptions options;                      // profile "basic", strict, with the policy on
//   auto sandbox = Sandbox::Open(options);
//   if (!sandbox) return sandbox.error();        // our machine: no namespaces, no profile, …
//   Request request;
//   request.source = "print('hello')\n6 * 7";
//   request.limits = (*sandbox)->profile().default_limits;
//   Result<Outcome> outcome = (*sandbox)->Run(request);   // the guest: ok, exception, timeout, …
//
// Open returns before the first worker is ready; Run waits for one.
#ifndef BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_
#define BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_

#include <memory>

#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/sandbox_options.h"
#include "engine/run/run_options.h"
#include "engine/sessions/session.h"

namespace belljar::outside {

class Sandbox {
 public:
  static core::Result<std::unique_ptr<Sandbox>> Open(SandboxOptions options);
  // A sandbox over another backend, which applies the seal itself; only the profile of `options` is
  // used.
  static std::unique_ptr<Sandbox> Over(SandboxOptions options, std::unique_ptr<Backend> backend);
  ~Sandbox();

  const core::Profile& profile() const { return options_->profile; }

  // Limits above the profile's maximum are an error that names them.
  // The program may start others (own_programs.h).
  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options = {});

  // Whether Run would not wait for the zygote even though it is still loading its profile.
  bool RunsEarly(const host::Request& request) const { return backend_->RunsEarly(request); }

  // Opens a live, persistent Python (session.h) with these limits. Limits above the profile's
  // maximum are an error that names them. It is closed with the sandbox.
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run = {});
  // A session that it has opened, or one of that, as a kernel for another one's AddKernel. It must
  // outlive the cells.
  sessions::Kernel AsKernel(std::shared_ptr<sessions::Session> session);
  // Runs a cell of one of its sessions, with the same checks as Run.
  core::Result<host::Outcome> RunCell(sessions::Session& session, const host::Request& request,
                                      const run::RunOptions& options = {},
                                      sessions::Patience patience = {});

  // Waits until a worker is ready for the next Run. The error says why there is none; ETIMEDOUT:
  // not yet.
  core::Result<void> WaitForSpare(core::Deadline deadline) {
    return backend_->WaitForSpare(deadline);
  }

  Backend::Counters counters() const { return backend_->counters(); }

 private:
  Sandbox(std::shared_ptr<const SandboxOptions> options, std::unique_ptr<Backend> backend,
          bool is_local);

  const bool is_local_;  // not in a container
  const std::shared_ptr<const SandboxOptions> options_;
  const std::unique_ptr<Backend> backend_;
};

// What a program of another language than Python cannot have, and what its interpreter does not
// check. An error is the caller's. Run checks it too; this is for who tells such errors apart.
core::Result<void> CheckProgram(const core::Profile& profile, const host::Request& request);

// One program in a sandbox of its own, for callers that are being waited for. Any thread.
// `exactly_once`: it is never started over (start_plan.h): what was displayed is what gets a
// receipt.
core::Result<host::Outcome> RunOnce(SandboxOptions options, const host::Request& request,
                                    const run::RunOptions& run = {}, bool exactly_once = false);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_SANDBOX_H_
