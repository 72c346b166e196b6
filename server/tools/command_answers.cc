#include "server/tools/command_answers.h"

#include <cmath>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/outcome.h"
#include "server/tools/command_arguments.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;
using commands::CommandState;

constexpr size_t kMaxLine = 200;  // bytes shown of a command

double SecondsOf(std::chrono::microseconds time) {
  return std::round(std::chrono::duration<double>(time).count() * 1e4) / 1e4;
}

Json ExtentJson(const commands::StreamExtent& extent) {
  return {{"begin", extent.begin}, {"end", extent.end}};
}

std::string ShownLine(const commands::Command& command) {
  std::string line = LineOf(command.request().arguments);
  if (line.size() <= kMaxLine) return line;
  line.resize(core::CompletePrefix(std::string_view(line).substr(0, kMaxLine)));
  return line + "…";
}

}  // namespace

Json StatusJson(const commands::Command& command, const commands::CommandStatus& status,
                bool is_full) {
  Json json = {{"id", command.number()}, {"state", commands::StateName(status.state)}};
  if (status.state == CommandState::kExited) json["exit_code"] = status.exit_code;
  if (status.signal != 0) json["signal"] = host::SignalName(status.signal);
  if (!status.why.empty()) json["reason"] = status.why;
  if (status.has_processes) json["background"] = true;
  if (!is_full) return json;
  json["line"] = ShownLine(command);
  json["terminal"] = command.request().terminal.has_value();
  json["started"] = core::UtcText(status.started, "%Y-%m-%dT%H:%M:%SZ");
  json["duration"] = SecondsOf(status.wall_time);
  json["cpu_time"] = SecondsOf(status.cpu_time);
  json["max_rss_bytes"] = status.max_rss_bytes;
  json["stdout"] = ExtentJson(status.output);
  json["stderr"] = ExtentJson(status.errors);
  return json;
}

std::string StatusText(const commands::CommandStatus& status) {
  const std::string rest = status.has_processes ? "; what it has left in the background runs" : "";
  switch (status.state) {
    case CommandState::kRunning: return "is running";
    case CommandState::kExited:
      return (status.signal != 0 ? "was ended by " + host::SignalName(status.signal)
                                 : "exited with code " + std::to_string(status.exit_code)) +
             rest;
    case CommandState::kNotStarted: return "was not started: " + core::Printable(status.why);
    default: return "has ended: " + core::Printable(status.why);
  }
}

std::string CommandNote(const std::string& text) { return "[belljar: " + text + "]"; }

std::string_view WholeCharacters(std::string_view bytes, bool is_last) {
  const size_t whole = is_last ? bytes.size() : core::CompletePrefix(bytes);
  return whole == 0 ? bytes : bytes.substr(0, whole);
}

void AddBytes(std::string_view bytes, Json& json) {
  if (core::IsUtf8(bytes)) {
    json["text"] = bytes;
  } else {
    json["base64"] = host::EncodeBase64(bytes);
  }
}

}  // namespace belljar::server::tools
