// PatientSink: writes log entries to a descriptor. Only the log's thread waits for a slow reader,
// and it stops waiting when the log is closed.
//
// Writing does not change the descriptor's flags: O_NONBLOCK belongs to the open file description,
// which may be shared with a shell or a supervisor.
#ifndef BELLJAR_SERVER_OPERATIONS_LOG_SINK_H_
#define BELLJAR_SERVER_OPERATIONS_LOG_SINK_H_

#include <spdlog/sinks/sink.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/waiting/event.h"

namespace belljar::server::operations {

class PatientSink : public spdlog::sinks::sink {
 public:
  // `fd` is borrowed. Fails if no descriptor is available for waking the waiting thread. `overrun`
  // returns the number of entries dropped by the queue so far; `dropped_entry` formats the line
  // that reports dropped entries.
  static core::Result<std::shared_ptr<PatientSink>> Create(
      int fd, std::function<uint64_t()> overrun,
      std::function<std::string(uint64_t)> dropped_entry);

  // From now on waits at most `grace` in total for readers; entries not written by then are
  // dropped. Any thread.
  void Close(std::chrono::milliseconds grace);

  // Dropped by the queue or by this sink.
  uint64_t dropped() const { return overrun_() + unwritten_; }

  // spdlog interface; one thread at a time.
  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  PatientSink(int fd, waiting::Event closing, std::function<uint64_t()> overrun,
              std::function<std::string(uint64_t)> dropped_entry);

  bool Write(std::string_view line);
  bool WaitWritable();
  ssize_t WriteSome(std::string_view text);

  enum class Way { kPlain, kSocket, kOwnDescription, kPages };
  Way way_ = Way::kPlain;
  int fd_;
  core::UniqueFd own_;
  const waiting::Event closing_;
  std::atomic<int64_t> deadline_;  // of the steady clock, in its own ticks
  const std::function<uint64_t()> overrun_;
  const std::function<std::string(uint64_t)> dropped_entry_;
  std::atomic<uint64_t> unwritten_ = 0;
  uint64_t reported_ = 0;  // of dropped()
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_LOG_SINK_H_
