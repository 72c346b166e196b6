// PlannedBackend: this machine's backend of a sandbox: the sources of its workers, and what there
// is of them at a moment. How a run gets one is planned in start_plan.h.
#ifndef BELLJAR_ENGINE_OUTSIDE_PLANNED_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_PLANNED_BACKEND_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "engine/core/profile.h"
#include "engine/outside/backend.h"
#include "engine/outside/start_plan.h"

namespace belljar::outside {

class PlannedBackend : public Backend {
 public:
  // Starts the zygote of a source, for the program if it is for one run alone.
  using Start = std::function<core::Result<std::unique_ptr<Backend>>(WorkerSource source,
                                                                     std::string_view program)>;
  struct Offers {
    bool early = false;  // kOwnNamed, until the spares' zygote is ready
    // kLightSpare. Its zygote starts with the first program that it could have run after that of
    // the spares was ready: two that load at once would delay the one that everybody waits for.
    bool light = false;
  };

  // `spares` runs what needs all modules, validates and opens sessions.
  PlannedBackend(std::unique_ptr<Backend> spares, const core::Profile& profile, Offers offers,
                 Start start);

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;
  bool RunsEarly(const host::Request& request) const override;
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run) override {
    return spares_->OpenSession(options, run);
  }
  core::Result<void> WaitForSpare(core::Deadline deadline) override {
    return spares_->WaitForSpare(deadline);
  }
  Counters counters() const override;

 private:
  bool IsReady() const { return spares_->counters().workers_spawned > 0; }
  Ways WaysNow() const;
  core::Result<host::Outcome> RunFrom(WorkerSource source, const host::Request& request,
                                      const run::RunOptions& run);
  Backend* Light();

  const bool has_network_;
  const Names light_lacks_;
  const Offers offers_;
  const Start start_;
  const std::unique_ptr<Backend> spares_;
  std::atomic<bool> is_running_early_ = false;
  std::atomic<bool> has_no_light_ = false;  // it could not be started
  mutable std::mutex mutex_;
  std::unique_ptr<Backend> light_;  // set once
};

// Runs it in the zygote that `start` starts for it alone.
core::Result<host::Outcome> RunInOwn(const PlannedBackend::Start& start, WorkerSource source,
                                     const host::Request& request, const run::RunOptions& run);

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_PLANNED_BACKEND_H_
