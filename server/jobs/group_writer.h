// GroupWriter: the one thread that writes to a database. Writes requested while it waits for the
// disk are combined in its next transaction, so that a hundred callers wait for one fdatasync
// rather than a hundred.
#ifndef BELLJAR_SERVER_JOBS_GROUP_WRITER_H_
#define BELLJAR_SERVER_JOBS_GROUP_WRITER_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "server/jobs/database.h"
#include "server/jobs/job_store.h"

namespace belljar::server::jobs {

// One caller's part of a transaction.
struct GroupedWrite {
  SqlLocks locks;
  // May be called again after it or the whole transaction failed, and must then start over.
  // `again`: an earlier transaction may have been committed although its connection was lost.
  std::function<core::Result<void>(Database& database, bool again)> run;
  // On the writer's thread, directly after the commit.
  std::function<void()> committed = [] {};
};

class GroupWriter {
 public:
  static core::Result<std::unique_ptr<GroupWriter>> Start(std::unique_ptr<Database> database,
                                                          StepHook step);
  // Writes what has been requested.
  ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;

  // Blocks until the write is on the disk or has failed. Any thread except the writer's.
  core::Result<void> Write(GroupedWrite write);

 private:
  GroupWriter(std::unique_ptr<Database> database, StepHook step)
      : database_(std::move(database)), step_(std::move(step)) {}

  static constexpr size_t kMaxGroupSize = 256;
  // When a group is written one by one: give up after this many consecutive lock timeouts.
  static constexpr size_t kMaxLockFailures = 2;
  struct Entry {
    GroupedWrite write;
    core::Result<void> result;
    bool done = false;
    std::condition_variable wake;  // of its caller
  };
  using Group = std::deque<Entry*>;

  void Work();
  void RunGroup(const Group& group);
  core::Result<void> Attempt(const Group& group, bool again, bool* committing);
  void Step(std::string_view step) const {
    if (step_) step_(step);
  }

  const std::unique_ptr<Database> database_;
  const StepHook step_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Group waiting_;
  bool closing_ = false;
  core::Thread thread_;
};

}  // namespace belljar::server::jobs

#endif  // BELLJAR_SERVER_JOBS_GROUP_WRITER_H_
