// Log: writes the server log to standard error, one entry per line.
//
//   Result<std::unique_ptr<Log>> opened = Log::Open(config.log);
//   Log& log = **opened;
//   log.ServerStarted({.version = "0.1.0", .listen = "http://127.0.0.1:9015/mcp", …});
//   log.Called(record);                                  // tools, through CallObserver
//   log.AuthenticationFailed("203.0.113.9", "no token"); // the HTTP transport
//   log.Write(LogLevel::kWarning, "reload", {{"file", path}});
//
//   {"time":"2026-11-21T09:23:09.123Z","level":"info","event":"execution.ended",…}
//   2026-11-21T09:23:09.123Z info execution.ended tool=execute_code …       (format "text")
//
// Executions and sessions have the names that they have as events (server/events/event.h).
//
// Logging never blocks: entries go to a bounded queue and are written by a dedicated thread. When
// the reader of standard error does not keep up, the oldest entries are dropped and a "log_dropped"
// entry reports the number.
//
// Entries are ASCII without control characters, whatever strings they contain: neither a line nor a
// terminal escape sequence can be forged. They contain no code (unless LogConfig.code), no output,
// no arguments and no secrets. All functions may be called from any thread.
#ifndef BELLJAR_SERVER_OPERATIONS_LOG_H_
#define BELLJAR_SERVER_OPERATIONS_LOG_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/calls/observer.h"
#include "server/core/config.h"

namespace belljar::server::operations {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// Describes the server, for the first entry.
struct StartRecord {
  std::string version;
  std::string python;
  std::string listen;  // "stdio", "http://127.0.0.1:9015/mcp"
  std::vector<std::string> profiles;
  std::string isolation;              // "strict", "standard"
  std::string policy;                 // "on", "off"
  std::vector<std::string> tokens;    // names
  std::vector<std::string> warnings;  // reduced protection, as text
  std::vector<std::string> missing;  // missing requirements without which every call fails, as text
};

class Log : public CallObserver {
 public:
  using Fields = nlohmann::ordered_json;  // an object

  // `fd` is borrowed and must outlive the log. JSON unless the format is "text". Unknown levels and
  // formats mean the default, since the configuration has been validated already. Fails if no
  // descriptor or thread is available.
  static core::Result<std::unique_ptr<Log>> Open(const LogConfig& config, int fd = 2);
  Log(const Log&) = delete;
  // Gives a slow reader one second.
  ~Log() override;

  bool Writes(LogLevel level) const { return level != LogLevel::kOff && level >= level_; }
  void Write(LogLevel level, std::string_view event, const Fields& fields = Fields::object());

  void ServerStarted(const StartRecord& record);
  void Called(const CallRecord& record) override;
  void SessionChanged(const SessionRecord& record) override;
  // Rate-limited; the next entry reports how many were suppressed. `reason` is a fixed
  // text of the transport, never client input.
  void AuthenticationFailed(std::string_view peer, std::string_view reason);
  void Overloaded(std::string_view caller, std::string_view reason, size_t running, size_t waiting);
  // The job store failed. Rate-limited.
  void JobsFailed(std::string_view reason);
  // The tokens were read again: their names, and of those the ones whose secret or rights are
  // others than before, and the names of those that are no more. Or why they stayed as they were.
  void TokensReloaded(const std::vector<std::string>& names,
                      const std::vector<std::string>& changed,
                      const std::vector<std::string>& removed);
  void ReloadFailed(std::string_view why);
  // An operator changed a setting while the server was running.
  void SettingChanged(std::string_view caller, std::string_view setting, std::string_view value);
  // Delivery to a webhook or the like failed; rate-limited, too. `lost`: there are no more
  // attempts.
  void DeliveryFailed(std::string_view receiver, std::string_view why, unsigned attempts,
                      bool lost);
  // `reason`: a signal, end of input, …; then the result.
  void Stopping(std::string_view reason, size_t running, size_t waiting);
  void Stopped(bool drained);

  // Number of dropped entries.
  uint64_t dropped() const;

 private:
  // Rate limiter: a small burst, then one per second.
  class Gate {
   public:
    // On success, `suppressed` is the number suppressed since the last success.
    bool Open(uint64_t& suppressed);
    uint64_t suppressed() const;

   private:
    mutable std::mutex mutex_;
    double tokens_ = 5;
    std::chrono::steady_clock::time_point refilled_ = std::chrono::steady_clock::now();
    uint64_t suppressed_ = 0;
  };
  struct Queue;

  explicit Log(const LogConfig& config);
  core::Result<void> StartWriting(int fd);

  std::string Entry(LogLevel level, std::string_view event, const Fields& fields) const;

  const LogLevel level_;
  const bool text_;
  const bool code_;
  Gate auth_gate_;
  Gate overload_gate_;
  Gate jobs_gate_;
  Gate delivery_gate_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_LOG_H_
