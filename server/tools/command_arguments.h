// The arguments of run_command about a command, as the engine wants them.
#ifndef BELLJAR_SERVER_TOOLS_COMMAND_ARGUMENTS_H_
#define BELLJAR_SERVER_TOOLS_COMMAND_ARGUMENTS_H_

#include <string>
#include <vector>

#include "engine/commands/command.h"
#include "engine/core/result.h"
#include "engine/host/request.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

// What is kept for its readers of each stream of a command in the background, and of one that its
// caller waits for, of which the answer has the end.
inline constexpr core::Bytes kMaxKeptOutput = core::Bytes::Kibi(256);
inline constexpr core::Bytes kMaxAnsweredOutput = core::Bytes::Mebi(1);

// Adds to `problems` what is wrong with them.
commands::CommandRequest TakeCommand(const Arguments& arguments, const EnabledProfile& profile,
                                     std::vector<std::string>& problems);

// "80x24".
core::Result<commands::TerminalSize> ReadTerminalSize(const std::string& text);

// "TERM", "SIGTERM" or "15".
core::Result<int> ReadSignal(const std::string& text);

// As it would be typed: what a line for Bash says, or words, quoted where they must be.
std::string LineOf(const std::vector<std::string>& arguments);

// For records of what has run.
host::Request RecordOf(const commands::CommandRequest& request, const core::Limits& limits);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_COMMAND_ARGUMENTS_H_
