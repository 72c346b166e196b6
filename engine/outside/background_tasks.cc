#include "engine/outside/background_tasks.h"

#include <utility>

#include "engine/outside/start_thread.h"

namespace belljar::outside {

core::Result<std::unique_ptr<BackgroundTasks>> BackgroundTasks::Start(std::string operation) {
  std::unique_ptr<BackgroundTasks> tasks(new BackgroundTasks);
  core::Result<std::thread> thread =
      StartThread(std::move(operation), [tasks = tasks.get()] { tasks->Work(); });
  if (!thread) return thread.error();
  tasks->thread_ = std::move(*thread);
  return tasks;
}

BackgroundTasks::~BackgroundTasks() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void BackgroundTasks::Add(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void BackgroundTasks::AddAt(core::Deadline due, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    timed_.emplace(due, std::move(task));
  }
  changed_.notify_one();
}

void BackgroundTasks::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!timed_.empty() && timed_.begin()->first <= core::Clock::now()) {
      tasks_.push_back(std::move(timed_.extract(timed_.begin()).mapped()));
    }
    if (tasks_.empty()) {
      if (is_ending_) return;
      if (timed_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, timed_.begin()->first);
      }
      continue;
    }
    {
      const std::function<void()> task = std::exchange(tasks_.front(), {});
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

}  // namespace belljar::outside
