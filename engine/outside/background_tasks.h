// BackgroundTasks: one thread that does what nobody waits for, in order.
#ifndef BELLJAR_ENGINE_OUTSIDE_BACKGROUND_TASKS_H_
#define BELLJAR_ENGINE_OUTSIDE_BACKGROUND_TASKS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "engine/core/result.h"

namespace belljar::outside {

class BackgroundTasks {
 public:
  static core::Result<std::unique_ptr<BackgroundTasks>> Start(std::string operation);
  BackgroundTasks(const BackgroundTasks&) = delete;
  // Does all that is left.
  ~BackgroundTasks();

  // `task` does not throw. Any thread.
  void Add(std::function<void()> task);

 private:
  BackgroundTasks() = default;
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_BACKGROUND_TASKS_H_
