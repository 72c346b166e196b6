#include "server/events/trace_context.h"

#include <span>

#include "engine/core/text.h"
#include "engine/host/random.h"

namespace belljar::server::events {
namespace {

constexpr size_t kLength = 55;  // "00-" 32 "-" 16 "-" 2

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

}  // namespace

std::optional<TraceContext> TraceContext::Parse(std::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2), trace = text.substr(3, 32),
                         parent = text.substr(36, 16), flags = text.substr(53, 2);
  // Later versions may continue after another dash.
  const bool is_whole =
      text.size() == kLength || (version != "00" && text.substr(kLength).starts_with('-'));
  if (!is_whole || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  for (const std::string_view part : {version, trace, parent, flags}) {
    if (!core::IsHex(part, part.size())) return std::nullopt;
  }
  if (version == "ff" || IsZero(trace) || IsZero(parent)) return std::nullopt;
  const char low = flags[1];
  const int bits = low <= '9' ? low - '0' : low - 'a' + 10;
  return TraceContext{std::string(trace), std::string(parent), (bits & 1) != 0};
}

TraceContext TraceContext::New() { return {core::Hex(host::RandomBytes()), "", true}; }

std::string NewSpanId() {
  const auto bytes = host::RandomBytes();
  return core::Hex(std::span(bytes).first(8));
}

}  // namespace belljar::server::events
