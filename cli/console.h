// How the command speaks: answers on standard output, everything about itself on standard error.
#ifndef BELLJAR_CLI_CONSOLE_H_
#define BELLJAR_CLI_CONSOLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::cli {

// Call it before anything opens a descriptor: with 0, 1 or 2 closed, the next one opened would get
// that number, and the guest's output would be written into a socket of ours.
void OpenMissingStandardStreams();

// All of `text`, to any kind of file, also one that somebody made non-blocking.
core::Result<void> WriteAll(int fd, std::string_view text);

// `text` to standard output; the exit code is `exit_code` if that worked, that of SIGPIPE when the
// reader has gone, and kExitFailure, with a message, on any other error.
int Answer(std::string_view text, int exit_code);
// The same decision for output that was already tried.
int ExitAfterOutput(const core::Result<void>& written, int exit_code);

// A message to standard error. That nobody may be listening there is no concern of ours.
void Say(std::string_view text);

// "belljar run: <message>" and where to read more. `command` is empty for belljar itself.
int UsageError(std::string_view command, std::string_view message);
// What is told by it: an error whose whole text is for the user.
core::Error UsersError(std::string message);
// "belljar: error: <operation>: <detail>".
int OwnFailure(const core::Error& error);

// "12,345".
std::string WithThousands(uint64_t number);

// Names after one another, separated by ", ", in lines of at most `width` columns.
std::string Wrapped(const std::vector<std::string>& names, size_t indent, size_t width = 100);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_CONSOLE_H_
