// AuditLog: an append-only log of JSON lines, chained by SHA-256, in segments whose ends are signed
// (chain.h, log_folder.h; docs/audit.md).
//
//   Result<std::unique_ptr<AuditLog>> log = AuditLog::Open(config.audit, notify);
//   if (auto why = (*log)->WhyRefused()) return Refuse(*why);     // before a call
//   (*log)->Add(MembersOf(entry));                                 // after it
//
// Add puts the entry into a queue; the log's thread writes it. If that fails, the entry is kept and
// retried, and calls are refused until it is written (on_failure "refuse"); or calls continue, and
// entries that do not fit in the queue are lost and counted ("continue").
#ifndef BELLJAR_SERVER_AUDIT_AUDIT_LOG_H_
#define BELLJAR_SERVER_AUDIT_AUDIT_LOG_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "server/audit/segment_writer.h"
#include "server/core/config.h"

namespace belljar::server::audit {

// Something about the log itself that the operator should know.
struct Notice {
  bool is_fault = false;
  std::string_view event;  // "audit_failing", "audit_segment_closed", …
  std::vector<std::pair<std::string_view, std::string>> facts;
};

class AuditLog {
 public:
  struct Figures {
    uint64_t entries = 0;   // written
    uint64_t failures = 0;  // writes that failed
    uint64_t lost = 0;      // entries that were never written
    size_t waiting = 0;     // entries
    bool is_failing = false;
  };

  // `config` is valid and has a folder. `notify` is called by the log's thread, and by Open and
  // Close.
  static core::Result<std::unique_ptr<AuditLog>> Open(const AuditConfig& config,
                                                      std::function<void(const Notice&)> notify);
  AuditLog(const AuditLog&) = delete;
  ~AuditLog() { Close(); }

  // Any thread; blocks for a moment only. After Close, entries are lost.
  void Add(std::string members);
  // Why no call may start now; nullopt: calls may start. Any thread.
  std::optional<std::string> WhyRefused() const;
  // With sync "always": blocks until all entries so far are on the disk. Returns false if writing
  // fails or takes longer than `patience`. Any thread.
  bool Flush(std::chrono::milliseconds patience);
  bool flushes_calls() const { return config_.sync == "always"; }

  // Flushes the queue, retrying for 2 s, and signs the segment.
  void Close();

  const SigningKey& key() const { return writer_->key(); }
  Figures figures() const;

 private:
  using Clock = std::chrono::steady_clock;

  AuditLog(const AuditConfig& config, std::function<void(const Notice&)> notify,
           std::unique_ptr<SegmentWriter> writer);

  void Work();
  Clock::time_point NextWork() const;
  void WriteBatch(const std::vector<std::string>& batch);
  void Maintain();
  void NextSegment();
  void ReportClosed();
  // Retries until it succeeds. Returns false if the log is being closed and has waited long enough.
  bool RetryUntilDone(const std::function<core::Result<void>()>& step);
  bool AddsLost();

  const AuditConfig config_;
  const std::function<void(const Notice&)> notify_;
  const std::unique_ptr<SegmentWriter> writer_;  // used by the thread only

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::string> queue_;
  size_t queued_bytes_ = 0;
  size_t in_work_ = 0;  // taken from the queue, but not written yet
  uint64_t added_ = 0;
  uint64_t durable_ = 0;
  uint64_t written_ = 0;
  uint64_t lost_ = 0;
  uint64_t lost_unreported_ = 0;
  uint64_t failures_ = 0;
  bool is_flushing_ = false;
  std::optional<std::string> failing_;  // the reason
  std::optional<Clock::time_point> closing_;

  // Used by the thread only.
  std::optional<Clock::time_point> unsynced_since_;
  Clock::time_point next_retention_;
  bool gave_up_ = false;

  core::Thread thread_;
};

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_AUDIT_LOG_H_
