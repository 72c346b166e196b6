#include "engine/core/limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace belljar::core {

Limits WithRequested(Limits defaults, const Limits& maximum, const RequestedLimits& requested) {
  if (requested.timeout) {
    defaults.timeout = *requested.timeout;
    defaults.cpu = std::min(*requested.timeout, maximum.cpu);
  }
  if (requested.cpu) defaults.cpu = *requested.cpu;
  if (requested.memory) defaults.memory = *requested.memory;
  if (requested.output) defaults.output = *requested.output;
  return defaults;
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const Error malformed =
      MakeError("read duration \"" + std::string(text.substr(0, 40)) + "\"",
                "write seconds, such as 30 or 1.5, or a number with ms, s or m, up to one day");
  double number = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || rest == text.data()) return malformed;
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  double scale = 0;
  if (suffix.empty() || suffix == "s") scale = 1000;
  if (suffix == "ms") scale = 1;
  if (suffix == "m" || suffix == "min") scale = 60'000;
  const double milliseconds = number * scale;
  if (!std::isfinite(milliseconds) || milliseconds < 1 || milliseconds > 86'400'000) {
    return malformed;
  }
  return std::chrono::milliseconds(std::llround(milliseconds));
}

std::string FormatDuration(std::chrono::milliseconds duration) {
  if (duration.count() % 1000 == 0) return std::to_string(duration.count() / 1000) + "s";
  return std::to_string(duration.count()) + "ms";
}

}  // namespace belljar::core
