#include "server/tools/followed_command.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace belljar::server::tools {
namespace {

using commands::CommandState;

constexpr std::array kStreams = {commands::Stream::kOutput, commands::Stream::kErrors};
constexpr size_t kPiece = size_t{64} << 10;
constexpr int kNoSuchCommand = 127;  // as shells say

waiting::Wait NoWait() { return {.deadline = core::Clock::now()}; }

// What is over is moved away only once it is as much as what is kept.
void Append(host::Stream& stream, std::string_view bytes, size_t kept, bool is_last) {
  stream.text += bytes;
  const size_t slack = is_last ? 0 : kept;
  if (stream.text.size() <= kept + slack) return;
  const size_t over = stream.text.size() - kept;
  stream.text.erase(0, over);
  stream.dropped_bytes += over;
}

struct Followed {
  host::Stream kept;
  uint64_t end = 0;
  bool is_over = false;
};

// What one stream has now. False: nobody wants more.
core::Result<bool> Take(commands::Command& command, commands::Stream stream, Followed& followed,
                        size_t kept, const TakesPiece& on_piece) {
  const core::Result<commands::Piece> piece = command.Read(stream, followed.end, kPiece, NoWait());
  if (!piece) {
    return piece.error().error_number == ETIMEDOUT ? core::Result<bool>(true) : piece.error();
  }
  followed.kept.dropped_bytes += piece->begin - followed.end;
  followed.end = piece->end;
  followed.is_over = piece->is_end;
  Append(followed.kept, piece->bytes, kept, false);
  return piece->bytes.empty() || !on_piece || on_piece(stream, piece->bytes);
}

}  // namespace

core::Result<CommandOutput> Follow(commands::Command& command, core::Bytes kept,
                                   const TakesPiece& on_piece, int cancel_fd) {
  std::array<Followed, 2> followed;
  waiting::Wait wait{.cancel_fd = cancel_fd};
  bool is_wanted = true;
  while (!followed[0].is_over || !followed[1].is_over) {
    const core::Result<void> has_more = command.AwaitOutput(followed[0].end, followed[1].end, wait);
    const bool is_cancelled = !has_more && has_more.error().error_number == ECANCELED;
    if (!has_more && !is_cancelled) return has_more.error();
    if (is_cancelled) {
      command.Kill();
      is_wanted = false;
      wait.cancel_fd = -1;  // once
      continue;
    }
    for (size_t i = 0; i < followed.size(); ++i) {
      if (followed[i].is_over) continue;
      const core::Result<bool> taken =
          Take(command, kStreams[i], followed[i], kept.count, is_wanted ? on_piece : TakesPiece());
      if (!taken) return taken.error();
      if (*taken) continue;
      is_wanted = false;
      command.Kill();
    }
  }
  // It may have closed both.
  core::Result<commands::CommandStatus> ended = command.Await(wait);
  if (!ended && ended.error().error_number == ECANCELED) {
    command.Kill();
    ended = command.Await({});
  }
  if (!ended) return ended.error();
  // What it has left in the background must not wait for a reader.
  command.DropOutput();
  CommandOutput output;
  for (size_t i = 0; i < followed.size(); ++i) {
    Append(followed[i].kept, {}, kept.count, true);
    (i == 0 ? output.output : output.errors) = std::move(followed[i].kept);
  }
  return output;
}

CommandOutput KeptOf(commands::Command& command) {
  CommandOutput output;
  for (const commands::Stream stream : kStreams) {
    host::Stream& kept = stream == commands::Stream::kOutput ? output.output : output.errors;
    core::Result<commands::Piece> piece =
        command.Read(stream, 0, command.request().buffer.count, NoWait());
    if (!piece) continue;  // there is nothing
    kept.dropped_bytes = piece->begin;
    kept.text = std::move(piece->bytes);
  }
  return output;
}

host::Outcome OutcomeOf(const commands::CommandStatus& status, CommandOutput output) {
  host::Outcome outcome;
  outcome.stdout_stream = std::move(output.output);
  outcome.stderr_stream = std::move(output.errors);
  outcome.usage = {status.wall_time, status.cpu_time, status.max_rss_bytes};
  const auto stopped = [&](host::Status by, const char* type, const char* hint) {
    host::SetStopped(outcome, by, type, status.why, hint);
  };
  switch (status.state) {
    case CommandState::kExited: {
      const bool is_ok = status.exit_code == 0;
      outcome.status = is_ok ? host::Status::kOk : host::Status::kException;
      outcome.exit_code = status.exit_code;
      outcome.kill_signal = status.signal;
      if (is_ok) break;
      const std::string name = status.signal != 0 ? host::SignalName(status.signal) : "";
      outcome.error = {.type = name.empty() ? "ExitStatus" : name,
                       .message = name.empty()
                                      ? "exited with status " + std::to_string(status.exit_code)
                                      : "killed by a signal"};
      break;
    }
    case CommandState::kNotStarted:
      stopped(host::Status::kException, "NotStarted", "");
      outcome.exit_code = kNoSuchCommand;
      break;
    case CommandState::kTimeout:
      stopped(host::Status::kTimeout, "Timeout", "raise timeout, or run it in the background");
      break;
    case CommandState::kCpuLimit:
      stopped(host::Status::kCpuLimit, "CpuLimit", "raise timeout, or make it do less");
      break;
    case CommandState::kMemoryLimit:
      stopped(host::Status::kMemoryLimit, "MemoryLimit",
              "end other commands, or open a session with a larger memory_limit");
      break;
    case CommandState::kKilled:
      host::SetKilled(outcome, host::KillCause::kCancelled, status.why);
      break;
    case CommandState::kLost:
    case CommandState::kRunning:
      host::SetKilled(outcome, host::KillCause::kUnknown, status.why);
      break;
  }
  return outcome;
}

}  // namespace belljar::server::tools
