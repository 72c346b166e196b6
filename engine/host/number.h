// NumberFrom: the number that a text is. nullopt: it is not all a number, or is out of range.
#ifndef BELLJAR_ENGINE_HOST_NUMBER_H_
#define BELLJAR_ENGINE_HOST_NUMBER_H_

#include <charconv>
#include <optional>
#include <string_view>

namespace belljar::host {

template <typename Number>
std::optional<Number> NumberFrom(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_NUMBER_H_
