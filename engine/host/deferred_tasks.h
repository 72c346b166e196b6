// DeferredTasks: work to do after an answer has been sent, so that nobody waits for it: killing and
// replacing the worker, accounting. With two cores, each of these would take the core that the
// client needs to wake up on.
//
//   DeferredTasks afterwards;               // first, so that it is destroyed last
//   options.afterwards = &afterwards;
//   reply->Finish(Answer(sandbox.Run(request, options)));
#ifndef BELLJAR_ENGINE_HOST_DEFERRED_TASKS_H_
#define BELLJAR_ENGINE_HOST_DEFERRED_TASKS_H_

#include <functional>
#include <utility>
#include <vector>

namespace belljar::host {

// One thread at a time.
class DeferredTasks {
 public:
  DeferredTasks() = default;
  DeferredTasks(const DeferredTasks&) = delete;
  DeferredTasks& operator=(const DeferredTasks&) = delete;
  // Runs all steps in the order in which they were added.
  ~DeferredTasks() {
    for (const auto& step : steps_) step();
  }

  // `step` does not throw.
  void Add(std::function<void()> step) { steps_.push_back(std::move(step)); }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_DEFERRED_TASKS_H_
