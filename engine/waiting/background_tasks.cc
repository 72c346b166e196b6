#include "engine/waiting/background_tasks.h"

#include <utility>

namespace belljar::waiting {
namespace {

constexpr size_t kMaxTaskThreads = 16;

}  // namespace

core::Result<std::unique_ptr<BackgroundTasks>> BackgroundTasks::Start(std::string operation) {
  std::unique_ptr<BackgroundTasks> tasks(new BackgroundTasks);
  core::Thread thread;
  core::Result<void> started =
      thread.Start(std::move(operation), [tasks = tasks.get()] { tasks->Work(); });
  if (!started) return started.error();
  tasks->threads_.push_back(std::move(thread));
  return tasks;
}

BackgroundTasks::~BackgroundTasks() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  // No more tasks are accepted.
  for (core::Thread& thread : threads_) thread.Join();
}

// Requires mutex_. One thread per queued task: an idle one may already be taken for another. If
// none can be started, the existing threads do the work.
void BackgroundTasks::NeedThread() {
  if (idle_ >= tasks_.size() || threads_.size() >= kMaxTaskThreads || is_ending_) return;
  core::Thread thread;
  const core::Result<void> started = thread.Start("work in the background", [this] { Work(); });
  if (started) threads_.push_back(std::move(thread));
}

void BackgroundTasks::Add(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    NeedThread();
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
      ++idle_;
      if (timed_.empty()) {
        changed_.wait(lock);
      } else {
        const core::Deadline due = timed_.begin()->first;  // another thread may take that task
        changed_.wait_until(lock, due);
      }
      --idle_;
      continue;
    }
    {
      const std::function<void()> task = std::exchange(tasks_.front(), {});
      tasks_.pop_front();
      // Several became due at once.
      if (!tasks_.empty()) {
        NeedThread();
        changed_.notify_one();
      }
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

}  // namespace belljar::waiting
