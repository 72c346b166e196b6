// Console output: results on standard output, messages of the command itself on standard error.
#ifndef BELLJAR_CLI_CONSOLE_H_
#define BELLJAR_CLI_CONSOLE_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"

namespace belljar::cli {

// Call it before anything opens a descriptor: if 0, 1 or 2 is closed, the next opened descriptor
// would get that number, and the guest's output could be written to one of our sockets.
void OpenMissingStandardStreams();

// Writes all of `text` to any kind of file, even to a non-blocking one.
core::Result<void> WriteAll(int fd, std::string_view text);

// Writes `text` to standard output. Returns `exit_code` on success, the code for SIGPIPE if the
// reader is gone, and kExitFailure, with a message, on any other error.
int Answer(std::string_view text, int exit_code);
// The same for output that has already been written.
int ExitAfterOutput(const core::Result<void>& written, int exit_code);

// How JSON on standard output is indented: not at all unless it is a terminal.
int JsonIndent();
// One JSON value for standard output, safe to display there, with its line end.
std::string JsonText(const nlohmann::ordered_json& value);

// Writes a message to standard error; write errors are ignored.
void Say(std::string_view text);

// Likewise for tracebacks, findings and messages about a run; coloured if it is a terminal.
void PrintReport(std::string_view text);

// "belljar run: <message>" and a reference to --help. `command` is empty for belljar itself.
int UsageError(std::string_view command, std::string_view message);
// An error for UsageError: the whole text is addressed to the user.
core::Error UsersError(std::string message);
// "belljar: error: <operation>: <detail>".
int OwnFailure(const core::Error& error);

// "12,345".
std::string WithThousands(uint64_t number);

// Names separated by ", ", in lines of at most `width` columns.
std::string Wrapped(const std::vector<std::string>& names, size_t indent, size_t width = 100);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_CONSOLE_H_
