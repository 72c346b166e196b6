// PatientSink: the log's end of a descriptor. Its thread waits for a reader that is slow, the rest
// of the server does not; and when the log is closed it stops waiting.
//
// Writing does not change the descriptor's flags: O_NONBLOCK belongs to the open file description,
// which a shell or a supervisor shares with us.
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
#include "engine/outside/event.h"

namespace belljar::server::operations {

class PatientSink : public spdlog::sinks::sink {
 public:
  // `fd` is borrowed. An error: there is no descriptor to tell a waiting thread of the end by.
  // `overrun` says how many entries the queue has dropped so far; `dropped_entry`
  // makes the line that tells of so many.
  static core::Result<std::shared_ptr<PatientSink>> Create(
      int fd, std::function<uint64_t()> overrun,
      std::function<std::string(uint64_t)> dropped_entry);

  // From here on at most `grace` is waited for readers, in all; what they have not taken by then is
  // dropped. Any thread.
  void Close(std::chrono::milliseconds grace);

  // Dropped by the queue or by this.
  uint64_t dropped() const { return overrun_() + unwritten_; }

  // spdlog's; one thread at a time.
  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  PatientSink(int fd, outside::Event closing, std::function<uint64_t()> overrun,
              std::function<std::string(uint64_t)> dropped_entry);

  bool Write(std::string_view line);
  bool WaitWritable();
  ssize_t WriteSome(std::string_view text);

  enum class Way { kPlain, kSocket, kOwnDescription, kPages };
  Way way_ = Way::kPlain;
  int fd_;
  core::UniqueFd own_;
  const outside::Event closing_;
  std::atomic<int64_t> deadline_;  // of the steady clock, in its own ticks
  const std::function<uint64_t()> overrun_;
  const std::function<std::string(uint64_t)> dropped_entry_;
  std::atomic<uint64_t> unwritten_ = 0;
  uint64_t reported_ = 0;  // of dropped()
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_LOG_SINK_H_
