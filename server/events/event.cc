#include "server/events/event.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/core/text.h"
#include "server/events/event_fields.h"

namespace belljar::server::events {
namespace {

using Json = nlohmann::ordered_json;

// RFC 3339, with milliseconds.
std::string Timestamp(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  char fraction[8];
  snprintf(fraction, sizeof fraction, ".%03dZ", static_cast<int>(since.count() % 1000));
  return core::UtcText(time, "%Y-%m-%dT%H:%M:%S") + fraction;
}

template <typename T>
Json JsonOf(const T& value) {
  if constexpr (host::OptionalField<T>) {
    return value ? JsonOf(*value) : Json();
  } else if constexpr (host::DurationField<T>) {
    return host::Seconds(value);
  } else {
    return value;
  }
}

template <typename T>
bool IsEmpty(const T& value) {
  if constexpr (host::ListField<T>) {
    return value.empty();
  } else {
    return host::IsUnset(value);
  }
}

template <typename T>
size_t LengthOf(const T& value) {
  if constexpr (host::TextField<T>) {
    return value.size();
  } else if constexpr (host::ListField<T>) {
    size_t length = 0;
    for (const auto& item : value) length += sizeof item + item.size();
    return length;
  } else {
    return 0;
  }
}

template <typename Kind>
EventKind Describe() {
  EventKind kind{std::string(Kind::kName), std::string(Kind::kMeaning), {}};
  host::ForEachField<Kind>([&](auto row) { kind.fields.push_back({row.name, row.meaning}); });
  return kind;
}

// Calls `visit` with each kind of the variant.
template <typename... Kinds>
std::vector<EventKind> DescribeAll(const std::variant<Kinds...>*) {
  return {Describe<Kinds>()...};
}

template <typename... Kinds>
bool AnyName(const std::variant<Kinds...>*, std::string_view pattern) {
  return (Matches(pattern, Kinds::kName) || ...);
}

}  // namespace

std::string_view NameOf(const EventData& data) {
  return std::visit([](const auto& event) { return std::decay_t<decltype(event)>::kName; }, data);
}

std::string_view ExecutionOf(const EventData& data) {
  return std::visit(
      [](const auto& event) -> std::string_view {
        if constexpr (requires { event.execution; }) return event.execution;
        return {};
      },
      data);
}

std::string_view SessionOf(const EventData& data) {
  return std::visit(
      [](const auto& event) -> std::string_view {
        if constexpr (requires { event.session; }) return event.session;
        return {};
      },
      data);
}

size_t SizeOf(const Event& event) {
  size_t size = sizeof(Event) + event.owner.size();
  std::visit(
      [&](const auto& data) {
        host::ForEachField<std::decay_t<decltype(data)>>(
            [&](auto row) { size += LengthOf(row.Of(data)); });
      },
      event.data);
  return size;
}

Json FieldsOf(const EventData& data) {
  Json fields = Json::object();
  std::visit(
      [&](const auto& event) {
        host::ForEachField<std::decay_t<decltype(event)>>([&](auto row) {
          const auto& value = row.Of(event);
          if (row.Is(host::kOmittable) && IsEmpty(value)) return;
          fields[row.name] = JsonOf(value);
        });
      },
      data);
  return fields;
}

std::string ToJson(const Event& event) {
  Json json = {{"type", NameOf(event.data)}, {"timestamp", Timestamp(event.time)}};
  if (!event.owner.empty()) json["caller"] = event.owner;
  json["data"] = FieldsOf(event.data);
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::vector<EventKind> EventKinds() { return DescribeAll(static_cast<EventData*>(nullptr)); }

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern == "*") return true;
  if (!pattern.ends_with(".*")) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool IsEventPattern(std::string_view pattern) {
  const bool is_jobs = pattern.starts_with(kJobs) && pattern.size() <= 64 &&
                       std::all_of(pattern.begin(), pattern.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '*';
                       });
  return is_jobs || AnyName(static_cast<EventData*>(nullptr), pattern);
}

}  // namespace belljar::server::events
