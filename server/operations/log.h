// Log: what an operator wants to read later, on standard error; one entry a line.
//
//   Result<std::unique_ptr<Log>> opened = Log::Open(config.log);
//   Log& log = **opened;
//   log.Started({.version = "0.1.0", .listen = "http://127.0.0.1:9015/mcp", …});
//   log.Called(record);                                  // tools, through CallObserver
//   log.AuthenticationFailed("203.0.113.9", "no token"); // the HTTP transport
//   log.Write(LogLevel::kWarning, "reload", {{"file", path}});
//
//   {"time":"2026-11-21T09:23:09.123Z","level":"info","event":"execution","tool":"execute_code",…}
//   2026-11-21T09:23:09.123Z info execution tool=execute_code …            (format "text")
//
// Nobody waits for the log: entries go to a bounded queue and a thread of its own writes them. When
// the reader of standard error does not keep up the oldest are dropped, and an entry "log_dropped"
// says how many.
//
// Entries are ASCII without control characters, whatever strings they are made of: neither a line
// nor a terminal's escape sequence can be forged. They hold no code (unless LogConfig.code), no
// output, no arguments, no secrets. All functions may be called by any thread.
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
#include "server/core/config.h"
#include "server/core/observer.h"

namespace belljar::server::operations {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// What the server is, for the first entry.
struct StartRecord {
  std::string version;
  std::string python;
  std::string listen;  // "stdio", "http://127.0.0.1:9015/mcp"
  std::vector<std::string> profiles;
  std::string isolation;              // "strict", "standard"
  std::string language;               // "restricted", "full"
  std::vector<std::string> tokens;    // their names
  std::vector<std::string> warnings;  // what is weaker than it could be, in words
  std::vector<std::string> missing;   // what no call of this machine can run without, in words
};

class Log : public CallObserver {
 public:
  using Fields = nlohmann::ordered_json;  // an object

  // `fd` is borrowed and outlives the log. A level or format that is not known is the default: the
  // configuration has been checked before. An error: no descriptor or no thread is left for it.
  static core::Result<std::unique_ptr<Log>> Open(const LogConfig& config, int fd = 2);
  Log(const Log&) = delete;
  // Gives a slow reader one more second.
  ~Log() override;

  bool Writes(LogLevel level) const { return level != LogLevel::kOff && level >= level_; }
  void Write(LogLevel level, std::string_view event, const Fields& fields = Fields::object());

  void Started(const StartRecord& record);
  void Called(const CallRecord& record) override;
  // Both are written a few times a second at most; the entry after a pause says how many were left
  // out. `reason` is one of the transport's own, never what the client sent.
  void AuthenticationFailed(std::string_view peer, std::string_view reason);
  void Overloaded(std::string_view caller, std::string_view reason, size_t running, size_t waiting);
  // SIGTERM, end of input, …; then how it ended.
  void Stopping(std::string_view reason, size_t running, size_t waiting);
  void Stopped(bool drained);

  // Entries that nobody will read.
  uint64_t dropped() const;

 private:
  // Lets a few through at once, then one a second.
  class Gate {
   public:
    // Where it opens, `suppressed` is how many it has kept back since it last did.
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
  std::unique_ptr<Queue> queue_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_LOG_H_
