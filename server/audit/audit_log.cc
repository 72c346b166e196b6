#include "server/audit/audit_log.h"

#include <algorithm>

#include "engine/core/text.h"
#include "server/audit/entry.h"

namespace belljar::server::audit {
namespace {

constexpr size_t kMaxQueue = 8192;  // entries
constexpr size_t kMaxQueuedBytes = size_t{64} << 20;
// Limit for the members of one entry: what the chain adds must fit into kMaxLine, too.
constexpr size_t kMaxMembers = kMaxLine - 1024;
// Time to gather further entries, so that a busy server does not wake the thread for each.
constexpr std::chrono::milliseconds kGather{5};
constexpr std::chrono::milliseconds kRetry{200};
constexpr std::chrono::seconds kGrace{2};
constexpr std::chrono::minutes kRetention{10};

std::string TooLong(size_t bytes) {
  Entry entry;
  entry.kind = Kind::kLost;
  entry.count = 1;
  entry.detail = "an entry of " + std::to_string(bytes) + " bytes was too long";
  return MembersOf(entry);
}

}  // namespace

core::Result<std::unique_ptr<AuditLog>> AuditLog::Open(const AuditConfig& config,
                                                       std::function<void(const Notice&)> notify) {
  core::Result<std::unique_ptr<SegmentWriter>> writer = SegmentWriter::Open(config);
  if (!writer) return writer.error();
  std::unique_ptr<AuditLog> log(new AuditLog(config, std::move(notify), std::move(*writer)));
  if (const std::optional<Digest>& unclosed = log->writer_->unclosed()) {
    log->notify_({true,
                  "audit_unclosed",
                  {{"segment", std::to_string(log->writer_->number() - 1)},
                   {"found_bytes", std::to_string(unclosed->bytes)},
                   {"why",
                    "the previous server ended before it could sign its log; run belljar "
                    "audit verify to check the rest"}}});
  }
  core::Result<void> started =
      log->thread_.Start("open the audit log", [own = log.get()] { own->Work(); });
  if (!started) return started.error();
  return log;
}

AuditLog::AuditLog(const AuditConfig& config, std::function<void(const Notice&)> notify,
                   std::unique_ptr<SegmentWriter> writer)
    : config_(config), notify_(std::move(notify)), writer_(std::move(writer)) {}

void AuditLog::Add(std::string members) {
  if (members.size() > kMaxMembers) members = TooLong(members.size());
  const std::lock_guard lock(mutex_);
  const bool is_full = queue_.size() + in_work_ >= kMaxQueue || queued_bytes_ >= kMaxQueuedBytes;
  if (closing_ || (is_full && config_.on_failure == "continue")) {
    ++lost_;
    ++lost_unreported_;
    return;
  }
  // Otherwise: no call starts while the queue is full (WhyRefused), but running calls may end.
  queued_bytes_ += members.size();
  queue_.push_back(std::move(members));
  ++added_;
  if (queue_.size() == 1) wake_.notify_one();
}

std::optional<std::string> AuditLog::WhyRefused() const {
  const std::lock_guard lock(mutex_);
  if (config_.on_failure == "continue") return std::nullopt;
  if (failing_) return failing_;
  if (queue_.size() + in_work_ < kMaxQueue && queued_bytes_ < kMaxQueuedBytes) return std::nullopt;
  return "more entries are waiting than can be written in time";
}

bool AuditLog::Flush(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const uint64_t all = added_;
  is_flushing_ = true;
  wake_.notify_one();
  const bool must = config_.on_failure != "continue";
  done_.wait_for(lock, patience, [&] { return durable_ >= all || failing_ || closing_; });
  return durable_ >= all || !must;
}

void AuditLog::Close() {
  if (!thread_) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = Clock::now() + kGrace;
  }
  wake_.notify_one();
  thread_.Join();
  const Figures now = figures();
  if (now.lost > 0) {
    notify_({true, "audit_lost", {{"entries", std::to_string(now.lost)}}});
  }
}

AuditLog::Figures AuditLog::figures() const {
  const std::lock_guard lock(mutex_);
  return {written_, failures_, lost_, queue_.size() + in_work_, failing_.has_value()};
}

AuditLog::Clock::time_point AuditLog::NextWork() const {
  Clock::time_point next = std::min(writer_->old_at(), Clock::now() + kRetention);
  if (unsynced_since_) next = std::min(next, *unsynced_since_ + config_.sync_interval);
  return next;
}

