#include "container/wire/fields.h"

#include <cstdlib>

#include "engine/core/text.h"

namespace belljar::container::wire {
namespace {

using nlohmann::json;

[[noreturn]] void Refuse(const char* key, const std::string& what) {
  throw FormError(std::string(key) + " " + what);
}

std::string TextOf(const json& value, const char* key, size_t max) {
  if (!value.is_string()) Refuse(key, "is not a string");
  if (value.get_ref<const std::string&>().size() > max) Refuse(key, "is too long");
  return value.get<std::string>();
}

uint64_t NumberOf(const json& value, const char* key, uint64_t max) {
  if (!value.is_number_unsigned()) Refuse(key, "is not a non-negative integer");
  if (value.get<uint64_t>() > max) Refuse(key, "is too large");
  return value.get<uint64_t>();
}

const json& ListOf(const json& value, const char* key, size_t max) {
  if (!value.is_array()) Refuse(key, "is not a list");
  if (value.size() > max) Refuse(key, "is too long");
  return value;
}

std::vector<std::string> TextsOf(const json& value, const char* key, size_t max, size_t bytes) {
  std::vector<std::string> texts;
  for (const json& item : ListOf(value, key, max)) texts.push_back(TextOf(item, key, bytes));
  return texts;
}

const char* Describe(host::JsonFailure::Reason reason) {
  switch (reason) {
    case host::JsonFailure::Reason::kNotJson: return "it is not JSON";
    case host::JsonFailure::Reason::kNumber: return "it has a number out of range";
    case host::JsonFailure::Reason::kTooDeep: return "it is nested too deeply";
    case host::JsonFailure::Reason::kTooMany: return "it has too many values";
    case host::JsonFailure::Reason::kRepeatedKey: return "it has a duplicate key";
  }
  abort();
}

}  // namespace

Fields::Fields(const json& object) : object_(object) {
  if (!object.is_object()) throw FormError("it is not an object");
}

const json& Fields::Any(const char* key) {
  const auto found = object_.find(key);
  if (found == object_.end()) Refuse(key, "is missing");
  ++seen_;
  return *found;
}

std::string Fields::Text(const char* key, size_t max) { return TextOf(Any(key), key, max); }

bool Fields::Flag(const char* key) {
  const json& value = Any(key);
  if (!value.is_boolean()) Refuse(key, "is not a boolean");
  return value.get<bool>();
}

uint64_t Fields::Number(const char* key, uint64_t max) { return NumberOf(Any(key), key, max); }

const json& Fields::List(const char* key, size_t max) { return ListOf(Any(key), key, max); }

std::vector<std::string> Fields::Texts(const char* key, size_t max, size_t bytes) {
  return TextsOf(Any(key), key, max, bytes);
}

std::optional<std::vector<std::string>> Fields::TextsOrNull(const char* key, size_t max,
                                                            size_t bytes) {
  const json& value = Any(key);
  if (value.is_null()) return std::nullopt;
  return TextsOf(value, key, max, bytes);
}

std::optional<uint64_t> Fields::NumberOrNull(const char* key, uint64_t max) {
  const json& value = Any(key);
  if (value.is_null()) return std::nullopt;
  return NumberOf(value, key, max);
}

void Fields::End() const {
  if (seen_ != object_.size()) throw FormError("it has an unknown field");
}

core::Result<void> ReadForm(std::string_view text, const host::JsonBounds& bounds,
                            const char* operation, const std::function<void(const json&)>& read) {
  host::JsonReading reading = host::ReadJson(text, bounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) {
    return core::MakeError(operation, Describe(failure->reason));
  }
  try {
    read(std::get<json>(reading));
    return {};
  } catch (const FormError& error) {
    return core::MakeError(operation, error.what());
  }
}

std::string PrintableForm(const std::string& text, uint64_t max) {
  std::string printable = core::Printable(text);
  // An unprintable byte becomes four.
  return printable.size() <= max ? printable : core::Printable(text.substr(0, max / 4));
}

void CheckText(const std::string& text, const char* key, bool printable,
               const host::FieldBounds& bounds) {
  const auto check = [&](host::Words words) {
    if (!words.empty() && std::ranges::find(words, text) == words.end()) {
      Refuse(key, "is not a known value");
    }
  };
  check(bounds.choices);
  check(bounds.known);
  if (printable && core::Printable(text) != text) Refuse(key, "contains control characters");
}

std::string FormText(const json& form) {
  return form.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace belljar::container::wire
