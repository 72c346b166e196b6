// LightBackend: two zygotes for a profile with packages. The light one has loaded the few packages
// that most programs use (`[zygote] light` of the profile), and its clones cost half as much: a
// clone copies the mappings of every loaded library. It runs the programs whose text names no other
// package; if one needs another after all, it is started over (start_over.h). The complete one runs
// everything else: other programs, validation, sessions.
#ifndef BELLJAR_ENGINE_OUTSIDE_LIGHT_BACKEND_H_
#define BELLJAR_ENGINE_OUTSIDE_LIGHT_BACKEND_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/core/profile.h"
#include "engine/outside/backend.h"
#include "engine/run/run_options.h"

namespace belljar::outside {

class LightBackend : public Backend {
 public:
  using Start = std::function<core::Result<std::unique_ptr<Backend>>()>;

  // `start_light` is called once, for the first program that the light zygote could have run after
  // the complete one was ready. Until the light one is ready, or if it cannot be started, the
  // complete one runs everything.
  LightBackend(std::unique_ptr<Backend> complete, core::Profile profile, Start start_light);

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& options, const run::RunOptions& run) override {
    return complete_->OpenSession(options, run);
  }
  core::Result<void> WaitForSpare(core::Deadline deadline) override {
    return complete_->WaitForSpare(deadline);
  }
  Counters counters() const override;

 private:
  Backend* LightFor(const host::Request& request);

  const core::Profile profile_;
  // Top-level names of modules that only the complete one has.
  std::set<std::string, std::less<>> others_;
  const Start start_light_;
  const std::unique_ptr<Backend> complete_;
  mutable std::mutex mutex_;
  bool is_started_ = false;         // or could not be
  std::unique_ptr<Backend> light_;  // set once
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_LIGHT_BACKEND_H_
