// Fields: strict access to one JSON object: each field has the right type and is within its bounds,
// and there are no unknown ones. ReadJson has refused duplicates.
//
//   Fields fields(json);
//   hello.profile = fields.Text("profile", 200);
//   fields.End();
//
// Violations throw FormError; the parsers of whole texts convert it (ReadForm).
#ifndef BELLJAR_CONTAINER_WIRE_FIELDS_H_
#define BELLJAR_CONTAINER_WIRE_FIELDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/fields.h"
#include "engine/host/json_reader.h"

namespace belljar::container::wire {

struct FormError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fields {
 public:
  // Borrowed.
  explicit Fields(const nlohmann::json& object);

  // A value of any type; the caller checks it.
  const nlohmann::json& Any(const char* key);
  // At most `max` bytes.
  std::string Text(const char* key, size_t max);
  bool Flag(const char* key);
  // A whole number from 0 to `max`, not written as a fraction.
  uint64_t Number(const char* key, uint64_t max);
  // At most `max` items.
  const nlohmann::json& List(const char* key, size_t max);
  // Each item is a text of at most `bytes`.
  std::vector<std::string> Texts(const char* key, size_t max, size_t bytes);
  // null is nullopt.
  std::optional<std::vector<std::string>> TextsOrNull(const char* key, size_t max, size_t bytes);
  // null is nullopt.
  std::optional<uint64_t> NumberOrNull(const char* key, uint64_t max);

  // Reads the fields of `record` that its table sends with `kFlag` (engine/host/fields.h).
  template <unsigned kFlag, host::RecordField T>
  void Rows(T& record);

  // All fields have been read, each once.
  void End() const;

 private:
  const nlohmann::json& object_;
  size_t seen_ = 0;
};

// Parses `text` and passes it to `read`. The error is `operation` and what is wrong with the text.
core::Result<void> ReadForm(std::string_view text, const host::JsonBounds& bounds,
                            const char* operation,
                            const std::function<void(const nlohmann::json&)>& read);

// The fields of a record, or a list of records, as read by Fields::Rows.
template <unsigned kFlag, typename T>
nlohmann::json ToForm(const T& value);

// Always UTF-8, whatever the input.
std::string FormText(const nlohmann::json& json);

// --- from the tables ----------------------------------------------------------------------------

// Names from outside are sent in printable form, as they may be displayed, also in terminals.
std::string PrintableForm(const std::string& text, uint64_t max);
void CheckText(const std::string& text, const char* key, bool printable,
               const host::FieldBounds& bounds);

// A time is sent in its own units.
template <typename T>
std::string FormName(const char* name) {
  std::string key = host::NameWithoutUnit<T>(name);
  if constexpr (std::same_as<T, std::chrono::milliseconds>) key += "_milliseconds";
  if constexpr (std::same_as<T, std::chrono::microseconds>) key += "_microseconds";
  return key;
}

template <unsigned kFlag, typename T>
nlohmann::json ToForm(const T& value) {
  if constexpr (host::RecordField<T>) {
    nlohmann::json form = nlohmann::json::object();
    host::ForEachField<T>([&](auto row) {
      if constexpr (row.Is(kFlag)) {
        using Type = host::FieldType<decltype(row), const T>;
        nlohmann::json& field = form[FormName<Type>(row.name)];
        if constexpr (row.Is(host::kPrintable)) {
          field = PrintableForm(row.Of(value), row.bounds.max);
        } else {
          field = ToForm<kFlag>(row.Of(value));
        }
      }
    });
    return form;
  } else if constexpr (host::OptionalField<T>) {
    return value ? ToForm<kFlag>(*value) : nlohmann::json();
  } else if constexpr (host::ListField<T>) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& item : value) list.push_back(ToForm<kFlag>(item));
    return list;
  } else if constexpr (host::DurationField<T>) {
    return value.count() < 0 ? uint64_t{0} : static_cast<uint64_t>(value.count());
  } else if constexpr (host::EnumField<T>) {
    return host::NameOf(value);
  } else if constexpr (std::same_as<T, core::Bytes>) {
    return value.count;
  } else {
    return value;
  }
}

template <unsigned kFlag, host::RecordField T>
void Fields::Rows(T& record) {
  host::ForEachField<T>([&](auto row) {
    if constexpr (row.Is(kFlag)) {
      auto& into = row.Of(record);
      using Type = std::remove_cvref_t<decltype(into)>;
      const std::string name = FormName<Type>(row.name);
      const char* const key = name.c_str();
      if constexpr (host::RecordField<Type>) {
        Fields fields(Any(key));
        fields.Rows<kFlag>(into);
        fields.End();
      } else if constexpr (std::same_as<Type, std::vector<std::string>>) {
        into = Texts(key, row.bounds.max_items, row.bounds.max);
      } else if constexpr (std::same_as<Type, std::optional<std::vector<std::string>>>) {
        into = TextsOrNull(key, row.bounds.max_items, row.bounds.max);
      } else if constexpr (host::ListField<Type>) {
        for (const nlohmann::json& item : List(key, row.bounds.max_items)) {
          Fields fields(item);
          fields.Rows<kFlag>(into.emplace_back());
          fields.End();
        }
      } else if constexpr (std::same_as<Type, std::string>) {
        into = Text(key, row.bounds.max);
        CheckText(into, key, row.Is(host::kPrintable), row.bounds);
      } else if constexpr (host::EnumField<Type>) {
        const auto value = host::ValueNamed<Type>(Text(key, row.bounds.max));
        if (!value) throw FormError(name + " is not a known value");
        into = *value;
      } else if constexpr (std::same_as<Type, bool>) {
        into = Flag(key);
      } else if constexpr (std::same_as<Type, core::Bytes>) {
        into = core::Bytes{Number(key, row.bounds.max)};
      } else if constexpr (host::NumberField<Type>) {
        constexpr uint64_t kFits = std::numeric_limits<Type>::max();
        into = static_cast<Type>(Number(key, std::min(row.bounds.max, kFits)));
      } else {
        static_assert(host::DurationField<Type>);
        into = Type(static_cast<typename Type::rep>(Number(key, row.bounds.max)));
      }
    }
  });
}

}  // namespace belljar::container::wire

#endif  // BELLJAR_CONTAINER_WIRE_FIELDS_H_
