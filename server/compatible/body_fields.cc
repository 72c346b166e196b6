#include "server/compatible/body_fields.h"

#include <cmath>

#include "engine/core/text.h"
#include "engine/host/json_reader.h"
#include "engine/host/number.h"
#include "engine/host/suggest.h"

namespace belljar::server::compatible {
namespace {

// These APIs send flat bodies: the deepest are the members of a list of submissions.
constexpr host::JsonBounds kBodyBounds = {.depth = 16, .values = 100'000};

std::string WhatIsWrong(const host::JsonFailure& failure) {
  switch (failure.reason) {
    case host::JsonFailure::Reason::kNotJson:
      return "the body is not JSON: see byte " + std::to_string(failure.byte);
    case host::JsonFailure::Reason::kNumber: return "the body contains a number that is too large";
    case host::JsonFailure::Reason::kTooDeep: return "the body is nested too deeply";
    case host::JsonFailure::Reason::kTooMany: return "the body contains too many values";
    case host::JsonFailure::Reason::kRepeatedKey: return "the body contains a name twice";
  }
  return "the body is not JSON";
}

std::optional<double> NumberIn(const std::string& text) {
  const auto number = host::NumberFrom<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

std::variant<nlohmann::json, std::string> ReadBody(std::string_view text) {
  host::JsonReading reading = host::ReadJson(text, kBodyBounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) return WhatIsWrong(*failure);
  auto& json = std::get<nlohmann::json>(reading);
  if (!json.is_object()) return std::string("the body must be an object");
  return std::move(json);
}

const nlohmann::json* BodyFields::Find(const char* name) {
  if (!core::Contains(known_, name)) known_.emplace_back(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string BodyFields::UnknownMembers() const {
  constexpr size_t kMaxNamed = 8;
  std::string lines;
  size_t count = 0;
  for (const auto& [name, value] : object_.items()) {
    if (core::Contains(known_, name) || ++count > kMaxNamed) continue;
    lines += (lines.empty() ? "" : "\n") + ("ignored the unknown member " + core::Quoted(name)) +
             host::Suggestion(name, known_);
  }
  if (count > kMaxNamed) lines += "\nand " + std::to_string(count - kMaxNamed) + " more";
  return lines;
}

void BodyFields::Add(std::string field, std::string message) {
  mistakes_.push_back({std::move(field), std::move(message)});
}

std::optional<std::string> BodyFields::Text(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  Add(name, "must be a string");
  return std::nullopt;
}

std::optional<double> BodyFields::Number(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (!value) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  if (value->is_string()) {
    if (const auto number = NumberIn(value->get_ref<const std::string&>())) return number;
  }
  Add(name, "must be a number");
  return std::nullopt;
}

std::optional<bool> BodyFields::Boolean(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (!value) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Add(name, "must be true or false");
  return std::nullopt;
}

std::vector<std::string> BodyFields::Texts(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (!value) return {};
  std::vector<std::string> texts;
  bool is_list = value->is_array();
  if (is_list) {
    for (const nlohmann::json& item : *value) {
      is_list = is_list && item.is_string();
      if (is_list) texts.push_back(item.get<std::string>());
    }
  }
  if (!is_list) Add(name, "must be an array of strings");
  return is_list ? std::move(texts) : std::vector<std::string>();
}

std::vector<std::pair<std::string, std::string>> BodyFields::TextMap(const char* name) {
  const nlohmann::json* const value = Find(name);
  if (!value) return {};
  std::vector<std::pair<std::string, std::string>> pairs;
  bool is_map = value->is_object();
  if (is_map) {
    for (const auto& [key, text] : value->items()) {
      is_map = is_map && (text.is_string() || text.is_null());
      if (text.is_string()) pairs.emplace_back(key, text.get<std::string>());
    }
  }
  if (!is_map) Add(name, "must be an object of strings");
  return is_map ? std::move(pairs) : std::vector<std::pair<std::string, std::string>>();
}

}  // namespace belljar::server::compatible
