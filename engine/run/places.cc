#include "engine/run/places.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/text.h"

namespace belljar::run {
namespace {

constexpr size_t kShown = core::kMaxPlaces - 1;
constexpr size_t kMaxName = 256;        // bytes of a file's or a function's name
constexpr size_t kMaxSourceLine = 300;  // bytes of a line that is quoted
constexpr int kMaxLine = 1'000'000'000;

struct Place {
  std::string_view file;
  std::string_view function;
  int line = 0;
};

std::optional<std::string_view> TakePart(std::string_view& rest) {
  const size_t end = rest.find('\0');
  if (end == rest.npos || end == 0 || end > kMaxName) return std::nullopt;
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return part;
}

std::optional<int> ToLine(std::string_view digits) {
  int line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (line < 1 || line > kMaxLine) return std::nullopt;
  return line;
}

// Innermost first; none if any is malformed.
std::vector<Place> ReadPlaces(std::string_view recorded) {
  std::vector<Place> places;
  while (!recorded.empty()) {
    const auto file = TakePart(recorded);
    const auto function = file ? TakePart(recorded) : std::nullopt;
    const auto digits = function ? TakePart(recorded) : std::nullopt;
    const auto line = digits ? ToLine(*digits) : std::nullopt;
    if (!line || places.size() == core::kMaxPlaces) return {};
    places.push_back({*file, *function, *line});
  }
  return places;
}

// Other names in angle brackets are of code that a library has made.
bool IsOfProgram(const Place& place, const host::Request& request) {
  if (place.file == request.filename || !place.file.starts_with('<')) return true;
  constexpr std::string_view kLaterText[] = {"<string>", "<cell ", "<doctest ", "<timeit-src>"};
  return std::ranges::any_of(kLaterText,
                             [&](std::string_view each) { return place.file.starts_with(each); });
}

// The text of the program, or of a file that came with it; empty: not known here.
std::string_view TextOf(std::string_view file, const host::Request& request) {
  if (file == request.filename) return request.source;
  for (const std::string_view folder : {"/workspace/", "./"}) {
    if (file.starts_with(folder)) file.remove_prefix(folder.size());
  }
  const auto found = std::ranges::find(request.files, file, &host::InputFile::path);
  return found == request.files.end() ? std::string_view() : std::string_view(found->content);
}

// Without what is around it; shortened if it is long.
std::string LineOf(std::string_view text, int number) {
  for (int line = 1; line < number && !text.empty(); ++line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kSpace = " \t\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  if (text.size() <= kMaxSourceLine) return core::ValidUtf8(text);
  text = text.substr(0, kMaxSourceLine);
  return core::ValidUtf8(text.substr(0, core::CompletePrefix(text))) + " …";
}

std::string PlaceText(const Place& place, const host::Request& request) {
  const std::string text = "  File \"" + core::Printable(place.file) + "\", line " +
                           std::to_string(place.line) + ", in " + core::Printable(place.function) +
                           "\n";
  const std::string line = LineOf(TextOf(place.file, request), place.line);
  return line.empty() ? text : text + "    " + line + "\n";
}

}  // namespace

void AddPlaces(std::string_view recorded, const host::Request& request, host::Outcome& outcome) {
  std::vector<Place> places = ReadPlaces(recorded);
  std::erase_if(places, [&](const Place& place) { return !IsOfProgram(place, request); });
  if (places.empty() || !outcome.error) return;
  host::GuestError& error = *outcome.error;
  const auto own = std::ranges::find(places, std::string_view(request.filename), &Place::file);
  if (own != places.end()) error.line = own->line;
  error.traceback = "Traceback (most recent call last):\n";
  if (places.size() > kShown) {
    places.resize(kShown);
    error.traceback += "  [... frames left out ...]\n";
  }
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    error.traceback += PlaceText(*place, request);
  }
  error.traceback += error.type + ": " + error.message + "\n";
}

}  // namespace belljar::run
