#include "engine/outside/light_backend.h"

#include <algorithm>
#include <utility>

#include "engine/core/text.h"
#include "engine/outside/start_over.h"

namespace belljar::outside {

LightBackend::LightBackend(std::unique_ptr<Backend> complete, core::Profile profile,
                           Start start_light)
    : profile_(std::move(profile)),
      start_light_(std::move(start_light)),
      complete_(std::move(complete)) {
  for (const core::PackageSet& set : profile_.packages) {
    for (const std::string& module : set.modules) others_.emplace(core::TopLevelName(module));
  }
  for (const std::string& package : profile_.light_packages) others_.erase(package);
}

// Null: use the complete zygote.
Backend* LightBackend::LightFor(const host::Request& request) {
  if (!MayStartOver(profile_, request) || NamesAny(others_, request.source)) return nullptr;
  const std::lock_guard lock(mutex_);
  // Two zygotes loading at once would delay the one that everybody waits for.
  if (!is_started_ && complete_->counters().workers_spawned > 0) {
    is_started_ = true;
    if (core::Result<std::unique_ptr<Backend>> light = start_light_(); light) {
      light_ = std::move(*light);
    }
  }
  return light_ && light_->counters().workers_spawned > 0 ? light_.get() : nullptr;
}

core::Result<host::Outcome> LightBackend::Run(const host::Request& request,
                                              const run::RunOptions& options) {
  Backend* const light = LightFor(request);
  if (!light) return complete_->Run(request, options);
  const Runner named = [&](const run::RunOptions& through) {
    core::Result<host::Outcome> outcome = light->Run(request, through);
    // For any failure, such as a zygote that was killed and does not restart.
    if (!outcome) outcome = core::WithCause(core::Cause::kStartOver, outcome.error());
    return outcome;
  };
  return RunNamedOrComplete(options, named, [&](const run::RunOptions& through) {
    return complete_->Run(request, through);
  });
}

Backend::Counters LightBackend::counters() const {
  Counters counters = complete_->counters();
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
