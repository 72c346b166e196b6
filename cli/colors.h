// Colours at a terminal: of the prompt, tracebacks, findings, messages and help.
#ifndef BELLJAR_CLI_COLORS_H_
#define BELLJAR_CLI_COLORS_H_

#include <string>
#include <string_view>

namespace belljar::cli {

enum class Color { kGreen, kRed, kMagenta, kCyan, kYellow, kBold };

// Whether a stream is coloured: it is a terminal that supports colours, and the user has not
// disabled them (https://no-color.org). `choice` is "auto", "always" or "never".
bool UsesColors(std::string_view choice, int fd);

std::string Colored(std::string_view text, Color color);

// Help: unindented lines that end with a colon are bold.
std::string WithBoldHeadings(std::string_view text);

// A traceback, findings and messages, line by line. Precondition: no escape sequences in it.
std::string ColoredReport(std::string_view text);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COLORS_H_
