// Untrusted text: UTF-8 validation, and how to display the rest.
#ifndef BELLJAR_ENGINE_CORE_TEXT_H_
#define BELLJAR_ENGINE_CORE_TEXT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::core {

// The length in bytes of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
// Overlong forms and surrogates are not well-formed (RFC 3629). Precondition: not empty.
size_t SequenceLength(std::string_view text);

// The length of the longest prefix of `text` that does not end inside a UTF-8 character, for output
// that arrives in pieces.
size_t CompletePrefix(std::string_view text);

bool IsUtf8(std::string_view text);

// Each byte that is not part of well-formed UTF-8 becomes U+FFFD.
std::string ValidUtf8(std::string_view text);

// Whether it has control characters (C0, DEL, C1) or bytes that are not UTF-8.
bool HasControls(std::string_view text);

// `text` for display. What HasControls finds is written as \xNN. So are line separators (U+2028,
// U+2029) and characters that change text direction (Unicode's Bidi_Control), which make
// "a<U+202E>yp.exe" look like "aexe.py". For names from outside: a file name may contain any of
// them.
std::string Printable(std::string_view text);
// The same in double quotes. Text over 80 bytes is shortened in the middle, since the end of a path
// is the most informative part.
std::string Quoted(std::string_view text);

// JSON text with the same characters as \uNNNN and otherwise unchanged: equivalent for programs,
// and safe to display in a terminal. Precondition: it is JSON.
std::string SafeJson(std::string json);

// ASCII letters in lower case; the rest is unchanged.
std::string LowerCase(std::string_view text);

// The parts between the separators, which may be empty: one more than there are separators.
std::vector<std::string_view> SplitAt(std::string_view text, char separator);

// The parts between runs of white space; none is empty.
std::vector<std::string_view> Words(std::string_view text);

bool Contains(const std::vector<std::string>& names, std::string_view name);

// Replaces the first occurrence of `placeholder`, if there is one.
void FillIn(std::string& text, std::string_view placeholder, std::string_view content);

// The first part of a module's dotted name: "numpy" for "numpy.linalg". A view of `module`.
inline std::string_view TopLevelName(std::string_view module) {
  return module.substr(0, module.find('.'));
}

// "a, b, c"; empty for none.
std::string Joined(const std::vector<std::string>& names);

// Two lower-case digits per byte.
std::string Hex(std::span<const unsigned char> bytes);
// Whether it consists of this many lower-case digits.
bool IsHex(std::string_view text, size_t digits);
// The bytes of hexadecimal digits in either case; nullopt: anything else.
std::optional<std::string> DecodeHex(std::string_view text);

// "2026-11-25 13:40:11 UTC", or as `format` says (strftime(3)), in at most 40 bytes.
std::string UtcText(std::chrono::system_clock::time_point time,
                    const char* format = "%Y-%m-%d %H:%M:%S UTC");

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_TEXT_H_
