// The checkpoints of a session: created, dropped, rolled back to, branched from.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/core/thread.h"
#include "engine/sessions/branching_session.h"
#include "engine/sessions/branching_session_state.h"
#include "engine/workers/observe.h"

namespace belljar::sessions {
namespace {

constexpr char kFind[] = "find a checkpoint";
constexpr char kHold[] = "create a checkpoint";
constexpr size_t kMaxLabel = 200;  // bytes
constexpr size_t kMaxBranchesPerCall = 256;
constexpr size_t kRememberedDrops = 64;

}  // namespace

// Whether there is a checkpoint of the current state.
bool BranchingSession::IsHeld() const {
  const std::lock_guard lock(mutex_);
  return is_at_base_ && base_ && !base_->process.process.HasEnded();
}

// While it exists, no cell of a branch runs that shares files or the network: an order makes the
// process run, and an attacker in it could write to the branch's files.
std::unique_lock<std::recursive_mutex> BranchingSession::LockForOrder() {
  std::unique_lock<std::recursive_mutex> lock(shared_->resources, std::defer_lock);
  if (!shared_->has_resources()) return lock;
  lock.lock();
  if (shared_->files_of != this) shared_->files_of = nullptr;
  return lock;
}

// Makes sure that there is a checkpoint of the current state.
core::Result<void> BranchingSession::Hold() {
  if (IsHeld()) return {};
  if (!worker_ || worker_->process.HasEnded()) {
    return core::MakeError(kHold, "the session's process has died");
  }
  if (host_->threads > 1) {
    // A clone has only the thread that cloned it: the others, and what they hold, would be missing.
    const uint64_t threads = workers::ThreadsOf(worker_->status_fd.get());
    if (threads > 1) {
      return core::MakeError(kHold, threads == 2 ? "a thread of an earlier cell still runs"
                                                 : std::to_string(threads - 1) +
                                                       " threads of earlier cells still run");
    }
  }
  const auto order = LockForOrder();
  pages_.Learn(worker_->process.pid());
  core::Result<workers::Worker> copy = shared_->family->Copy(*worker_, pages_.hot());
  if (!copy) return copy.error();
  if (is_at_base_ && base_ && !base_->is_shared) {
    const std::lock_guard lock(mutex_);
    base_->process = std::move(*copy);
    base_->is_awake = false;
    return {};
  }
  auto held = std::make_shared<Held>();
  held->number = shared_->checkpoints++;
  held->id = "c" + std::to_string(held->number);
  held->made = std::chrono::system_clock::now();
  held->resident = workers::ResidentMemory(copy->process.pid());
  held->files = files_;
  held->process = std::move(*copy);
  held->parent = parent_;
  is_at_base_ = true;
  const std::lock_guard lock(mutex_);
  held->cell = cells_;
  base_ = held;
  held_.push_back(std::move(held));
  return {};
}

// An upper bound: memory that no worker shares with the zygote.
uint64_t BranchingSession::MaxMemory() const {
  uint64_t total = 0;
  const auto own = [&](uint64_t resident) {
    return resident - std::min(resident, shared_->first_resident) + (uint64_t{4} << 20);
  };
  if (worker_) total += own(workers::ResidentMemory(worker_->process.pid()));
  const std::lock_guard lock(mutex_);
  for (const auto& held : held_) total += own(held->resident);
  return total;
}

// Drops checkpoints beyond the session's limits: the oldest first, those without a label before
// others, never that of the current state. Returns those whose end nobody has to wait for.
std::vector<std::shared_ptr<BranchingSession::Held>> BranchingSession::DropSome() {
  const core::Bytes budget = options().total_memory.count > 0
                                 ? options().total_memory
                                 : core::Bytes{2 * options().limits.memory.count};
  std::vector<std::shared_ptr<Held>> dropped;
  const auto drop_oldest = [&](const std::string& why) {
    const std::lock_guard lock(mutex_);
    for (const bool labelled : {false, true}) {
      const auto oldest = std::ranges::find_if(held_, [&](const auto& held) {
        return held != base_ && held->label.empty() != labelled;
      });
      if (oldest == held_.end()) continue;
      dropped_.push_back({(*oldest)->id, std::chrono::system_clock::now(), why});
      if (dropped_.size() > kRememberedDrops) dropped_.pop_front();
      dropped.push_back(std::move(*oldest));
      held_.erase(oldest);
      return true;
    }
    return false;
  };
  const auto count = [&] {
    const std::lock_guard lock(mutex_);
    return held_.size();
  };
  const size_t max = std::max<size_t>(options().checkpoints, 1);
  while (count() > max && drop_oldest("there were more than " + std::to_string(max))) {
  }
  while (MaxMemory() > budget.count) {
    dropped.clear();  // so that their memory no longer counts
    uint64_t used = worker_ ? workers::ProportionalMemory(worker_->process.pid()) : 0;
    std::vector<pid_t> pids;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& held : held_) pids.push_back(held->process.process.pid());
    }
    for (const pid_t pid : pids) used += workers::ProportionalMemory(pid);
    if (used <= budget.count ||
        !drop_oldest("the session exceeded its memory of " + budget.ToString()))
      break;
  }
  return dropped;
}

