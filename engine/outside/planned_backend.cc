#include "engine/outside/planned_backend.h"

#include <algorithm>
#include <utility>

namespace belljar::outside {
namespace {

constexpr char kRun[] = "run a program";

// One caller at a time has it, until the end of its scope, even if a callback throws.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken), is_mine_(!taken.exchange(true)) {}
  Turn(const Turn&) = delete;
  ~Turn() {
    if (is_mine_) taken_ = false;
  }
  bool is_mine() const { return is_mine_; }

 private:
  std::atomic<bool>& taken_;
  const bool is_mine_;
};

}  // namespace

core::Result<host::Outcome> RunInOwn(const PlannedBackend::Start& start, WorkerSource source,
                                     const host::Request& request, const run::RunOptions& run) {
  core::Result<std::unique_ptr<Backend>> own = start(source, ProgramText(request));
  if (!own) return own.error();
  run::RunOptions through = run;
  through.deferred = nullptr;  // its worker ends here, with its zygote
  return (*own)->Run(request, through);
}

PlannedBackend::PlannedBackend(std::unique_ptr<Backend> spares, const core::Profile& profile,
                               Offers offers, Start start)
    : has_network_(profile.egress.has_value()),
      light_lacks_(LightLacks(profile)),
      offers_(offers),
      start_(std::move(start)),
      spares_(std::move(spares)) {}

Ways PlannedBackend::WaysNow() const {
  Ways ways;
  ways.has_network = has_network_;
  ways.own_named = offers_.early && !is_running_early_ && !IsReady();
  if (offers_.light && !has_no_light_ && IsReady()) ways.light_lacks = &light_lacks_;
  return ways;
}

bool PlannedBackend::RunsEarly(const host::Request& request) const {
  return PlanStart(request, WaysNow()).first == WorkerSource::kOwnNamed;
}

core::Result<host::Outcome> PlannedBackend::Run(const host::Request& request,
                                                const run::RunOptions& options) {
  const StartPlan plan = PlanStart(request, WaysNow());
  return CarryOut(plan, options, [&](WorkerSource source, const run::RunOptions& run) {
    return RunFrom(source, request, run);
  });
}

core::Result<host::Outcome> PlannedBackend::RunFrom(WorkerSource source,
                                                    const host::Request& request,
                                                    const run::RunOptions& run) {
  const auto none = [](const char* why) {
    return core::WithCause(core::Cause::kStartOver, core::MakeError(kRun, why));
  };
  switch (source) {
    case WorkerSource::kSpare: break;
    case WorkerSource::kLightSpare: {
      Backend* const light = Light();
      return light ? light->Run(request, run) : none("the light zygote is not ready");
    }
    case WorkerSource::kOwn:
    case WorkerSource::kOwnNamed: {
      const Turn turn(is_running_early_);
      if (!turn.is_mine()) return none("another one runs early");
      return RunInOwn(start_, source, request, run);
    }
  }
  return spares_->Run(request, run);
}

// Null: there is none yet. Nobody waits for it.
Backend* PlannedBackend::Light() {
  const std::lock_guard lock(mutex_);
  if (!light_ && !has_no_light_) {
    core::Result<std::unique_ptr<Backend>> light = start_(WorkerSource::kLightSpare, {});
    has_no_light_ = !light;
    if (light) light_ = std::move(*light);
  }
  return light_ && light_->counters().workers_spawned > 0 ? light_.get() : nullptr;
}

Backend::Counters PlannedBackend::counters() const {
  Counters counters = spares_->counters();
  const std::lock_guard lock(mutex_);
  if (!light_) return counters;
  const Counters more = light_->counters();
  counters.zygotes_started += more.zygotes_started;
  counters.workers_spawned += more.workers_spawned;
  if (more.workers_spawned > 0) counters.waiting = std::min(counters.waiting, more.waiting);
  counters.light_zygote_pid = more.zygote_pid;
  return counters;
}

}  // namespace belljar::outside
