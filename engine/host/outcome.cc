#include "engine/host/outcome.h"

#include <string.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/outcome_fields.h"

namespace belljar::host {
namespace {

// Ordered, since people read it: the answer before the accounting.
using OrderedJson = nlohmann::ordered_json;

// Ordered objects search all existing keys for each new one: a guest's dict of 80,000 keys would
// take 12 s. A tree that is parsed first and then moved into the ordered type has no duplicates.
OrderedJson ParseResult(const std::string& text) {
  return OrderedJson(nlohmann::json::parse(text));
}

std::string Dump(const OrderedJson& json, int indent) {
  return core::SafeJson(json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace));
}

bool IsTextual(std::string_view media_type) {
  return media_type.starts_with("text/") || media_type.ends_with("json") ||
         media_type.ends_with("xml");
}

template <typename T>
OrderedJson ToJson(const T& value) {
  if constexpr (std::same_as<T, JsonText>) {
    return value.text ? ParseResult(*value.text) : OrderedJson();
  } else if constexpr (std::same_as<T, Truncations>) {
    OrderedJson parts = OrderedJson::object();
    for (const auto& [part, count] : value.parts)
      parts[part] = count == 0 ? OrderedJson(true) : OrderedJson(count);
    return parts;
  } else if constexpr (OptionalField<T>) {
    return value ? ToJson(*value) : OrderedJson();
  } else if constexpr (ListField<T>) {
    OrderedJson list = OrderedJson::array();
    for (const auto& item : value) list.push_back(ToJson(item));
    return list;
  } else if constexpr (RecordField<T>) {
    OrderedJson object = OrderedJson::object();
    ForEachField<T>([&](auto row) {
      if constexpr (row.Is(kInJson)) {
        const auto& field = row.Of(value);
        const bool is_unset = row.Is(kNullable | kOmittable) && IsUnset(field);
        if (is_unset && row.Is(kOmittable)) return;
        object[row.name] = is_unset ? OrderedJson() : ToJson(field);
      }
    });
    return object;
  } else if constexpr (DurationField<T>) {
    return Seconds(value);
  } else if constexpr (EnumField<T>) {
    return NameOf(value);
  } else if constexpr (std::same_as<T, core::Bytes>) {
    return value.count;
  } else {
    return value;
  }
}

}  // namespace

void SetStopped(Outcome& outcome, Status status, std::string type, std::string message,
                std::string hint) {
  outcome.status = status;
  outcome.kill_cause = KillCause::kUnknown;
  outcome.kill_signal = 0;
  GuestError& error = outcome.error.emplace();
  error.type = std::move(type);
  error.message = std::move(message);
  error.hint = std::move(hint);
}

void SetKilled(Outcome& outcome, KillCause cause, std::string message, std::string hint) {
  const bool is_cancelled = cause == KillCause::kCancelled;
  SetStopped(outcome, Status::kKilled, is_cancelled ? "Cancelled" : "Killed", std::move(message),
             std::move(hint));
  outcome.kill_cause = cause;
}

bool HoldsText(const Artifact& artifact) {
  return artifact.content && IsTextual(artifact.media_type) && core::IsUtf8(*artifact.content);
}

std::string_view StatusName(Status status) { return NameOf(status); }

std::string SignalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return "SIG" + (name ? std::string(name) : std::to_string(signal));
}

std::string EncodingShown(const Artifact& artifact) {
  if (!artifact.content || !artifact.is_inline) return "";
  return HoldsText(artifact) ? "utf-8" : "base64";
}

std::optional<std::string> ContentShown(const Artifact& artifact) {
  if (!artifact.content || !artifact.is_inline) return std::nullopt;
  return HoldsText(artifact) ? *artifact.content : EncodeBase64(*artifact.content);
}

BinaryContent BytesOf(const Stream& stream) {
  return {core::IsUtf8(stream.text) ? nullptr : &stream.text};
}

std::string Base64Of(const Stream& stream) {
  const std::string* const bytes = BytesOf(stream).bytes;
  return bytes ? EncodeBase64(*bytes) : "";
}

Truncations TruncationsOf(const Outcome& outcome) {
  Truncations truncations;
  auto& parts = truncations.parts;
  const auto count = [&](const char* part, uint64_t cut) {
    if (cut > 0) parts.emplace_back(part, cut);
  };
  count("stdout", outcome.stdout_stream.dropped_bytes);
  count("stderr", outcome.stderr_stream.dropped_bytes);
  for (const std::string& part : outcome.truncated) parts.emplace_back(part, 0);
  count("artifacts", outcome.artifacts_left_out);
  count("network", outcome.network_left_out);
  return truncations;
}

void MarkInline(Outcome& outcome) {
  uint64_t left = outcome.limits.artifacts.count;
  for (Artifact& artifact : outcome.artifacts) {
    const uint64_t size = artifact.content ? artifact.content->size() : 0;
    artifact.is_inline = artifact.content && size <= outcome.limits.artifact.count && size <= left;
    if (artifact.is_inline) left -= size;
  }
}

std::string OutcomeToJson(const Outcome& outcome, int indent) {
  return Dump(ToJson(outcome), indent);
}

std::string LimitsToJson(const core::Limits& limits) { return Dump(ToJson(limits), -1); }

std::string FindingsToJson(const std::vector<Finding>& findings, int indent) {
  return Dump(ToJson(findings), indent);
}

}  // namespace belljar::host
