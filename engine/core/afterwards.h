// Afterwards: what a call leaves to be done once its answer is on its way, so that nobody waits for
// it: the worker to be killed and replaced, the books to be kept. With two cores each of these
// would take the core that the client wants to wake up on.
//
//   Afterwards afterwards;               // first, so that it is destroyed last
//   options.afterwards = &afterwards;
//   reply->Finish(Answer(sandbox.Run(request, options)));
#ifndef BELLJAR_ENGINE_CORE_AFTERWARDS_H_
#define BELLJAR_ENGINE_CORE_AFTERWARDS_H_

#include <functional>
#include <utility>
#include <vector>

namespace belljar {

// One thread at a time.
class Afterwards {
 public:
  Afterwards() = default;
  Afterwards(const Afterwards&) = delete;
  Afterwards& operator=(const Afterwards&) = delete;
  // Does everything, in the order in which it was added.
  ~Afterwards() {
    for (const auto& step : steps_) step();
  }

  // `step` does not throw.
  void Add(std::function<void()> step) { steps_.push_back(std::move(step)); }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_AFTERWARDS_H_
