#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace belljar::core {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// For a well-formed sequence of at most three bytes; 0 if it is longer.
uint32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  switch (sequence.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
    case 3: return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
    default: return 0;
  }
}

// Terminals also obey the C1 controls, U+0080 to U+009F.
bool IsControl(std::string_view sequence) {
  if (sequence.size() > 2) return false;
  const uint32_t point = CodePoint(sequence);
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

bool IsMisleading(std::string_view sequence) {
  if (sequence.size() < 2 || sequence.size() > 3) return false;
  const uint32_t point = CodePoint(sequence);
  return point == 0x061c || point == 0x200e || point == 0x200f ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

// The length of the ASCII prefix of `text`, in whole words: mostly-ASCII text would take ten times
// as long character by character.
size_t AsciiWords(std::string_view text) {
  size_t length = 0;
  for (uint64_t word; length + sizeof word <= text.size(); length += sizeof word) {
    std::memcpy(&word, text.data() + length, sizeof word);
    if ((word & 0x8080808080808080) != 0) break;
  }
  return length;
}

}  // namespace

size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool HasControls(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0 || IsControl(text.substr(0, length))) return true;
    text.remove_prefix(length);
  }
  return false;
}

std::string SafeJson(std::string json) {
  std::string safe;
  size_t copied = 0;
  for (size_t at = 0; at < json.size();) {
    const auto lead = static_cast<unsigned char>(json[at]);
    // The only lead bytes of such characters. Line ends between JSON strings are kept.
    if (lead != 0x7f && lead != 0xc2 && lead != 0xd8 && lead != 0xe2) {
      ++at;
      continue;
    }
    const std::string_view rest = std::string_view(json).substr(at);
    const size_t length = std::max<size_t>(SequenceLength(rest), 1);
    const std::string_view sequence = rest.substr(0, length);
    if (lead < 0x80 || IsControl(sequence) || IsMisleading(sequence)) {
      char escape[11];
      snprintf(escape, sizeof escape, "\\u%04x", CodePoint(sequence));
      safe.append(json, copied, at - copied).append(escape);
      copied = at + length;
    }
    at += length;
  }
  if (copied == 0) return json;
  return safe.append(json, copied);
}

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length == 0 || IsControl(sequence) || IsMisleading(sequence)) {
      for (const char byte : sequence) {
        char escape[5];
        snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(byte));
        printable += escape;
      }
    } else {
      printable += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return printable;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(AsciiWords(text));
    if (text.empty()) return true;
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    valid += length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return valid;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMaxLength = 80;
  constexpr size_t kHead = 28;
  if (text.size() <= kMaxLength) return "\"" + Printable(text) + "\"";
  const std::string_view head = text.substr(0, kHead);
  std::string_view tail = text.substr(text.size() - (kMaxLength - kHead));
  while (!tail.empty() && (static_cast<unsigned char>(tail.front()) & 0xc0) == 0x80) {
    tail.remove_prefix(1);
  }
  return "\"" + Printable(head.substr(0, CompletePrefix(head))) + "…" + Printable(tail) + "\"";
}

size_t CompletePrefix(std::string_view text) {
  // An incomplete character is its lead byte and the bytes after it, at most three.
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return back < wanted ? text.size() - back : text.size();
  }
  return text.size();
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), separator)) + 1);
  for (;;) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kSpace); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpace, end);
  }
  return words;
}

void FillIn(std::string& text, std::string_view placeholder, std::string_view content) {
  const size_t at = text.find(placeholder);
  if (at != text.npos) text.replace(at, placeholder.size(), content);
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Joined(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
  return joined;
}

std::string Hex(std::span<const unsigned char> bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += kHexDigits[byte >> 4];
    hex += kHexDigits[byte & 0xf];
  }
  return hex;
}

bool IsHex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of(kHexDigits) == text.npos;
}

std::optional<std::string> DecodeHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string UtcText(std::chrono::system_clock::time_point time, const char* format) {
  const time_t seconds = std::chrono::system_clock::to_time_t(time);
  tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace belljar::core
