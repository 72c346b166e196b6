// AuditObserver: writes what happens in the server to its audit log.
//
//   AuditObserver observer(*log, config.audit);
//   observer.ServerStarted({{"listen", "stdio"}, …});
//   observer.Called(record);                        // tools, through CallObserver
//   observer.CallRefused("team-a", "overload", "full"); // the queue and the transports
//
// All functions may be called from any thread. The destructor writes the entry that the server has
// stopped.
#ifndef BELLJAR_SERVER_AUDIT_AUDIT_OBSERVER_H_
#define BELLJAR_SERVER_AUDIT_AUDIT_OBSERVER_H_

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/audit/audit_log.h"
#include "server/audit/entry.h"
#include "server/audit/receipt_store.h"
#include "server/calls/observer.h"
#include "server/core/config.h"

namespace belljar::server::audit {

class AuditObserver : public CallObserver {
 public:
  // `log` is borrowed.
  AuditObserver(AuditLog& log, const AuditConfig& config) : log_(log), config_(config) {}
  ~AuditObserver() override;

  void Called(const CallRecord& record) override;
  void Started(const ExecutionRecord& record) override;
  void Refused(const ExecutionRecord& record) override;
  void SessionChanged(const SessionRecord& record) override;

  // The server starts, with these settings. No secrets.
  void ServerStarted(std::vector<RecordedSetting> settings);
  // A setting that was changed while the server runs.
  void SettingChanged(std::string_view caller, RecordedSetting setting);
  // Before anything ran. Callers without a token could fill the disk, so at most a few entries per
  // second are written for each reason, with the number of similar ones.
  void CallRefused(std::string_view caller, std::string_view action, std::string_view reason);

  // Receipts of the latest executions.
  const ReceiptStore& receipts() const { return receipts_; }

 private:
  struct Gate {
    double tokens = 5;
    uint64_t suppressed = 0;
    std::chrono::steady_clock::time_point refilled = std::chrono::steady_clock::now();
  };

  AuditLog& log_;
  const AuditConfig config_;
  ReceiptStore receipts_;
  std::mutex mutex_;
  std::map<std::string, Gate, std::less<>> gates_;  // by action: words of our own, never a client's
};

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_AUDIT_OBSERVER_H_
