// JSON that strangers wrote: read in one pass whose time and memory are in proportion to the text
// and to the bounds.
//
// Not by nlohmann's own parser with a callback: that one looks through a whole array again after
// each object or array in it, which for 20 MB of "[{},{},…" takes hours.
//
//   JsonReading reading = ReadJson(body, {.depth = 64, .values = 10'000});
//   if (const auto* failure = std::get_if<JsonFailure>(&reading)) return Refuse(*failure);
#ifndef BELLJAR_ENGINE_HOST_JSON_READER_H_
#define BELLJAR_ENGINE_HOST_JSON_READER_H_

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace belljar::host {

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

// What nlohmann's parser says while it reads, for whoever makes something of his own of it. What is
// wrong about the parser (3.11) is put right here. A handler that returns false ends the reading.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Whether all of `text` was read, and nothing has failed.
  bool Read(std::string_view text);

 private:
  // An integer: of digits alone, and more of them than 64 bits hold.
  virtual bool Number(double value, bool is_integer) = 0;
  // Returns false, or throws.
  virtual bool Fail(const JsonFailure& failure) = 0;

  bool number_float(number_float_t, const string_t& token) final;
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception& error) final;
  bool binary(binary_t&) final { return Fail({}); }  // JSON has none
};

using JsonReading = std::variant<nlohmann::json, JsonFailure>;

JsonReading ReadJson(std::string_view text, const JsonBounds& bounds);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_JSON_READER_H_