core::Result<workers::Worker> BranchingSession::WakeCopy(Held& held, bool reseeds) {
  const auto order = LockForOrder();
  if (held.process.process.HasEnded()) return core::MakeError(kFind, held.id + " has died");
  core::Result<workers::Worker> copy = shared_->family->Copy(held.process);
  if (!copy) return copy;
  if (core::Result<void> awake = shared_->family->Wake(*copy, host_->layout, reseeds); !awake) {
    return awake.error();
  }
  if (core::Result<void> observed = host_->observe(*copy); !observed) return observed.error();
  return copy;
}

// All or none. The kernel clones a process for one caller at a time; waking a copy takes as long
// again, and happens concurrently.
core::Result<std::vector<workers::Worker>> BranchingSession::WakeCopies(Held& held, size_t count,
                                                                        bool reseeds) {
  std::mutex mutex;
  size_t begun = 0;
  std::vector<workers::Worker> workers;
  core::Result<void> done;
  const auto wake_some = [&] {
    std::unique_lock lock(mutex);
    while (done && begun < count) {
      ++begun;
      lock.unlock();
      core::Result<workers::Worker> worker = WakeCopy(held, reseeds);
      lock.lock();
      if (worker) {
        workers.push_back(std::move(*worker));
      } else {
        done = worker.error();
      }
    }
  };
  std::vector<core::Thread> threads;
  const size_t max = std::min<size_t>(count / 2, std::thread::hardware_concurrency());
  while (threads.size() + 1 < max) {
    core::Thread thread;
    if (!thread.Start("branch a session", wake_some)) break;
    threads.push_back(std::move(thread));
  }
  wake_some();
  for (core::Thread& thread : threads) thread.Join();
  if (!done) return done.error();
  return workers;
}

// Without a copy, its process is available at once; the next copy is created off the caller's path.
// If it fails because of this machine, the checkpoint is unchanged.
core::Result<workers::Worker> BranchingSession::WakeItself(Held& held) {
  const auto order = LockForOrder();
  if (held.process.process.HasEnded()) return core::MakeError(kFind, held.id + " has died");
  if (!held.is_awake) {
    core::Result<void> awake = shared_->family->Wake(held.process, host_->layout, false);
    if (!awake) return awake.error();
    held.is_awake = true;
  }
  if (core::Result<void> observed = host_->observe(held.process); !observed) {
    return observed.error();
  }
  held.is_awake = false;
  const std::lock_guard lock(mutex_);
  return std::exchange(held.process, {});
}

// Ending a process takes the kernel a while.
void BranchingSession::Discard(std::optional<workers::Worker> worker) {
  if (!worker) return;
  worker->process.Kill();
  host_->later(
      [spent = std::make_shared<workers::Worker>(std::move(*worker))]() mutable { spent.reset(); });
}

