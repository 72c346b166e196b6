// Parser for untrusted JSON: one pass whose time and memory are bounded by the size of the text and
// by the given bounds.
//
// nlohmann's own parser with a callback is not used: it scans a whole array again after each object
// or array in it, which takes hours for 20 MB of "[{},{},…".
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
  size_t depth = 64;                                   // nesting of arrays and objects
  size_t values = std::numeric_limits<size_t>::max();  // in total, at any depth
};

struct JsonFailure {
  enum class Reason {
    kNotJson,      // at `byte`, counted from 1
    kNumber,       // does not fit a double
    kTooDeep,      // deeper than the bounds allow
    kTooMany,      // more values than the bounds allow
    kRepeatedKey,  // parsers disagree on which of the two wins, which an attacker can exploit
  };
  Reason reason = Reason::kNotJson;
  size_t byte = 0;
};

// The events of nlohmann's parser, for handlers that build something else from them. Works around
// defects of the parser (3.11). A handler that returns false stops the parse.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Whether all of `text` was read without a failure.
  bool Read(std::string_view text);

 private:
  // `is_integer`: only digits, but more than fit in 64 bits.
  virtual bool Number(double value, bool is_integer) = 0;
  // Returns false, or throws.
  virtual bool Fail(const JsonFailure& failure) = 0;

  bool number_float(number_float_t, const string_t& token) final;
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception& error) final;
  bool binary(binary_t&) final { return Fail({}); }  // JSON has none
};

using JsonReading = std::variant<nlohmann::json, JsonFailure>;

JsonReading ReadJson(std::string_view text, const JsonBounds& bounds);

// "not valid JSON at byte 7": for the sender. Never quotes the text, which may be secret.
std::string Describe(const JsonFailure& failure, const JsonBounds& bounds);

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_JSON_READER_H_
