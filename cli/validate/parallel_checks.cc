#include "cli/validate/parallel_checks.h"

#include <algorithm>
#include <utility>

namespace belljar::cli::validate {
namespace {

constexpr size_t kReadAheadPerJob = 32;

}  // namespace

ParallelChecks::ParallelChecks(const std::vector<Target>& targets, const FileChecker& checker,
                               size_t jobs)
    : targets_(targets), checker_(checker), ahead_(jobs * kReadAheadPerJob) {
  while (threads_.size() < std::min(jobs, targets.size())) {
    core::Thread thread;
    if (!thread.Start("check files", [this] { Work(); })) break;
    threads_.push_back(std::move(thread));
  }
}

ParallelChecks::~ParallelChecks() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (core::Thread& thread : threads_) thread.Join();
}

void ParallelChecks::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(
        lock, [&] { return closing_ || begun_ == targets_.size() || begun_ < taken_ + ahead_; });
    if (closing_ || begun_ == targets_.size()) return;
    const size_t index = begun_++;
    lock.unlock();
    core::Result<Judgement> judgement = checker_.Check(targets_[index]);
    lock.lock();
    done_.emplace(index, std::move(judgement));
    changed_.notify_all();
  }
}

core::Result<Judgement> ParallelChecks::Next() {
  if (threads_.empty()) return checker_.Check(targets_[taken_++]);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_.contains(taken_); });
  auto taken = done_.extract(taken_++);
  changed_.notify_all();
  return std::move(taken.mapped());
}

}  // namespace belljar::cli::validate
