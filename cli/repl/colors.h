// Colours of the prompt, of tracebacks and of messages.
#ifndef BELLJAR_CLI_REPL_COLORS_H_
#define BELLJAR_CLI_REPL_COLORS_H_

#include <string>
#include <string_view>

namespace belljar::cli::repl {

enum class Color { kGreen, kRed, kMagenta, kCyan, kYellow, kBold };

// Whether a stream gets colours: a terminal that has them, whose user has not said otherwise
// (https://no-color.org). `choice` is "auto", "always" or "never".
bool UsesColors(std::string_view choice, int fd);

std::string Colored(std::string_view text, Color color);

// A traceback, findings and messages, line by line. Precondition: no escape sequences in it.
std::string ColoredReport(std::string_view text);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_COLORS_H_
