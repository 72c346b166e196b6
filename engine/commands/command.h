// Command: one command of a session, from its start until nothing is left of it. Its output is kept
// until it is read, as far as there is room, and has addresses: bytes since the start of the
// stream.
//
//   Result<shared_ptr<Command>> tests = session.StartCommand({.arguments = {"pytest", "-q"}});
//   for (uint64_t from = 0;;) {
//     Result<Piece> piece = (*tests)->Read(Stream::kOutput, from, 65'536, wait);
//     if (!piece || piece->is_end) break;
//     from = piece->end;
//   }
//   CommandStatus status = (*tests)->status();
//
// Everything that it writes is a hostile guest's. All of it is thread-safe.
#ifndef BELLJAR_ENGINE_COMMANDS_COMMAND_H_
#define BELLJAR_ENGINE_COMMANDS_COMMAND_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commands/output_buffer.h"
#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/waiting/event.h"
#include "engine/waiting/taker_queue.h"
#include "engine/waiting/wait.h"

namespace belljar::commands {

struct TerminalSize {
  uint16_t columns = 80;
  uint16_t rows = 24;
};

class Command;

struct CommandRequest {
  std::vector<std::string> arguments;    // the first is looked for in PATH
  std::string directory;                 // absolute, or below the workspace
  std::vector<std::string> environment;  // "NAME=value", besides the language's
  // Output and errors are then one stream, as a terminal has them.
  std::optional<TerminalSize> terminal;
  // nullopt: what Write gives it, until CloseInput.
  std::optional<std::string> input = std::string();
  // Of wall time; 0: until the session ends. Of CPU time, with all that it starts; 0: as much as a
  // command may have.
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds cpu{0};
  // What is kept of each stream that nobody has read. Beyond that the oldest is dropped, or, if the
  // command waits for its reader, its writes block.
  core::Bytes buffer = core::Bytes::Mebi(1);
  bool waits_for_reader = false;
  // Called once it has ended, at the latest when the session does, by the thread that serves the
  // session: must not block for long. May be empty.
  std::function<void(Command&)> on_end = {};
};

enum class CommandState {
  kRunning,
  kExited,
  kNotStarted,   // there is no such program, or it cannot be executed
  kTimeout,      // killed: the wall time
  kCpuLimit,     // killed: the CPU time
  kMemoryLimit,  // killed: the memory of the session
  kKilled,       // by Kill
  kLost,         // the session has ended, or a program has killed what watches over the commands
};
std::string_view StateName(CommandState state);  // "running", "exited", "not_started", …

struct CommandStatus {
  CommandState state = CommandState::kRunning;
  int exit_code = -1;  // of kExited; 128 + number for a signal, as shells say
  int signal = 0;      // that ended it, or 0
  std::string why;     // a sentence, for all but kRunning and kExited
  std::chrono::system_clock::time_point started;
  std::chrono::microseconds wall_time{0};  // so far
  std::chrono::microseconds cpu_time{0};   // of all that has ended
  uint64_t max_rss_bytes = 0;
  bool has_processes = false;  // it has ended, but what it has started has not
  StreamExtent output, errors;
};

enum class Stream { kOutput, kErrors };

class Command {
 public:
  // `wake`: raised when there is something to do for who serves it. Shared: a caller may keep the
  // command longer than its session.
  Command(uint64_t number, CommandRequest request, std::shared_ptr<const waiting::Event> wake);

  uint64_t number() const { return number_; }
  const CommandRequest& request() const { return request_; }
  CommandStatus status() const;

  // What the stream has from this address on, at most `max` bytes: waits for more than nothing, or
  // for its end, which is also that of all that had been written when the command ended: what it
  // has left in the background may write more. Errors: as in Wait. With waits_for_reader, what is
  // before `from` is dropped.
  core::Result<Piece> Read(Stream stream, uint64_t from, size_t max, const waiting::Wait& wait);
  // Until one of the streams has more than that, or both have ended.
  core::Result<void> AwaitOutput(uint64_t output_from, uint64_t errors_from,
                                 const waiting::Wait& wait);
  // Nobody reads its output any more: what is kept of it is dropped, and what still comes.
  void DropOutput();

  // Writes to its standard input: all of it, unless the command ends or closes it before (EPIPE).
  // After another error, none of at most a mebibyte.
  core::Result<void> Write(std::string_view bytes, const waiting::Wait& wait);
  // With a terminal, as its user's Ctrl-D.
  core::Result<void> CloseInput();

  // To its process group. False: it has ended.
  core::Result<bool> Signal(int number);
  core::Result<void> Resize(TerminalSize size);
  // Ends it and all that it has started, also in the background after its own end.
  void Kill();

  // Until its own process has ended.
  core::Result<CommandStatus> Await(const waiting::Wait& wait);

 private:
  friend class CommandRunner;
  struct Input {
    core::UniqueFd to;
    std::string pending;
    size_t written = 0;   // of it
    bool closes = false;  // once all has been written
  };

  bool HasPendingInput() const { return input_.to && input_.written < input_.pending.size(); }
  // Nothing of it runs, and no more output comes. Requires mutex_.
  bool IsOver() const {
    return HasEnded() && !status_.has_processes && !sources_[0] && !sources_[1];
  }
  bool HasEnded() const { return status_.state != CommandState::kRunning; }  // requires mutex_
  void Changed() { waiters_.GiveAll({}); }                                   // requires mutex_
  void End(CommandState state, std::string why);                             // requires mutex_
  void FlushInput();                                                         // requires mutex_
  bool EndsAt(size_t stream, uint64_t address) const;                        // requires mutex_
  OutputBuffer& Of(Stream stream) { return streams_[static_cast<size_t>(stream)]; }

  struct Token {};

  const uint64_t number_;
  const CommandRequest request_;
  const std::shared_ptr<const waiting::Event> wake_;

  mutable std::mutex mutex_;
  CommandStatus status_;
  core::Deadline began_ = core::Clock::now();
  core::UniqueFd terminal_;  // its other end
  std::array<core::UniqueFd, 2> sources_;
  std::array<OutputBuffer, 2> streams_;
  std::array<uint64_t, 2> ends_{};  // of what had been written when the command ended
  Input input_;
  std::vector<int> signals_;  // to be sent
  bool is_to_end_ = false;
  // Of the runner.
  bool is_reported_ = false;  // on_end
  bool has_begun_ = false;
  pid_t supervisor_ = -1;                          // on this machine
  CommandState verdict_ = CommandState::kRunning;  // it has been killed for this
  std::string reason_;
  core::Deadline check_ = core::Deadline::max();  // its CPU time
  core::Deadline last_resort_ = core::Deadline::max();
  bool is_last_resort_ = false;
  std::array<core::Deadline, 2> rests_until_{};  // the streams are not looked at before
  waiting::TakerQueue<Token> waiters_;
};

}  // namespace belljar::commands

#endif  // BELLJAR_ENGINE_COMMANDS_COMMAND_H_
