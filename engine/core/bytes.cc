#include "engine/core/bytes.h"

#include <charconv>

#include "engine/core/text.h"

namespace belljar::core {

Result<Bytes> Bytes::Parse(std::string_view text) {
  const Error malformed =
      MakeError("read size \"" + std::string(text.substr(0, 40)) + "\"",
                "write a whole number with an optional k, m or g, such as 128m");
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest == text.data()) return malformed;
  const std::string suffix = LowerCase(std::string_view(rest, end));
  int shift = -1;
  if (suffix.empty() || suffix == "b") shift = 0;
  if (suffix == "k" || suffix == "kb" || suffix == "kib") shift = 10;
  if (suffix == "m" || suffix == "mb" || suffix == "mib") shift = 20;
  if (suffix == "g" || suffix == "gb" || suffix == "gib") shift = 30;
  if (shift < 0 || number > (UINT64_MAX >> 1 >> shift)) return malformed;
  return Bytes{number << shift};
}

std::string Bytes::ToString() const {
  constexpr struct {
    int shift;
    char suffix;
  } kUnits[] = {{30, 'g'}, {20, 'm'}, {10, 'k'}};
  for (const auto& unit : kUnits) {
    if (count != 0 && count % (uint64_t{1} << unit.shift) == 0) {
      return std::to_string(count >> unit.shift) + unit.suffix;
    }
  }
  return std::to_string(count);
}

}  // namespace belljar::core
