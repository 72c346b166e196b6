// Fields: tables that define every serialised value once. JSON, its schema, the texts of workers
// and containers, and the objects of the Python package are generated from them.
//
// A table is a function template, so that it costs nothing in files that do not use it:
//
//   template <typename Visit>
//   void VisitFields(TableOf<Usage>, Visit visit) {
//     visit(Row<kShown | kObserved>("cpu_time", &Usage::cpu_time, "Seconds, user and system"));
//   }
//
//   ForEachField<Usage>([&](auto row) {
//     if constexpr (row.Is(kInJson)) Write(row.name, row.Of(usage));
//   });
//
// The type of a member determines its form: a duration is seconds, Bytes is a number, an enum is
// its name (kNames), a struct with a table is an object. The row adds what the type cannot express.
#ifndef BELLJAR_ENGINE_HOST_FIELDS_H_
#define BELLJAR_ENGINE_HOST_FIELDS_H_

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/core/bytes.h"

namespace belljar::host {

enum FieldFlags : unsigned {
  kInJson = 1,         // in the answers of the command line and the server, and in their schema
  kInPython = 2,       // an attribute in the Python package
  kInReport = 4,       // in a worker's report of its run; a container passes it on
  kInObservation = 8,  // what a container observed of its worker from outside
  kRequired = 16,      // always present according to the schema
  kNullable = 32,      // empty or 0 is null (None in Python)
  kOmittable = 64,     // omitted from the JSON if empty
  kPrintable = 128,    // from a container: must be as Printable (text.h) writes it
  kPositive = 256,     // in a report: neither null nor negative
};
inline constexpr unsigned kShown = kInJson | kInPython;
inline constexpr unsigned kSent = kInReport | kInObservation;

using Words = std::span<const std::string_view>;

// Checked when the value comes from a worker or a container.
struct FieldBounds {
  // Maximum of a number; size in bytes of a text, or of each text in a list.
  uint64_t max = INT64_MAX;
  uint64_t max_items = INT64_MAX;  // maximum length of a list
  Words choices = {};              // allowed texts, also in the schema
  Words known = {};                // allowed texts when it comes from a container
};

template <unsigned kRowFlags, typename Member>
struct Field {
  static constexpr unsigned kFlags = kRowFlags;
  const char* name;
  Member member;
  const char* meaning;  // the description in the schema
  FieldBounds bounds;

  static constexpr bool Is(unsigned flag) { return (kFlags & flag) != 0; }

  template <typename Object>
  decltype(auto) Of(Object& object) const {
    return std::invoke(member, object);
  }
};

// `member`: a member, a path to one, or a function that computes the value.
template <unsigned kFlags, typename Member>
constexpr Field<kFlags, Member> Row(const char* name, Member member, const char* meaning = "",
                                    FieldBounds bounds = {}) {
  return {name, member, meaning, bounds};
}

// A member of a member.
template <typename Outer, typename Inner>
struct Path {
  Outer outer;
  Inner inner;
  constexpr Path(Outer first, Inner second) : outer(first), inner(second) {}
  template <typename Object>
  auto& operator()(Object& object) const {
    return object.*outer.*inner;
  }
};

// Tag that selects the table of T. Its namespace lets a table be found wherever T is declared.
template <typename T>
struct TableOf {};

// In table order.
template <typename T, typename Visit>
void ForEachField(const Visit& visit) {
  VisitFields(TableOf<T>(), visit);
}

// The names of an enum's values, counted from 0.
template <typename Enum>
inline constexpr Words kNames;

template <typename Enum>
std::string_view NameOf(Enum value) {
  return kNames<Enum>[static_cast<size_t>(value)];
}

template <typename Enum>
std::optional<Enum> ValueNamed(std::string_view name) {
  for (size_t i = 0; i < kNames<Enum>.size(); ++i) {
    if (kNames<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// --- values -------------------------------------------------------------------------------------

template <typename>
struct ElementOf {
  static constexpr bool kIsOptional = false, kIsList = false, kIsDuration = false;
};
template <typename T>
struct ElementOf<std::optional<T>> {
  using Type = T;
  static constexpr bool kIsOptional = true, kIsList = false, kIsDuration = false;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using Type = T;
  static constexpr bool kIsOptional = false, kIsList = true, kIsDuration = false;
};
template <typename Rep, typename Period>
struct ElementOf<std::chrono::duration<Rep, Period>> {
  static constexpr bool kIsOptional = false, kIsList = false, kIsDuration = true;
};

template <typename T>
concept OptionalField = ElementOf<T>::kIsOptional;
template <typename T>
concept ListField = ElementOf<T>::kIsList;
template <typename T>
concept DurationField = ElementOf<T>::kIsDuration;
template <typename T>
concept EnumField = std::is_enum_v<T>;
template <typename T>
concept TextField = std::convertible_to<T, std::string_view>;
template <typename T>
concept NumberField = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept RecordField = requires {
  VisitFields(TableOf<T>(), [](auto) {});
};

template <typename Row_, typename Object>
using FieldType =
    std::remove_cvref_t<decltype(std::declval<const Row_&>().Of(std::declval<Object&>()))>;

template <DurationField Duration>
double Seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

// Empty or 0: null for a nullable field.
template <typename T>
bool IsUnset(const T& value) {
  if constexpr (OptionalField<T>) {
    return !value.has_value();
  } else if constexpr (TextField<T> || NumberField<T>) {
    return value == T();
  } else {
    return false;
  }
}

// "memory" from "memory_bytes", for places that show the unit or use another.
template <typename T>
std::string NameWithoutUnit(std::string_view name) {
  const std::string_view unit = std::same_as<T, core::Bytes> ? "_bytes" : "_time";
  const bool has_unit = (std::same_as<T, core::Bytes> || DurationField<T>)&&name.ends_with(unit);
  return std::string(name.substr(0, name.size() - (has_unit ? unit.size() : 0)));
}

}  // namespace belljar::host

#endif  // BELLJAR_ENGINE_HOST_FIELDS_H_
