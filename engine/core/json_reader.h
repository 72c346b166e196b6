// JSON that strangers wrote: read in one pass whose time and memory are in proportion to the text
// and to the bounds.
//
// Not by nlohmann's own parser with a callback: that one looks through a whole array again after
// each object or array in it, which for 20 MB of "[{},{},…" takes hours.
//
//   JsonReading reading = ReadJson(body, {.depth = 64, .values = 10'000});
//   if (const auto* failure = std::get_if<JsonFailure>(&reading)) return Refuse(*failure);
#ifndef BELLJAR_ENGINE_CORE_JSON_READER_H_
#define BELLJAR_ENGINE_CORE_JSON_READER_H_

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace belljar {

struct JsonBounds {
  size_t depth = 64;                                   // arrays and objects within each other
  size_t values = std::numeric_limits<size_t>::max();  // all of them, at any depth
};

struct JsonFailure {
  enum class Reason {
    kNotJson,      // at `byte`, counted from 1
    kNumber,       // one that no double holds
    kTooDeep,      // more than the bounds
    kTooMany,      // likewise
    kRepeatedKey,  // readers disagree on which of the two counts, and a stranger can use that
  };
  Reason reason = Reason::kNotJson;
  size_t byte = 0;
};

using JsonReading = std::variant<nlohmann::json, JsonFailure>;

// The number whose JSON text nlohmann has read: `text` is its token, with the first byte of the
// locale's decimal point in place of the point (3.11), and its own value is wrong where that point
// has more bytes. nullopt: no double holds it.
std::optional<double> JsonFloat(std::string text);

JsonReading ReadJson(std::string_view text, const JsonBounds& bounds);

}  // namespace belljar

#endif  // BELLJAR_ENGINE_CORE_JSON_READER_H_
