#include "engine/host/program_text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "engine/core/text.h"

namespace belljar::host {
namespace {

// How far a cut may move so that it falls on a line end.
constexpr size_t kLineSearch = 8;  // an eighth of the excerpt

// The length of the first character of `text`; each byte that is not UTF-8 counts as one.
std::string_view FirstCharacter(std::string_view text) {
  const size_t length = core::SequenceLength(text);
  return text.substr(0, length == 0 ? 1 : length);
}

std::string_view LastCharacter(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const std::string_view last = text.substr(text.size() - length);
    if (core::SequenceLength(last) == length) return last;
  }
  return text.substr(text.size() - 1);
}

uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 2: return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
    case 3: return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
    case 4:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3fu) << 12 | (byte(2) & 0x3fu) << 6 |
             (byte(3) & 0x3fu);
    default: return byte(0);
  }
}

bool IsInvalid(std::string_view character) { return core::SequenceLength(character) == 0; }

struct Range {
  uint32_t first;
  uint32_t last;
};

bool IsIn(uint32_t point, const Range* begin, const Range* end) {
  const Range* const after = std::upper_bound(
      begin, end, point, [](uint32_t wanted, const Range& range) { return wanted < range.first; });
  return after != begin && point <= std::prev(after)->last;
}

// Characters that change the direction of text or end a line, controls, and the tags and variation
// selectors of plane 14, which can hide text that models read and people do not see.
constexpr Range kEscaped[] = {{0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},
                              {0x061c, 0x061c}, {0x200e, 0x200f}, {0x2028, 0x202e},
                              {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

// Invisible characters: Default_Ignorable_Code_Point of Unicode 16. They are kept, since scripts
// and emoji need them, but must not hide how a line begins.
constexpr Range kInvisible[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},  {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},  {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},  {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

// White_Space of Unicode, without line ends.
constexpr Range kSpaces[] = {{0x09, 0x09},     {0x20, 0x20},     {0xa0, 0xa0},
                             {0x1680, 0x1680}, {0x2000, 0x200a}, {0x202f, 0x202f},
                             {0x205f, 0x205f}, {0x3000, 0x3000}};

template <size_t kCount>
bool IsIn(uint32_t point, const Range (&ranges)[kCount]) {
  return IsIn(point, std::begin(ranges), std::end(ranges));
}

bool IsLetter(uint32_t point) { return (point | 0x20) >= 'a' && (point | 0x20) <= 'z'; }

size_t CostOf(std::string_view character) {
  if (IsInvalid(character)) return 4;
  const uint32_t point = CodePoint(character);
  if (point == '\n') return 4;
  if (character.size() == 1 && (IsLetter(point) || point == ' ')) return 1;
  if (IsIn(point, kEscaped)) return 8;
  return std::max<size_t>(character.size(), 2);
}

// The number of bytes at the start that cost at most `characters`.
size_t BytesFor(std::string_view text, size_t characters) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const std::string_view character = FirstCharacter(text.substr(bytes));
    const size_t cost = CostOf(character);
    if (cost > characters) break;
    characters -= cost;
    bytes += character.size();
  }
  return bytes;
}

// The same at its end.
size_t BytesForEnd(std::string_view text, size_t characters) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const std::string_view character = LastCharacter(text.substr(0, text.size() - bytes));
    const size_t cost = CostOf(character);
    if (cost > characters) break;
    characters -= cost;
    bytes += character.size();
  }
  return bytes;
}

// The start of a text that is longer.
std::string_view Beginning(std::string_view text, size_t characters) {
  const std::string_view begin = text.substr(0, BytesFor(text, characters));
  const size_t line_end = begin.rfind('\n');
  const bool is_near =
      line_end != std::string_view::npos && begin.size() - line_end <= characters / kLineSearch;
  return is_near ? begin.substr(0, line_end + 1) : begin;
}

