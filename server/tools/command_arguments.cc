#include "server/tools/command_arguments.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "server/tools/call_limits.h"

namespace belljar::server::tools {
namespace {

constexpr std::string_view kBash = "/bin/bash", kLine = "-c";

std::vector<std::string> WordsOf(const nlohmann::json& command) {
  if (!command.is_string()) return command.get<std::vector<std::string>>();
  return {std::string(kBash), std::string(kLine), command.get<std::string>()};
}

std::string QuotedForShell(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:=,@%+").find(c) != std::string_view::npos;
  });
  if (is_plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

core::Result<commands::TerminalSize> ReadTerminalSize(const std::string& text) {
  const std::string_view whole = text;
  const size_t times = std::min(whole.find('x'), whole.size());
  const uint16_t columns = host::NumberFrom<uint16_t>(whole.substr(0, times)).value_or(0);
  const uint16_t rows =
      host::NumberFrom<uint16_t>(whole.substr(std::min(times + 1, whole.size()))).value_or(0);
  if (columns > 0 && rows > 0) return commands::TerminalSize{columns, rows};
  return core::MakeError("terminal is " + core::Quoted(text) +
                             "; it is columns and rows, each from 1 to 65535: \"80x24\"",
                         "");
}

core::Result<int> ReadSignal(const std::string& text) {
  const std::string_view name =
      std::string_view(text).substr(text.starts_with("SIG") ? std::string_view("SIG").size() : 0);
  for (int number = 1; number < NSIG; ++number) {
    const char* const known = sigabbrev_np(number);
    if (known && name == known) return number;
  }
  const auto number = host::NumberFrom<int>(text);
  if (number && *number > 0 && *number < NSIG) return *number;
  return core::MakeError("signal is " + core::Quoted(text) +
                             "; it is a name or a number, such as \"INT\", \"TERM\" or \"15\"",
                         "");
}

std::string LineOf(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == kBash && arguments[1] == kLine) return arguments[2];
  std::string line;
  for (const std::string& word : arguments)
    line += (line.empty() ? "" : " ") + QuotedForShell(word);
  return line;
}

host::Request RecordOf(const commands::CommandRequest& request, const core::Limits& limits) {
  host::Request record;
  record.source = LineOf(request.arguments);
  record.environment = request.environment;
  record.standard_input = request.input;
  record.limits = limits;
  if (request.timeout.count() > 0) record.limits.timeout = request.timeout;
  return record;
}

commands::CommandRequest TakeCommand(const Arguments& arguments, const EnabledProfile& profile,
                                     std::vector<std::string>& problems) {
  commands::CommandRequest request;
  request.arguments = WordsOf(*arguments.Value("command"));
  if (request.arguments.empty() || request.arguments.front().empty())
    problems.emplace_back("command is empty; it is a line, or a program with its arguments");
  request.environment = arguments.Pairs("env").value_or(std::vector<std::string>());
  host::Request bounded;
  bounded.arguments = request.arguments;
  bounded.environment = request.environment;
  if (const core::Result<void> checked = host::CheckArguments(bounded); !checked)
    problems.push_back(checked.error().ToString() + "; what is longer fits in a file, or in stdin");
  if (const std::string* const directory = arguments.Text("directory"))
    request.directory = *directory;
  if (const std::string* const terminal = arguments.Text("terminal")) {
    const core::Result<commands::TerminalSize> size = ReadTerminalSize(*terminal);
    if (!size) problems.push_back(size.error().ToString());
    if (size) request.terminal = *size;
  }
  const core::Limits limits = TakeLimits(arguments, profile, problems);
  const bool in_background = arguments.Boolean("background").value_or(false);
  const bool has_timeout = arguments.Number("timeout").has_value();
  if (!in_background || has_timeout) request.timeout = limits.timeout;
  // Several of its processes may run at once. In the background: as much as a command may have.
  if (!in_background) request.cpu = std::max(limits.cpu, profile.limits.cpu);
  const bool is_open = arguments.Boolean("open_stdin").value_or(in_background);
  const std::string* const input = arguments.Text("stdin");
  if (input) {
    request.input = *input;
  } else if (is_open) {
    request.input = std::nullopt;
  }
  request.buffer = kMaxKeptOutput;
  request.waits_for_reader = !in_background;
  return request;
}

}  // namespace belljar::server::tools
