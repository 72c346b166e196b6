// CommandRunner: the worker of a session that runs commands, and the thread that serves them: moves
// their input and output, and enforces their limits. Ends the worker, and with it all of them, when
// it is destroyed.
#ifndef BELLJAR_ENGINE_COMMANDS_COMMAND_RUNNER_H_
#define BELLJAR_ENGINE_COMMANDS_COMMAND_RUNNER_H_

#include <poll.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/commands/command.h"
#include "engine/core/command_messages.h"
#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"
#include "engine/waiting/event.h"
#include "engine/workers/worker.h"

namespace belljar::commands {

struct CommandTerms {
  core::Limits limits;                   // of the session
  core::Limits most;                     // that a command may ask for
  std::vector<std::string> environment;  // of every command: "NAME=value"
  std::function<void(workers::Worker)> retire;
};

// How many commands of a session are remembered after their end, and may run at once.
inline constexpr size_t kMaxRemembered = 256;
inline constexpr size_t kMaxRunning = 64;

class CommandRunner {
 public:
  // `worker` is waiting for its request.
  static core::Result<std::unique_ptr<CommandRunner>> Begin(workers::Worker worker,
                                                            CommandTerms terms);
  ~CommandRunner();

  // Returns once it has been executed, or could not be (kNotStarted). Errors: of the request, or
  // of the session, which has ended.
  core::Result<std::shared_ptr<Command>> Start(CommandRequest request, const waiting::Wait& wait);
  std::vector<std::shared_ptr<Command>> commands() const;
  std::shared_ptr<Command> Find(uint64_t number) const;  // null: there is none

  bool HasEnded() const { return worker_.process.HasEnded(); }
  int workspace() const { return worker_.resources.workspace.get(); }
  pid_t pid() const { return worker_.process.pid(); }

 private:
  CommandRunner(workers::Worker worker, CommandTerms terms,
                std::shared_ptr<const waiting::Event> wake);

  core::Result<void> BeginSession();
  core::Result<void> Send(const core::CommandOrder& order, std::string_view bytes = {},
                          std::span<const int> descriptors = {});
  core::Result<core::Descriptors> Connect(Command& command);
  static bool IsOver(const std::shared_ptr<Command>& command);
  void Remember(const std::shared_ptr<Command>& command);

  void Serve();
  void Watch(const std::vector<std::shared_ptr<Command>>& commands);
  void Move(Command& command, const pollfd* polled);
  void CarryOut(Command& command);
  core::Deadline Check(Command& command, core::Deadline now);
  void CheckMemory(const std::vector<std::shared_ptr<Command>>& commands, core::Deadline now);
  void Condemn(Command& command, CommandState state, std::string reason);
  bool ReceiveEvents();
  void Take(const core::CommandEvent& event);
  void Drain(Command& command);
  void EndAll(const std::string& why);
  static void ReportEnds(const std::vector<std::shared_ptr<Command>>& commands);

  const CommandTerms terms_;
  workers::Worker worker_;
  const std::shared_ptr<const waiting::Event> wake_;
  core::Thread thread_;

  std::mutex sending_;
  mutable std::mutex mutex_;
  bool is_ending_ = false;
  uint64_t last_ = 0;
  std::vector<std::shared_ptr<Command>> commands_;  // by number

  // Of the thread.
  std::string received_;  // part of an event
  core::Deadline memory_check_ = core::Deadline::max();
  std::chrono::milliseconds memory_interval_{0};
  std::chrono::microseconds cpu_seen_{0};
};

}  // namespace belljar::commands

#endif  // BELLJAR_ENGINE_COMMANDS_COMMAND_RUNNER_H_
