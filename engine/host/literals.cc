#include "engine/host/literals.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/text.h"
#include "engine/core/wire.h"
#include "engine/host/json_reader.h"

namespace belljar::host {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxHexDigits = 10'000;  // whose conversion takes milliseconds
constexpr char kType[] = "$type";  // of values that JSON has no form for (runner/plain_data.py)

struct Filling {
  std::string_view placeholder;
  std::string_view content;
};

// What is filled in is not searched.
std::string Filled(std::string_view form, std::initializer_list<Filling> fillings) {
  std::string text;
  while (!form.empty()) {
    const auto* const filling = std::ranges::find_if(
        fillings, [&](const Filling& each) { return form.starts_with(each.placeholder); });
    if (filling == fillings.end()) {
      text += form.front();
      form.remove_prefix(1);
    } else {
      text += filling->content;
      form.remove_prefix(filling->placeholder.size());
    }
  }
  return text;
}

// $'…' of bash(1), in one line.
std::string ShellString(std::string_view text) {
  std::string quoted = "$'";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// Limbs in base 10**9, made from seven hexadecimal digits at a time: products fit into 64 bits.
constexpr uint32_t kLimbBase = 1'000'000'000;
constexpr size_t kLimbDigits = 9;
constexpr size_t kHexDigitsAtOnce = 7;

// Least significant first, none for zero; nullopt: not hexadecimal digits.
std::optional<std::vector<uint32_t>> DecimalLimbs(std::string_view hex) {
  std::vector<uint32_t> limbs;
  while (!hex.empty()) {
    const std::string_view digits = hex.substr(0, kHexDigitsAtOnce);
    hex.remove_prefix(digits.size());
    uint64_t carry = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), carry, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    for (uint32_t& limb : limbs) {
      carry += uint64_t{limb} << (4 * digits.size());
      limb = static_cast<uint32_t>(carry % kLimbBase);
      carry /= kLimbBase;
    }
    if (carry > 0) limbs.push_back(static_cast<uint32_t>(carry));
  }
  return limbs;
}

// "-31" for "-0x1f"; empty: not such a number. Not Boost's cpp_int, which links the locales of the
// standard library: a fifth of belljar-guest.
std::string Decimal(std::string_view hex) {
  const bool is_negative = hex.starts_with('-');
  if (is_negative) hex.remove_prefix(1);
  if (!hex.starts_with("0x") || hex.size() == 2) return {};
  const auto limbs = DecimalLimbs(hex.substr(2));
  if (!limbs) return {};
  if (limbs->empty()) return "0";
  std::string text = (is_negative ? "-" : "") + std::to_string(limbs->back());
  for (auto limb = std::next(limbs->rbegin()); limb != limbs->rend(); ++limb) {
    const std::string digits = std::to_string(*limb);
    text.append(kLimbDigits - digits.size(), '0') += digits;
  }
  return text;
}

bool IsDecimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

class Writer {
 public:
  explicit Writer(const core::ValueForms& forms) : forms_(forms) {}

  core::Result<std::string> Statement(std::string_view name, const Json& value) {
    const Json& plain = Untagged(value);
    const std::string* statement = &forms_.set;
    if (plain.is_array() && !forms_.set_list.empty()) statement = &forms_.set_list;
    if (plain.is_object() && IsMap(plain) && !forms_.set_map.empty()) statement = &forms_.set_map;
    core::Result<std::string> written = Value(value, true);
    if (!written) return written;
    return Filled(*statement, {{"{name}", name}, {"{value}", *written}});
  }

 private:
  static bool IsMap(const Json& object) { return !object.contains(kType); }

  // The items of a set.
  static const Json& Untagged(const Json& value) {
    const bool is_set = value.is_object() && value.value(kType, "").ends_with("set");
    return is_set ? value.at("items") : value;
  }

