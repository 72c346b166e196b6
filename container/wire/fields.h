// Fields: one JSON object, read strictly: each field is of its kind and within its bounds, and
// there is none that nobody asked for. ReadJson has refused doubled ones.
//
//   Fields fields(json);
//   hello.profile = fields.Text("profile", 200);
//   fields.End();
//
// What is not so throws FormError; the readers of whole texts translate it (ReadForm).
#ifndef BELLJAR_CONTAINER_WIRE_FIELDS_H_
#define BELLJAR_CONTAINER_WIRE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/json_reader.h"
#include "engine/core/result.h"

namespace belljar {

struct FormError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fields {
 public:
  // Borrowed.
  explicit Fields(const nlohmann::json& object);

  // Of any form; the caller judges it.
  const nlohmann::json& Any(const char* key);
  // At most `most` bytes.
  std::string Text(const char* key, size_t most);
  bool Flag(const char* key);
  // A whole number from 0 to `most`; never one that was written as a fraction.
  uint64_t Number(const char* key, uint64_t most);
  // At most `most` items.
  const nlohmann::json& List(const char* key, size_t most);
  // Each item is a text of at most `bytes`.
  std::vector<std::string> Texts(const char* key, size_t most, size_t bytes);
  // null is nullopt.
  std::optional<std::vector<std::string>> TextsOrNull(const char* key, size_t most, size_t bytes);
  // null is nullopt.
  std::optional<uint64_t> NumberOrNull(const char* key, uint64_t most);

  // Everything has been asked for, each once.
  void End() const;

 private:
  const nlohmann::json& object_;
  size_t asked_ = 0;
};

// Parses `text` and has `read` take it in. The error is `operation` and what is wrong with the
// text.
Result<void> ReadForm(std::string_view text, const JsonBounds& bounds, const char* operation,
                      const std::function<void(const nlohmann::json&)>& read);

// UTF-8 whatever went in.
std::string FormText(const nlohmann::json& json);

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_FIELDS_H_
