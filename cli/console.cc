#include "cli/console.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/colors.h"
#include "cli/exit_code.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::cli {

void OpenMissingStandardStreams() {
  for (;;) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd < 0) _exit(kExitFailure);  // and there is nowhere to report it
    if (fd > STDERR_FILENO) {
      close(fd);
      return;
    }
  }
}

core::Result<void> WriteAll(int fd, std::string_view text) {
  if (core::WriteBytes(fd, text)) return {};
  return core::SystemError(fd == STDERR_FILENO ? "write to standard error"
                                               : "write to standard output");
}

int Answer(std::string_view text, int exit_code) {
  return ExitAfterOutput(WriteAll(STDOUT_FILENO, text), exit_code);
}

int ExitAfterOutput(const core::Result<void>& written, int exit_code) {
  if (written) return exit_code;
  if (written.error().error_number == EPIPE) return ExitOfSignal(SIGPIPE);
  return OwnFailure(written.error());
}

int JsonIndent() { return isatty(STDOUT_FILENO) ? 2 : -1; }

std::string JsonText(const nlohmann::ordered_json& value) {
  using Handler = nlohmann::ordered_json::error_handler_t;
  return core::SafeJson(value.dump(JsonIndent(), ' ', false, Handler::replace)) + "\n";
}

void Say(std::string_view text) { (void)WriteAll(STDERR_FILENO, text); }

void PrintReport(std::string_view text) {
  Say(UsesColors("auto", STDERR_FILENO) ? ColoredReport(text) : std::string(text));
}

core::Error UsersError(std::string message) { return core::MakeError(std::move(message), ""); }

int UsageError(std::string_view command, std::string_view message) {
  const std::string program = command.empty() ? "belljar" : "belljar " + std::string(command);
  PrintReport(program + ": " + std::string(message) + "\nTry \"" + program + " --help\".\n");
  return kExitUsage;
}

int OwnFailure(const core::Error& error) {
  PrintReport("belljar: error: " + error.ToString() + "\n");
  return kExitFailure;
}

std::string WithThousands(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string Wrapped(const std::vector<std::string>& names, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  std::string text;
  size_t column = width;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string word = names[i] + (i + 1 < names.size() ? "," : "");
    if (column + 1 + word.size() > width) {
      text += (text.empty() ? "" : "\n") + margin;
      column = indent;
    } else {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

}  // namespace belljar::cli
