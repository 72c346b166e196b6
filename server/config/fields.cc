// Converts texts to the fields of a Draft and back.
#include <algorithm>

#include "engine/core/limits.h"
#include "engine/core/text.h"
#include "engine/host/number.h"
#include "engine/host/suggest.h"
#include "server/config/settings.h"
#include "server/config/values.h"

namespace belljar::server::config {
namespace {

using Time = std::chrono::milliseconds;
using Strings = std::vector<std::string>;

template <typename>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

// What is wrong with a value; the caller knows where the value comes from.
struct Violation {
  std::string text;
};

Violation OutOfRange(const std::string& min, const std::string& max) {
  return {"write one from " + min + " to " + max};
}

template <typename T>
using Parsed = std::variant<T, Violation>;

Parsed<bool> Parse(const Setting& setting, const Strings& values, const bool*) {
  const std::string word = core::LowerCase(values[0]);
  const auto is = [&](const Strings& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (is({"true", "1", "yes", "on"})) return true;
  if (is({"false", "0", "no", "off"})) return false;
  return Violation{ExpectedForm(setting)};
}

Parsed<size_t> Parse(const Setting& setting, const Strings& values, const size_t*) {
  const auto count = host::NumberFrom<uint64_t>(values[0]);
  if (!count || *count < setting.min || *count > setting.max) {
    return Violation{ExpectedForm(setting)};
  }
  return *count;
}

Parsed<Time> Parse(const Setting& setting, const Strings& values, const Time*) {
  const core::Result<Time> time = core::ParseDuration(values[0]);
  if (!time) return Violation{time.error().detail};
  const Time min(setting.min);
  const Time max(setting.max);
  if (*time < min || *time > max) {
    return OutOfRange(core::FormatDuration(min), core::FormatDuration(max));
  }
  return *time;
}

Parsed<core::Bytes> Parse(const Setting& setting, const Strings& values, const core::Bytes*) {
  const core::Result<core::Bytes> size = core::Bytes::Parse(values[0]);
  if (!size) return Violation{size.error().detail};
  const core::Bytes min{setting.min};
  const core::Bytes max{setting.max};
  if (*size < min || *size > max) return OutOfRange(min.ToString(), max.ToString());
  return *size;
}

Parsed<std::string> Parse(const Setting& setting, const Strings& values, const std::string*) {
  const std::string& text = values[0];
  const Strings choices = setting.choices();
  if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
    return Violation{"write one of " + setting.value_type + host::Suggestion(text, choices)};
  }
  std::string violation = setting.violation ? setting.violation(text) : "";
  if (!violation.empty()) return Violation{std::move(violation)};
  return text;
}

Parsed<Strings> Parse(const Setting&, const Strings& values, const Strings*) { return values; }

Parsed<ListenAddress> Parse(const Setting&, const Strings& values, const ListenAddress*) {
  const core::Result<std::optional<ListenAddress>> listen = ParseListenAddress(values[0]);
  if (!listen) return Violation{listen.error().detail};
  return **listen;
}

// All lists contain texts; each item is checked separately.
std::optional<core::Error> JudgeTexts(const Given& given) {
  const Setting& setting = *given.setting;
  const bool is_list = setting.form() == Form::kList;
  for (const std::string& text : given.values) {
    std::string violation;
    if (!IsPlainText(text))
      violation = "it is not UTF-8, or contains control characters";
    else if (is_list && setting.violation)
      violation = setting.violation(text);
    if (!violation.empty())
      return core::MakeError(given.origin.place + " " + core::Quoted(text), violation);
  }
  return std::nullopt;
}

std::string Show(const std::string& text) { return text; }
std::string Show(bool value) { return value ? "true" : "false"; }
std::string Show(size_t count) { return std::to_string(count); }
std::string Show(Time time) { return core::FormatDuration(time); }
std::string Show(core::Bytes size) { return size.ToString(); }
std::string Show(const ListenAddress& listen) { return FormatListenAddress(listen); }
std::string Show(const Strings& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + item;
  return list.empty() ? "none" : text;
}

std::string Literal(bool value) { return Show(value); }
std::string Literal(size_t count) { return Show(count); }
std::string Literal(const Strings& list) { return ListLiteral(list); }
template <typename T>
std::string Literal(const T& value) {
  return TextLiteral(Show(value));
}

// Calls `use` with the value of the field, or returns `none` if it has no value.
template <typename Use>
std::string WithValue(const Setting& setting, const Draft& draft, const std::string& none,
                      const Use& use) {
  // The table's accessors are used for reading and writing.
  const Field field = setting.field(const_cast<Draft&>(draft));
  return std::visit(
      [&](const auto* value) -> std::string {
        if constexpr (IsOptional<std::remove_cvref_t<decltype(*value)>>::value) {
          return *value ? use(**value) : none;
        } else if constexpr (std::is_same_v<decltype(value), const std::string*>) {
          return value->empty() ? none : use(*value);
        } else {
          return use(*value);
        }
      },
      field);
}

}  // namespace

Form Setting::form() const {
  struct {
    Form operator()(const std::string*) { return Form::kText; }
    Form operator()(const bool*) { return Form::kSwitch; }
    Form operator()(const std::optional<bool>*) { return Form::kSwitch; }
    Form operator()(const size_t*) { return Form::kCount; }
    Form operator()(const Time*) { return Form::kTime; }
    Form operator()(const OptionalTime*) { return Form::kTime; }
    Form operator()(const core::Bytes*) { return Form::kSize; }
    Form operator()(const std::optional<core::Bytes>*) { return Form::kSize; }
    Form operator()(const Strings*) { return Form::kList; }
    Form operator()(const OptionalList*) { return Form::kList; }
    Form operator()(const std::optional<ListenAddress>*) { return Form::kText; }
  } form_of;
  Draft draft;
  return std::visit(form_of, field(draft));
}

std::string ExpectedForm(const Setting& setting) {
  switch (setting.form()) {
    case Form::kText: return "write a quoted string";
    case Form::kSwitch: return "write true or false";
    case Form::kCount:
      return "write a whole number from " + std::to_string(setting.min) + " to " +
             std::to_string(setting.max);
    case Form::kTime: return "write seconds, such as 30 or 1.5, or a string such as \"500ms\"";
    case Form::kSize: return "write a number of bytes, or a string such as \"128m\"";
    case Form::kList: return "write a list of strings, such as [\"a\", \"b\"]";
  }
  return "";
}

core::Result<void> Apply(const Given& given, Draft& draft) {
  if (std::optional<core::Error> error = JudgeTexts(given)) return *error;
  const Setting& setting = *given.setting;
  const auto store = [&](auto* field) -> core::Result<void> {
    using Type = std::remove_pointer_t<decltype(field)>;
    if constexpr (std::is_same_v<Type, std::optional<ListenAddress>>) {
      if (given.values[0] == "off") {
        field->reset();
        return {};
      }
    }
    auto parsed = [&] {
      if constexpr (IsOptional<Type>::value) {
        return Parse(setting, given.values, static_cast<typename Type::value_type*>(nullptr));
      } else {
        return Parse(setting, given.values, field);
      }
    }();
    if (const auto* violation = std::get_if<Violation>(&parsed)) {
      return core::MakeError(given.origin.place + " " + core::Quoted(given.values[0]),
                             violation->text);
    }
    *field = std::get<0>(std::move(parsed));
    return {};
  };
  return std::visit(store, setting.field(draft));
}

Strings SplitList(std::string_view text) {
  Strings items;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string_view item = text.substr(start, end - start);
    const size_t first = item.find_first_not_of(" \t");
    if (first != std::string_view::npos) {
      items.emplace_back(item.substr(first, item.find_last_not_of(" \t") - first + 1));
    }
    start = end + 1;
  }
  return items;
}

std::string ShowField(const Setting& setting, const Draft& draft) {
  return WithValue(setting, draft, setting.unset, [](const auto& value) { return Show(value); });
}

std::string FieldLiteral(const Setting& setting, const Draft& draft) {
  return WithValue(setting, draft, "", [](const auto& value) { return Literal(value); });
}

}  // namespace belljar::server::config
