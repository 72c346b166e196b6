// BackgroundTasks: threads for work that nobody waits for, immediate or delayed. There are as many
// as needed, within reason: a task that waits for a hostile process does not hold up others.
#ifndef BELLJAR_ENGINE_WAITING_BACKGROUND_TASKS_H_
#define BELLJAR_ENGINE_WAITING_BACKGROUND_TASKS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/thread.h"

namespace belljar::waiting {

class BackgroundTasks {
 public:
  static core::Result<std::unique_ptr<BackgroundTasks>> Start(std::string operation);
  BackgroundTasks(const BackgroundTasks&) = delete;
  // Runs all remaining tasks, except those that are not due.
  ~BackgroundTasks();

  // `task` must not throw. Any thread.
  void Add(std::function<void()> task);
  // Not before `due`.
  void AddAt(core::Deadline due, std::function<void()> task);

 private:
  BackgroundTasks() = default;
  void Work();
  void NeedThread();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::multimap<core::Deadline, std::function<void()>> timed_;
  bool is_ending_ = false;
  size_t idle_ = 0;  // threads waiting for a task
  std::vector<core::Thread> threads_;
};

}  // namespace belljar::waiting

#endif  // BELLJAR_ENGINE_WAITING_BACKGROUND_TASKS_H_
