// Text chosen by a program, inside text that Belljar writes: bounded, and such that none of its
// lines looks like Belljar's own (answer.h).
#ifndef BELLJAR_ENGINE_HOST_PROGRAM_TEXT_H_
#define BELLJAR_ENGINE_HOST_PROGRAM_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace belljar::host {

// The excerpt of a text that is too long: its beginning and end, as views.
struct Excerpt {
  std::string_view begin;
  std::string_view end;
  uint64_t begin_characters = 0;  // code points in `begin`
  uint64_t left_out = 0;          // code points between the two; 0: nothing, and `end` is empty
};

// Whether the text costs more than `characters`, counted as AnswerOptions says.
bool IsLonger(std::string_view text, size_t characters);

// Code points.
uint64_t CharactersIn(std::string_view text);

// At most `characters` of both together. Cuts at the ends of lines where there are any nearby, and
// never within a character of UTF-8.
Excerpt ExcerptOf(std::string_view text, size_t characters);

// The beginning of the text that costs at most `characters`, up to the end of a line if there is
// one nearby; at least one character.
std::string_view BeginningOf(std::string_view text, size_t characters);

// Which lines besides headings and notes are Belljar's own where the text will be placed.
enum class Place { kOutput, kError };

// With escapes, and a backslash before each line that looks like Belljar's.
std::string Disarmed(std::string_view text, Place place = Place::kOutput);

std::string_view WithoutTrailingSpace(std::string_view text);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_PROGRAM_TEXT_H_
