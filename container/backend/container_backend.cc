#include "container/backend/container_backend.h"

#include <signal.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "container/backend/contained_python.h"
#include "engine/host/deferred_tasks.h"
#include "engine/sessions/kept_session.h"

namespace belljar::container::backend {
namespace {

// Time for the engine to report how a container that is already gone has ended.
constexpr std::chrono::seconds kExitTimeout{5};
// Maximum number of containers in a row that died between being taken and receiving a request.
constexpr int kMaxConsecutiveDeaths = 3;

// The program did not run: the guest did not receive the whole request.
bool HasDiedBefore(const core::Result<host::Outcome>& outcome) {
  return !outcome && outcome.error().error_number == EPIPE;
}

}  // namespace

ContainerBackend::ContainerBackend(ContainerBackendOptions options,
                                   std::unique_ptr<ContainerPool> pool)
    : options_(std::move(options)), pool_(std::move(pool)) {}

core::Result<std::unique_ptr<ContainerBackend>> ContainerBackend::Start(
    ContainerBackendOptions options) {
  core::Result<std::unique_ptr<ContainerPool>> pool = ContainerPool::Start(options.pool);
  if (!pool) return pool.error();
  return std::unique_ptr<ContainerBackend>(
      new ContainerBackend(std::move(options), std::move(*pool)));
}

core::Result<host::Outcome> ContainerBackend::Run(const host::Request& request,
                                                  const run::RunOptions& options) {
  // An error of the caller must not cost a container.
  const core::Result<std::optional<egress::AllowList>> narrower =
      egress::Narrower(options_.egress_service.get(), request);
  if (!narrower) return narrower.error();
  waiting::InterruptCheck interrupts(options.interrupted);
  const waiting::Wait wait{core::Clock::now() + options.queue_timeout, options.cancel_fd,
                           &interrupts};
  for (int tries = 1;; ++tries) {
    core::Result<PooledContainer> container = pool_->Take(wait);
    if (!container) {
      if (container.error().error_number != ECANCELED) return container.error();
      const GuestTerms& terms = options_.pool.terms;
      return run::CancelledBefore(request, terms.isolation, terms.policy);
    }
    core::Result<host::Outcome> outcome = RunIn(*container, request, options);
    const bool has_died = HasDiedBefore(outcome);
    Leave(std::move(*container), options.deferred);
    if (!has_died || tries == kMaxConsecutiveDeaths) return outcome;
  }
}

core::Result<PooledContainer> ContainerBackend::TakeForSession(
    const sessions::SessionOptions& options, const waiting::Wait& wait) {
  for (int tries = 1;; ++tries) {
    core::Result<PooledContainer> container = pool_->Take(wait);
    if (!container) return container;
    const core::Result<void> opened = container->guest->OpenSession(options.limits, wait);
    if (opened) return container;
    pool_->Retire(std::move(*container));
    if (opened.error().error_number != EPIPE || tries == kMaxConsecutiveDeaths)
      return opened.error();
  }
}

core::Result<std::shared_ptr<sessions::Session>> ContainerBackend::OpenSession(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  if (options_.egress_service) {
    return core::MakeError("open a session",
                           "in a container it has no network: choose a profile without one, or "
                           "open it without a container");
  }
  // Waits until its container has been returned.
  std::optional<sessions::OpenedSessions::Use> use = sessions_->BeginUse();
  if (!use) return core::MakeError("open a session", "the sandbox is closing");
  const auto kept_use = std::make_shared<const sessions::OpenedSessions::Use>(std::move(*use));
  waiting::InterruptCheck interrupts(run.interrupted);
  core::Result<PooledContainer> container =
      TakeForSession(options, {core::Clock::now() + run.queue_timeout, run.cancel_fd, &interrupts});
  if (!container) return container.error();
  auto python = std::make_unique<ContainedPython>(
      std::move(*container),
      ContainedPython::Host{
          .run = [this](const PooledContainer& in, const host::Request& request,
                        const run::RunOptions& cell) { return RunIn(in, request, cell); },
          .retire = [this, kept_use](PooledContainer spent) { pool_->Retire(std::move(spent)); },
          .has_workspace = options_.pool.terms.has_workspace});
  sessions::NoCopies no_copies{"under " + options_.report.runtime,
                               "open it without a container, if this machine's own isolation is "
                               "enough"};
  core::Result<std::shared_ptr<sessions::Session>> session =
      sessions::KeptSession::Open(std::move(python), std::move(no_copies), options);
  if (session) sessions_->Add(*session);
  return session;
}

core::Result<host::Outcome> ContainerBackend::RunIn(const PooledContainer& container,
                                                    const host::Request& request,
                                                    const run::RunOptions& options) const {
  core::Result<host::Outcome> outcome = container.guest->Run(request, options);
  if (!outcome) return outcome;
  if (container.guest->end() == GuestConnection::End::kClosed) {
    ExplainEnd(container, *outcome);
  } else if (outcome->kill_cause == host::KillCause::kSigkill) {
    // For a worker, which the kernel may have killed because the container as a whole ran out of
    // memory.
    const core::Result<bool> out_of_memory = options_.pool.engine->RanOutOfMemory(container.id);
    if (out_of_memory && *out_of_memory) SetOutOfMemory(*outcome);
  }
  outcome->container = options_.report;
  outcome->container->warm = container.warm;
  outcome->container->started_in = container.started_in;
  return outcome;
}

// The guest could not report it, but the engine knows.
void ContainerBackend::ExplainEnd(const PooledContainer& container, host::Outcome& outcome) const {
  const core::Result<engines::ContainerExit> exit =
      options_.pool.engine->Wait(container.id, kExitTimeout);
  if (!exit) {
    outcome.error->hint = "the engine gives no reason: " + exit.error().ToString();
  } else if (exit->out_of_memory) {
    SetOutOfMemory(outcome);
  } else {
    outcome.error->message += ", with exit code " + std::to_string(exit->exit_code);
    // Engines can lose the kernel's OOM notification (containerd issue 8893, gVisor issue 9723).
    if (exit->exit_code == 128 + SIGKILL) {
      outcome.error->hint = "a container that the kernel kills at its memory limit, " +
                            options_.pool.spec.memory.ToString() +
                            ", exits with this code; the engine reported no such kill";
    }
  }
}

void ContainerBackend::SetOutOfMemory(host::Outcome& outcome) const {
  host::SetStopped(
      outcome, host::Status::kMemoryLimit, "MemoryLimit",
      "the container was stopped at " + options_.pool.spec.memory.ToString() + " of memory",
      "use less memory at a time; files in memory count, too");
}

void ContainerBackend::Leave(PooledContainer container, host::DeferredTasks* deferred) {
  if (!deferred) return pool_->Retire(std::move(container));
  auto spent = std::make_shared<PooledContainer>(std::move(container));
  deferred->Add([this, spent] { pool_->Retire(std::move(*spent)); });
}

}  // namespace belljar::container::backend