// The current state is lost.
core::Result<void> BranchingSession::ReturnTo(std::shared_ptr<Held> held) {
  if (is_at_base_ && held == base_ && worker_ && !worker_->process.HasEnded()) return {};
  core::Result<workers::Worker> awake =
      held->is_shared ? WakeCopy(*held, held.get() == reseeded_) : WakeItself(*held);
  if (!awake) return awake.error();
  std::optional<workers::Worker> left = std::exchange(worker_, std::move(*awake));
  const bool is_only_one = left && !left->process.HasEnded() && is_at_base_ && base_ &&
                           !base_->is_shared && base_->process.process.HasEnded();
  if (is_only_one) {
    // Nothing has run since the rollback to that state, and this is still its only process.
    const std::lock_guard lock(mutex_);
    base_->process = std::move(*left);
    base_->is_awake = true;
  } else {
    Discard(std::move(left));
  }
  pages_ = {};
  files_ = held->files;
  is_at_base_ = true;
  if (shared_->has_resources()) {
    const std::lock_guard resources(shared_->resources);
    if (shared_->files_of == this) shared_->files_of = nullptr;
  }
  parent_ = held->parent;
  const std::lock_guard lock(mutex_);
  // Used last, and so dropped last.
  if (const auto place = std::ranges::find(held_, held); place != held_.end()) {
    std::rotate(place, place + 1, held_.end());
  }
  base_ = std::move(held);
  return {};
}

// The checkpoints from which a session can continue, the best first: that of its state, those from
// which it derives, and then all others, the most recently created or used first.
std::vector<std::shared_ptr<BranchingSession::Held>> BranchingSession::Candidates() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Held>> all;
  const auto add = [&](const std::shared_ptr<Held>& held) {
    if (std::ranges::find(all, held) == all.end()) all.push_back(held);
  };
  std::string parent = parent_;
  if (base_) {
    add(base_);
    parent = base_->parent;
  }
  for (auto next = held_.begin(); next != held_.end();) {
    next = std::ranges::find_if(held_, [&](const auto& each) { return each->id == parent; });
    if (next == held_.end() || std::ranges::find(all, *next) != all.end()) break;
    add(*next);
    parent = (*next)->parent;
  }
  for (auto held = held_.rbegin(); held != held_.rend(); ++held) add(*held);
  return all;
}

// After the worker's death. Closes the session if no checkpoint is alive.
core::Result<void> BranchingSession::Restore(std::string& note) {
  Discard(std::exchange(worker_, std::nullopt));
  const bool was_at_base = is_at_base_;
  const std::shared_ptr<Held> base = base_;
  core::Result<void> done = core::MakeError(kFind, "there is none");
  bool lives = false;
  for (const std::shared_ptr<Held>& from : Candidates()) {
    if (from->process.process.HasEnded()) continue;
    done = ReturnTo(from);
    if (done) {
      if (from != base || !was_at_base) {
        note += (note.empty() ? "" : "; ") + std::string("the session goes on from checkpoint ") +
                from->id + ", after cell " + std::to_string(from->cell);
      }
      return done;
    }
    lives |= !from->process.process.HasEnded();
  }
  if (lives) return done;
  Close("it is lost, since all its processes have been killed");
  const std::lock_guard lock(mutex_);
  return ClosedError();
}

core::Result<std::shared_ptr<BranchingSession::Held>> BranchingSession::Find(
    std::string_view checkpoint) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(held_, [&](const auto& held) { return held->id == checkpoint; });
  if (found != held_.end()) return *found;
  uint64_t number = 0;
  const bool is_name =
      checkpoint.size() > 1 && checkpoint.size() < 20 && checkpoint[0] == 'c' &&
      std::from_chars(checkpoint.data() + 1, checkpoint.data() + checkpoint.size(), number).ptr ==
          checkpoint.data() + checkpoint.size();
  std::string known;
  for (const auto& held : held_) known += (known.empty() ? "" : ", ") + held->id;
  std::string why = "there is no " + core::Quoted(checkpoint) + " in this session";
  if (is_name && number < shared_->checkpoints) {
    const auto dropped = std::ranges::find(dropped_, checkpoint, &Dropped::id);
    why = std::string(checkpoint) + " is no longer held: " +
          (dropped == dropped_.end()
               ? "the oldest go first when there are too many or their memory is needed"
               : "it was dropped at " + core::UtcText(dropped->when) + ", when " + dropped->why +
                     " and it was the oldest");
  }
  return core::WithCause(core::Cause::kNoCheckpoint,
                         core::SystemErrorOf(ENOENT, kFind, why + "; held are " + known));
}