void AppendEscape(std::string_view character, std::string& text) {
  char escape[11];
  const uint32_t point = CodePoint(character);
  const char* const form = IsInvalid(character) || point < 0x100 ? "\\x%02x"
                           : point < 0x10000                     ? "\\u%04x"
                                                                 : "\\U%08x";
  snprintf(escape, sizeof escape, form, point);
  text += escape;
}

// The letters of a line as a reader sees them: in lower case, full-width forms as ASCII, without
// invisible characters and leading spaces. At most `max` bytes.
std::string SeenStart(std::string_view line, size_t max) {
  std::string seen;
  while (!line.empty() && seen.size() < max) {
    const std::string_view character = FirstCharacter(line);
    line.remove_prefix(character.size());
    uint32_t point = CodePoint(character);
    if (IsIn(point, kInvisible) || (seen.empty() && IsIn(point, kSpaces))) continue;
    if (point >= 0xff01 && point <= 0xff5e) point -= 0xfee0;
    if (IsIn(point, kSpaces)) point = ' ';
    if (point < 0x80) {
      seen += static_cast<char>(IsLetter(point) ? point | 0x20 : point);
    } else {
      seen += character;
    }
  }
  return seen;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(' ') == std::string_view::npos;
}

// "stdout:", "value (its repr: it is not plain data):", "Error (timeout) :".
bool IsHeading(std::string_view seen) {
  for (const std::string_view name : {"stdout", "stderr", "value", "error", "files"}) {
    if (!seen.starts_with(name)) continue;
    std::string_view rest = seen.substr(name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.starts_with('(')) rest.remove_prefix(std::min(rest.find(')'), rest.size() - 1) + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.starts_with(':') && IsBlank(rest.substr(1))) return true;
  }
  return false;
}

bool LooksLikeOurs(std::string_view line, Place place) {
  constexpr size_t kMaxHeading = 80;
  const std::string seen = SeenStart(line, kMaxHeading);
  if (seen.starts_with('[')) {
    const size_t word = seen.find_first_not_of(' ', 1);
    return word != std::string::npos && seen.substr(word).starts_with("belljar");
  }
  return IsHeading(seen) || (place == Place::kError && seen.starts_with("hint"));
}

}  // namespace

uint64_t CharactersIn(std::string_view text) {
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;  // not a continuation
  }));
}

bool IsLonger(std::string_view text, size_t characters) {
  // No character costs less than its number of bytes.
  return text.size() > characters || BytesFor(text, characters) < text.size();
}

std::string_view BeginningOf(std::string_view text, size_t characters) {
  if (!IsLonger(text, characters)) return text;
  const std::string_view begin = Beginning(text, characters);
  return begin.empty() ? FirstCharacter(text) : begin;
}

Excerpt ExcerptOf(std::string_view text, size_t characters) {
  if (!IsLonger(text, characters)) return {.begin = text};
  const size_t half = characters / 2;
  const std::string_view begin = Beginning(text, half);
  std::string_view rest = text.substr(begin.size());
  std::string_view end = rest.substr(rest.size() - BytesForEnd(rest, half));
  const size_t line_start = end.find('\n');
  if (line_start != std::string_view::npos && line_start < half / kLineSearch) {
    end.remove_prefix(line_start + 1);
  }
  rest.remove_suffix(end.size());
  return {begin, end, CharactersIn(begin), CharactersIn(rest)};
}

std::string Disarmed(std::string_view text, Place place) {
  std::string disarmed;
  disarmed.reserve(text.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r') && end < text.size()) line.remove_suffix(1);  // "\r\n"
    if (LooksLikeOurs(line, place)) disarmed += '\\';
    while (!line.empty()) {
      const std::string_view character = FirstCharacter(line);
      line.remove_prefix(character.size());
      if (IsInvalid(character) || IsIn(CodePoint(character), kEscaped)) {
        AppendEscape(character, disarmed);
      } else {
        disarmed += character;
      }
    }
    if (end < text.size()) disarmed += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return disarmed;
}

std::string_view WithoutTrailingSpace(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n\v\f");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace belljar::host
