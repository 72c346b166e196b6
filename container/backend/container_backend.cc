#include "container/backend/container_backend.h"

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "engine/core/afterwards.h"

namespace belljar {
namespace {

// For the engine to say how a container has ended that is gone already.
constexpr std::chrono::seconds kExitTimeout{5};
// Containers that died between being taken and being sent a request.
constexpr int kMostDeadInARow = 3;

// Nothing of the program has run: the guest has not had the whole of the request.
bool HasDiedBefore(const Result<Outcome>& outcome) {
  return !outcome && outcome.error().error_number == EPIPE;
}

// As the guest says it of a worker, which the kernel may have chosen to kill for the memory of all.
bool WasKilledByKernel(const Outcome& outcome) {
  return outcome.status == Status::kKilled && outcome.error &&
         outcome.error->message == "killed by SIGKILL";
}

}  // namespace

ContainerBackend::ContainerBackend(ContainerBackendOptions options)
    : options_(std::move(options)), pool_(options_.pool) {}

Result<Outcome> ContainerBackend::Run(const Request& request, const RunOptions& options) {
  // The caller's mistake costs no container.
  const Result<std::optional<AllowList>> narrower = Narrower(options_.doors.get(), request);
  if (!narrower) return narrower.error();
  InterruptCheck interrupts(options.interrupted);
  const Wait wait{Clock::now() + options.queue_timeout, options.cancel_fd, &interrupts};
  for (int tries = 1;; ++tries) {
    Result<PooledContainer> container = pool_.Take(wait);
    if (!container) {
      if (container.error().error_number != ECANCELED) return container.error();
      const GuestTerms& terms = options_.pool.terms;
      return CancelledBefore(request, terms.isolation, terms.language);
    }
    Result<Outcome> outcome = RunIn(*container, request, options);
    const bool has_died = HasDiedBefore(outcome);
    Leave(std::move(*container), options.afterwards);
    if (!has_died || tries == kMostDeadInARow) return outcome;
  }
}

Result<Outcome> ContainerBackend::RunIn(const PooledContainer& container, const Request& request,
                                        const RunOptions& options) const {
  Result<Outcome> outcome = container.guest->Run(request, options);
  if (!outcome) return outcome;
  if (container.guest->end() == GuestConnection::End::kClosed) {
    ExplainEnd(container, *outcome);
  } else if (WasKilledByKernel(*outcome)) {
    const Result<bool> out_of_memory = options_.pool.engine->RanOutOfMemory(container.id);
    if (out_of_memory && *out_of_memory) SetOutOfMemory(*outcome);
  }
  outcome->container = options_.report;
  outcome->container->warm = container.warm;
  outcome->container->started_in = container.started_in;
  return outcome;
}

// The guest has not said it, but the engine knows.
void ContainerBackend::ExplainEnd(const PooledContainer& container, Outcome& outcome) const {
  const Result<ContainerExit> exit = options_.pool.engine->Wait(container.id, kExitTimeout);
  if (!exit) {
    outcome.error->hint = "the engine does not say why: " + exit.error().ToString();
  } else if (exit->out_of_memory) {
    SetOutOfMemory(outcome);
  } else {
    outcome.error->message += ", with exit code " + std::to_string(exit->exit_code);
  }
}

void ContainerBackend::SetOutOfMemory(Outcome& outcome) const {
  outcome.status = Status::kMemoryLimit;
  outcome.error =
      Stopped("MemoryLimit",
              "the container was stopped at " + options_.pool.spec.memory.ToString() + " of memory",
              "use less memory at a time; files that are in memory count");
}

void ContainerBackend::Leave(PooledContainer container, Afterwards* afterwards) {
  if (!afterwards) return pool_.Retire(std::move(container));
  auto spent = std::make_shared<PooledContainer>(std::move(container));
  afterwards->Add([this, spent] { pool_.Retire(std::move(*spent)); });
}

}  // namespace belljar
