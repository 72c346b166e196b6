// A command whose caller waits for its end: its output as it comes, and what became of it, as an
// outcome.
#ifndef BELLJAR_SERVER_TOOLS_FOLLOWED_COMMAND_H_
#define BELLJAR_SERVER_TOOLS_FOLLOWED_COMMAND_H_

#include <functional>
#include <string_view>

#include "engine/commands/command.h"
#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::server::tools {

struct CommandOutput {
  host::Stream output;  // the end of each stream
  host::Stream errors;
};

// False: nobody wants more of it.
using TakesPiece = std::function<bool(commands::Stream stream, std::string_view bytes)>;

// Until it has ended. If it is cancelled, or `on_piece` says so, the command is killed. At most
// `kept` of each stream is in the result; `on_piece`, which may be empty, gets all of it. Errors
// are those of this machine.
core::Result<CommandOutput> Follow(commands::Command& command, core::Bytes kept,
                                   const TakesPiece& on_piece, int cancel_fd);

// What has been kept of one that has ended.
CommandOutput KeptOf(commands::Command& command);

// Without what only its caller knows: isolation, limits, session.
host::Outcome OutcomeOf(const commands::CommandStatus& status, CommandOutput output);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_FOLLOWED_COMMAND_H_