  core::Result<std::string> String(const std::string& text) const {
    if (text.find('\0') != text.npos && !forms_.nul_in_strings) {
      return core::MakeError("write a text", "it has a NUL, which is impossible there");
    }
    if (forms_.strings == core::ValueForms::Strings::kShell) return ShellString(text);
    return Json(text).dump();
  }

  core::Result<std::string> Tagged(const Json& value) const {
    const std::string type = value.value(kType, "");
    if (type == "float") {
      const std::string kind = value.value("value", "");
      if (kind == "nan") return forms_.nan;
      return kind == "inf" ? forms_.infinity : "-" + forms_.infinity;
    }
    if (type == "int") {
      std::string digits = value.value("value", "");
      const std::string hex = value.value("hex", "");
      if (digits.empty() && hex.size() <= kMaxHexDigits) digits = Decimal(hex);
      if (IsDecimal(digits)) return Filled(forms_.big, {{"{value}", digits}});
    }
    return core::MakeError("write a value", "there is no form for " + core::Quoted(type));
  }

  // As text, within a value that cannot have others in it.
  bool IsText(const Json& value, bool is_outermost) const {
    return !forms_.nested && !is_outermost && value.is_structured() &&
           !(value.is_object() && !IsMap(value));
  }

  core::Result<std::string> Value(const Json& given, bool is_outermost) {
    const Json& value = Untagged(given);
    if (IsText(value, is_outermost)) return String(value.dump());
    if (value.is_null()) return forms_.null;
    if (value.is_boolean()) return value.get<bool>() ? forms_.true_ : forms_.false_;
    if (value.is_number()) return value.dump();
    if (value.is_string()) return String(value.get<std::string>());
    if (value.is_array()) return List(value);
    return IsMap(value) ? Map(value) : Tagged(value);
  }

  core::Result<std::string> List(const Json& list) {
    std::string items;
    for (const Json& item : list) {
      core::Result<std::string> written = Value(item, false);
      if (!written) return written;
      items += (items.empty() ? "" : forms_.separator) + *written;
    }
    return Filled(IsVector(list) ? forms_.vector : forms_.list, {{"{items}", items}});
  }

  // Whether all items are of one kind, and scalars.
  bool IsVector(const Json& list) const {
    if (forms_.vector.empty() || list.empty() || list.front().is_structured()) return false;
    return std::ranges::all_of(list, [&](const Json& item) {
      return item.is_number() == list.front().is_number() &&
             item.is_string() == list.front().is_string() &&
             item.is_boolean() == list.front().is_boolean() && !item.is_null();
    });
  }

  core::Result<std::string> Map(const Json& map) {
    std::string entries;
    for (const auto& [key, value] : map.items()) {
      core::Result<std::string> quoted = String(key);
      if (!quoted) return quoted;
      core::Result<std::string> written = Value(value, false);
      if (!written) return written;
      entries += (entries.empty() ? "" : forms_.separator) +
                 Filled(forms_.entry, {{"{key}", *quoted}, {"{value}", *written}});
    }
    return Filled(forms_.map, {{"{items}", entries}});
  }

  const core::ValueForms& forms_;
};

}  // namespace

core::Result<std::string> Assignments(const std::vector<InputVariable>& variables,
                                      const core::ValueForms& forms) {
  std::string statements;
  for (const InputVariable& variable : variables) {
    const JsonReading read = ReadJson(variable.json, {.depth = core::kMaxCallDepth});
    const auto* const value = std::get_if<Json>(&read);
    const std::string operation = "give " + core::Quoted(variable.name) + " a value";
    if (!value) return core::MakeError(operation, "it is not JSON");
    try {
      core::Result<std::string> statement = Writer(forms).Statement(variable.name, *value);
      if (!statement) return core::MakeError(operation, statement.error().detail);
      statements += *statement;
    } catch (const std::exception&) {  // of a tagged value that is none
      return core::MakeError(operation, "it is no plain data");
    }
  }
  return statements;
}

std::string Reading(std::string_view name, const core::ValueForms& forms) {
  return Filled(forms.get, {{"{name}", name}});
}

}  // namespace belljar::host