core::Result<std::string> BranchingSession::Checkpoint(std::string label, Patience patience) {
  if (label.size() > kMaxLabel) {
    return core::MakeError("label a checkpoint",
                           "a label has at most " + std::to_string(kMaxLabel) + " bytes");
  }
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::string note;
  if (core::Result<void> revived = Revive(note); !revived) return revived.error();
  if (core::Result<void> held = Hold(); !held) return held.error();
  const std::lock_guard lock(mutex_);
  if (!label.empty()) base_->label = std::move(label);
  return base_->id;
}

std::vector<CheckpointInfo> BranchingSession::Checkpoints() const {
  const std::lock_guard lock(mutex_);
  std::vector<CheckpointInfo> all;
  for (const auto& held : held_) {
    if (held != base_ && held->process.process.HasEnded()) continue;
    all.push_back({held->id, held->cell, held->label, held->parent, held->made, held == base_});
  }
  return all;
}

core::Result<void> BranchingSession::RollBack(std::string_view checkpoint, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  core::Result<std::shared_ptr<Held>> held = Find(checkpoint);
  if (!held) return held.error();
  core::Result<void> done = ReturnTo(std::move(*held));
  After(std::move(*turn), nullptr);
  return done;
}

core::Result<void> BranchingSession::Undo(size_t cells, Patience patience) {
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::shared_ptr<Held> held;
  {
    const std::lock_guard lock(mutex_);
    held = base_;
  }
  // A state without a checkpoint is a step of its own.
  for (size_t step = is_at_base_ ? 0 : 1; held && step < cells; ++step) {
    if (held->parent.empty()) {
      return core::WithCause(
          core::Cause::kNoSuchCells,
          core::MakeError("undo cells", "only " + std::to_string(step) + " have run"));
    }
    core::Result<std::shared_ptr<Held>> parent = Find(held->parent);
    if (!parent) return parent.error();
    held = std::move(*parent);
  }
  if (!held) {
    return core::WithCause(core::Cause::kNoSuchCells,
                           core::MakeError("undo cells", "there is no checkpoint"));
  }
  core::Result<void> done = ReturnTo(std::move(held));
  After(std::move(*turn), nullptr);
  return done;
}

core::Result<std::vector<std::shared_ptr<Session>>> BranchingSession::Branch(
    size_t count, const BranchOptions& options, Patience patience) {
  if (count == 0 || count > kMaxBranchesPerCall) {
    return core::MakeError("branch a session", "the number of branches is from 1 to " +
                                                   std::to_string(kMaxBranchesPerCall));
  }
  core::Result<Turn> turn = TakeTurn(patience);
  if (!turn) return turn.error();
  std::shared_ptr<Held> from;
  if (options.checkpoint.empty()) {
    std::string note;
    if (core::Result<void> revived = Revive(note); !revived) return revived.error();
    if (core::Result<void> held = Hold(); !held) return held.error();
    const std::lock_guard lock(mutex_);
    from = base_;
  } else {
    core::Result<std::shared_ptr<Held>> found = Find(options.checkpoint);
    if (!found) return found.error();
    from = std::move(*found);
  }
  from->is_shared = true;
  core::Result<std::vector<workers::Worker>> workers = WakeCopies(*from, count, options.reseeds);
  if (!workers) return workers.error();
  std::vector<std::shared_ptr<BranchingSession>> branches;
  for (workers::Worker& worker : *workers) {
    std::shared_ptr<BranchingSession> branch(new BranchingSession(host_, shared_, this->options()));
    branch->worker_.emplace(std::move(worker));
    branch->files_ = from->files;
    branch->is_at_base_ = true;
    branch->parent_ = from->parent;
    branch->base_ = from;
    if (options.reseeds) branch->reseeded_ = from.get();
    branch->held_.push_back(from);
    branch->cells_ = from->cell;
    branches.push_back(std::move(branch));
  }
  for (const auto& branch : branches) host_->opened(branch);
  return std::vector<std::shared_ptr<Session>>(branches.begin(), branches.end());
}

}  // namespace belljar::sessions
