#include "server/jobs/group_writer.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace belljar::server::jobs {
namespace {

bool IsUnreachable(const core::Result<void>& result) {
  return !result.ok() && result.error().error_number == ENOTCONN;
}

bool IsLocked(const core::Result<void>& result) {
  return !result.ok() && result.error().error_number == EBUSY;
}

// The connection was lost during the commit.
core::Error InDoubt(core::Error error) {
  error.detail += "; it is unknown whether the last write was carried out";
  return error;
}

}  // namespace

core::Result<std::unique_ptr<GroupWriter>> GroupWriter::Start(std::unique_ptr<Database> database,
                                                              StepHook step) {
  std::unique_ptr<GroupWriter> writer(new GroupWriter(std::move(database), std::move(step)));
  core::Result<void> started =
      writer->thread_.Start("write to the database of jobs", [own = writer.get()] { own->Work(); });
  if (!started) return started.error();
  return writer;
}

GroupWriter::~GroupWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  thread_.Join();
}

core::Result<void> GroupWriter::Write(GroupedWrite write) {
  Entry entry;
  entry.write = std::move(write);
  std::unique_lock lock(mutex_);
  waiting_.push_back(&entry);
  wake_.notify_one();
  entry.wake.wait(lock, [&] { return entry.done; });
  return entry.result;
}

void GroupWriter::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Group group;
    while (!waiting_.empty() && group.size() < kMaxGroupSize) {
      group.push_back(waiting_.front());
      waiting_.pop_front();
    }
    lock.unlock();
    RunGroup(group);
    lock.lock();
    for (Entry* const entry : group) {
      entry->done = true;
      entry->wake.notify_one();  // with the lock held: the entry is gone after that
    }
  }
}

// A group that fails as a whole is retried one by one: a single write that is too large for the
// disk, or deadlocked with another server, must not fail its neighbours.
void GroupWriter::RunGroup(const Group& group) {
  bool committing = false;
  const core::Result<void> together = Attempt(group, false, &committing);
  if (together.ok()) return;
  bool unreachable = IsUnreachable(together);
  const bool again = committing && unreachable;
  if (group.size() == 1 && !unreachable) {
    group.front()->result = together;
    return;
  }
  size_t locked = 0;
  for (size_t i = 0; i < group.size(); ++i) {
    const auto fail_rest = [&](const core::Error& error) {
      for (; i < group.size(); ++i) group[i]->result = error;
    };
    // Each would wait as long as those before it.
    if (locked == kMaxLockFailures) return fail_rest(group[i - 1]->result.error());
    if (unreachable) {
      if (const core::Result<void> connected = database_->Reconnect(); !connected) {
        return fail_rest(again ? InDoubt(connected.error()) : connected.error());
      }
    }
    bool alone = false;
    core::Result<void> result = Attempt({group[i]}, again, &alone);
    unreachable = IsUnreachable(result);
    locked = IsLocked(result) ? locked + 1 : 0;
    group[i]->result = alone && unreachable ? InDoubt(result.error()) : result;
  }
}

core::Result<void> GroupWriter::Attempt(const Group& group, bool again, bool* committing) {
  SqlLocks locks;
  for (const Entry* const entry : group) {
    locks.submits |= entry->write.locks.submits;
    locks.all_owners |= entry->write.locks.all_owners;
    const std::vector<std::string>& owners = entry->write.locks.owners;
    locks.owners.insert(locks.owners.end(), owners.begin(), owners.end());
  }
  std::sort(locks.owners.begin(), locks.owners.end());
  locks.owners.erase(std::unique(locks.owners.begin(), locks.owners.end()), locks.owners.end());
  if (core::Result<void> begun = database_->Begin(locks); !begun) {
    database_->Rollback();
    return begun;
  }
  Step("begun");
  for (Entry* const entry : group) {
    if (core::Result<void> written = entry->write.run(*database_, again); !written) {
      database_->Rollback();
      return written;
    }
  }
  Step("written");
  *committing = true;
  if (core::Result<void> committed = database_->Commit(); !committed) {
    database_->Rollback();
    return committed;
  }
  *committing = false;
  Step("committed");
  for (Entry* const entry : group) entry->write.committed();
  return {};
}

}  // namespace belljar::server::jobs
