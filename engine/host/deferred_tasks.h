// DeferredTasks: what a call leaves to be done once its answer is on its way, so that nobody waits
// for it: the worker to be killed and replaced, the books to be kept. With two cores each of these
// would take the core that the client wants to wake up on.
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
  // Does everything, in the order in which it was added.
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
