// Text that came from outside: what of it is UTF-8, and how to show the rest.
#ifndef BELLJAR_ENGINE_CORE_TEXT_H_
#define BELLJAR_ENGINE_CORE_TEXT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::core {

// Bytes of the well-formed UTF-8 sequence that `text` begins with; 0 if it begins with none.
// Overlong forms and surrogates are not well-formed (RFC 3629). Precondition: not empty.
size_t SequenceLength(std::string_view text);

// How much of `text` does not end in the middle of a UTF-8 character, for output that comes in
// pieces.
size_t CompletePrefix(std::string_view text);

bool IsUtf8(std::string_view text);

// Control characters (C0, DEL, C1), or bytes that are not UTF-8.
bool HasControls(std::string_view text);

// `text` for people to read: what HasControls finds as \xNN, and so what ends a line (U+2028,
// U+2029) or changes the direction of what follows, which makes "a<U+202E>yp.exe" look like
// "aexe.py" (the characters with Unicode's Bidi_Control). For names that come from outside: a file
// name may hold any of them.
std::string Printable(std::string_view text);
// The same in double quotes, past 80 bytes without its middle: of a path the end says the most.
std::string Quoted(std::string_view text);

// JSON text with the same characters as \uNNNN, and nothing else changed: for programs it says the
// same as before, and a person may see it in a terminal. Precondition: it is JSON.
std::string SafeJson(std::string json);

// Letters of ASCII in lower case, the rest as it is.
std::string LowerCase(std::string_view text);

// What is between the separators: one part more than there are of those, each may be empty.
std::vector<std::string_view> SplitAt(std::string_view text, char separator);

bool Contains(const std::vector<std::string>& names, std::string_view name);

// "a, b, c"; empty for none.
std::string Joined(const std::vector<std::string>& names);

// Two lower-case digits a byte.
std::string Hex(std::span<const unsigned char> bytes);

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_TEXT_H_