void AuditLog::Work() {
  Maintain();
  std::unique_lock lock(mutex_);
  for (bool is_last = false; !is_last;) {
    wake_.wait_until(lock, NextWork(), [this] { return !queue_.empty() || closing_; });
    if (!flushes_calls() && !queue_.empty()) {
      wake_.wait_for(lock, kGather, [this] { return closing_ || is_flushing_; });
    }
    is_last = closing_.has_value();
    is_flushing_ = false;
    std::vector<std::string> batch;
    batch.swap(queue_);
    queued_bytes_ = 0;
    in_work_ = batch.size();
    const uint64_t all = added_;
    lock.unlock();

    WriteBatch(batch);
    if (!is_last) Maintain();

    lock.lock();
    in_work_ = 0;
    if (gave_up_) {
      lost_ += batch.size();
    } else {
      written_ += batch.size();
      if (!unsynced_since_) durable_ = all;
    }
    done_.notify_all();
  }
  lock.unlock();
  if (gave_up_ || !RetryUntilDone([this] { return writer_->End(); })) return;
  ReportClosed();
}

void AuditLog::WriteBatch(const std::vector<std::string>& batch) {
  const bool adds = AddsLost();
  if (batch.empty() && !adds) return;
  for (const std::string& members : batch) {
    if (writer_->IsFull()) NextSegment();
    if (gave_up_) return;
    writer_->Append(members);
  }
  if (!RetryUntilDone([this] { return writer_->Write(); })) return;
  if (!unsynced_since_) unsynced_since_ = Clock::now();
  if (flushes_calls() && RetryUntilDone([this] { return writer_->Sync(); }))
    unsynced_since_.reset();
}

// The entry that reports lost entries, once there is room again.
bool AuditLog::AddsLost() {
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    if (failing_ || closing_ || lost_unreported_ == 0) return false;
    entry.count = std::exchange(lost_unreported_, 0);
  }
  entry.kind = Kind::kLost;
  entry.detail = "the queue was full";
  writer_->Append(MembersOf(entry));
  return true;
}

// Does what is due.
void AuditLog::Maintain() {
  if (gave_up_) return;
  if (writer_->IsOld()) NextSegment();
  if (gave_up_) return;
  if (unsynced_since_ && Clock::now() >= *unsynced_since_ + config_.sync_interval &&
      RetryUntilDone([this] { return writer_->Sync(); })) {
    unsynced_since_.reset();
  }
  if (Clock::now() < next_retention_) return;
  next_retention_ = Clock::now() + kRetention;
  const core::Result<size_t> removed = writer_->Retain();
  if (!removed) {
    notify_({true, "audit_retention_failed", {{"why", removed.error().ToString()}}});
  } else if (*removed > 0) {
    notify_({false, "audit_removed", {{"segments", std::to_string(*removed)}}});
  }
}

void AuditLog::NextSegment() {
  if (!RetryUntilDone([this] { return writer_->End(); })) return;
  unsynced_since_.reset();
  ReportClosed();
  next_retention_ = Clock::now();
  (void)RetryUntilDone([this] { return writer_->Begin(); });
}

// If kept elsewhere, the head in the server's log can show that the end of this log was removed.
void AuditLog::ReportClosed() {
  notify_({false,
           "audit_segment_closed",
           {{"segment", std::to_string(writer_->number())}, {"head", writer_->head()}}});
}

bool AuditLog::RetryUntilDone(const std::function<core::Result<void>()>& step) {
  for (;;) {
    const core::Result<void> done = step();
    std::unique_lock lock(mutex_);
    if (done) {
      const bool recovers = failing_.has_value();
      failing_.reset();
      lock.unlock();
      if (recovers) notify_({false, "audit_recovered", {}});
      return true;
    }
    ++failures_;
    const bool is_new = !failing_;
    failing_ = done.error().ToString();
    done_.notify_all();
    if (closing_ && Clock::now() >= *closing_) {
      gave_up_ = true;
      return false;
    }
    if (is_new) {
      lock.unlock();
      notify_(
          {true,
           "audit_failing",
           {{"why", done.error().ToString()},
            {"calls", config_.on_failure == "continue" ? "go on without it"
                                                       : "are refused until it can be written"}}});
      lock.lock();
    }
    // Close shortens the wait between attempts, but does not stop them.
    wake_.wait_for(lock, kRetry, [&] { return closing_ && Clock::now() >= *closing_; });
  }
}

}  // namespace belljar::server::audit
