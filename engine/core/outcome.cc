#include "engine/core/outcome.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/base64.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

// Ordered, because people read it: the answer before the accounting.
using Json = nlohmann::ordered_json;

double Seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>(time).count();
}

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json OrNull(int position) { return position == 0 ? Json() : Json(position); }

Json ToJson(const Finding& finding) {
  return {{"rule", finding.rule},
          {"name", finding.name},
          {"line", OrNull(finding.line)},
          {"column", OrNull(finding.column)},
          {"end_line", OrNull(finding.end_line)},
          {"end_column", OrNull(finding.end_column)},
          {"reason", finding.reason},
          {"hint", OrNull(finding.hint)},
          {"profile", OrNull(finding.profile)}};
}

Json ToJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(ToJson(finding));
  return list;
}

Json ToJson(const GuestError& error) {
  return {{"type", error.type},
          {"message", error.message},
          {"line", OrNull(error.line)},
          {"column", OrNull(error.column)},
          {"traceback", OrNull(error.traceback)},
          {"hint", OrNull(error.hint)}};
}

Json ToJson(const Limits& limits) {
  return {{"timeout", std::chrono::duration<double>(limits.timeout).count()},
          {"cpu", std::chrono::duration<double>(limits.cpu).count()},
          {"memory_bytes", limits.memory.count},
          {"output_bytes", limits.output.count},
          {"result_bytes", limits.result.count},
          {"source_bytes", limits.source.count},
          {"file_size_bytes", limits.file_size.count},
          {"artifact_bytes", limits.artifact.count},
          {"artifacts_bytes", limits.artifacts.count},
          {"open_files", limits.open_files},
          {"processes", limits.processes}};
}

Json ToJson(const Isolation& isolation) {
  Json layers = Json::array();
  for (const LayerState& layer : isolation.layers) {
    layers.push_back({{"name", layer.name}, {"held", layer.held}, {"detail", layer.detail}});
  }
  return {{"mode", isolation.mode}, {"language", isolation.language}, {"layers", layers}};
}

Json Truncation(const Outcome& outcome) {
  Json truncated = Json::object();
  if (outcome.stdout_stream.dropped_bytes > 0) {
    truncated["stdout"] = outcome.stdout_stream.dropped_bytes;
  }
  if (outcome.stderr_stream.dropped_bytes > 0) {
    truncated["stderr"] = outcome.stderr_stream.dropped_bytes;
  }
  for (const std::string& part : outcome.truncated) truncated[part] = true;
  if (outcome.artifacts_left_out > 0) truncated["artifacts"] = outcome.artifacts_left_out;
  if (outcome.network_left_out > 0) truncated["network"] = outcome.network_left_out;
  return truncated;
}

// Ordered objects look each new key up in all that came before it: a guest's dict of 80,000 keys
// would take 12 s. What is parsed into a tree first and then moved into the order has no doubles.
Json ParseResult(const std::string& text) { return Json(nlohmann::json::parse(text)); }

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

bool IsTextual(std::string_view media_type) {
  return media_type.starts_with("text/") || media_type.ends_with("json") ||
         media_type.ends_with("xml");
}

Json ToJson(const Artifact& artifact) {
  Json json = {
      {"name", artifact.name},
      {"origin", artifact.origin == Artifact::Origin::kFile ? "file" : "display"},
      {"media_type", artifact.media_type},
      {"size", artifact.size},
      {"sha256", OrNull(artifact.sha256)},
      {"encoding", nullptr},
      {"content", nullptr},
      {"note", OrNull(artifact.note)},
  };
  if (!artifact.uri.empty()) json["uri"] = artifact.uri;
  if (!artifact.content || !artifact.is_inline) return json;
  const bool is_text = HoldsText(artifact);
  json["encoding"] = is_text ? "utf-8" : "base64";
  json["content"] = is_text ? *artifact.content : EncodeBase64(*artifact.content);
  return json;
}

Json ToJson(const NetworkEvent& event) {
  return {{"host", event.host},
          {"port", event.port},
          {"protocol", event.protocol},
          {"allowed", event.allowed},
          {"detail", OrNull(event.detail)},
          {"bytes_sent", event.sent},
          {"bytes_received", event.received},
          {"started", Seconds(event.started)},
          {"lasted", Seconds(event.lasted)}};
}

Json ToJson(const ContainerReport& container) {
  return {{"engine", container.engine},
          {"runtime", container.runtime},
          {"image_digest", container.image_digest},
          {"warm", container.warm},
          {"started_in", Seconds(container.started_in)},
          {"not_limited", container.not_limited},
          {"packages", container.packages}};
}

template <typename Item>
Json ListOf(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(ToJson(item));
  return list;
}

}  // namespace

GuestError Stopped(std::string type, std::string message, std::string hint) {
  GuestError error;
  error.type = std::move(type);
  error.message = std::move(message);
  error.hint = std::move(hint);
  return error;
}

bool HoldsText(const Artifact& artifact) {
  return artifact.content && IsTextual(artifact.media_type) && IsUtf8(*artifact.content);
}

std::string_view StatusName(Status status) {
  switch (status) {
    case Status::kOk: return "ok";
    case Status::kException: return "exception";
    case Status::kRefused: return "refused";
    case Status::kTimeout: return "timeout";
    case Status::kCpuLimit: return "cpu_limit";
    case Status::kMemoryLimit: return "memory_limit";
    case Status::kKilled: return "killed";
  }
  abort();
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
  Json json;
  json["success"] = outcome.success();
  json["status"] = StatusName(outcome.status);
  json["execution_id"] = outcome.execution_id;
  json["result"] = outcome.result_json ? ParseResult(*outcome.result_json) : Json();
  json["result_repr"] = outcome.result_repr ? Json(*outcome.result_repr) : Json();
  json["stdout"] = outcome.stdout_stream.text;
  json["stderr"] = outcome.stderr_stream.text;
  json["exit_code"] = outcome.exit_code ? Json(*outcome.exit_code) : Json();
  json["execution_time"] = Seconds(outcome.usage.wall_time);
  json["variables"] = outcome.variables;
  json["error"] = outcome.error ? ToJson(*outcome.error) : Json();
  json["findings"] = ToJson(outcome.findings);
  json["usage"] = {{"wall_time", Seconds(outcome.usage.wall_time)},
                   {"cpu_time", Seconds(outcome.usage.cpu_time)},
                   {"max_rss_bytes", outcome.usage.max_rss_bytes}};
  json["truncated"] = Truncation(outcome);
  json["limits"] = ToJson(outcome.limits);
  json["isolation"] = ToJson(outcome.isolation);
  json["security_events"] = Json::array();
  for (const SecurityEvent& event : outcome.security_events) {
    json["security_events"].push_back({{"layer", event.layer},
                                       {"action", event.action},
                                       {"detail", event.detail},
                                       {"count", event.count}});
  }
  json["artifacts"] = ListOf(outcome.artifacts);
  json["artifacts_note"] = OrNull(outcome.artifacts_note);
  json["network"] = ListOf(outcome.network);
  json["container"] = outcome.container ? ToJson(*outcome.container) : Json();
  return Dump(json, indent);
}

std::string LimitsToJson(const Limits& limits) { return Dump(ToJson(limits), -1); }

std::string FindingsToJson(const std::vector<Finding>& findings, int indent) {
  return Dump(ToJson(findings), indent);
}

}  // namespace belljar
