#include "server/mcp/envelope.h"

#include <string>
#include <string_view>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "server/mcp/error_code.h"
#include "server/mcp/revision.h"

namespace belljar::server::mcp {
namespace {

using Json = nlohmann::json;

constexpr char kVersionKey[] = "io.modelcontextprotocol/protocolVersion";
constexpr char kCapabilitiesKey[] = "io.modelcontextprotocol/clientCapabilities";

json_rpc::RpcError InvalidEnvelope(std::string message) {
  return {json_rpc::kInvalidParams, std::move(message), {}};
}

json_rpc::RpcError Mismatch(std::string message) {
  return {kHeaderMismatch, std::move(message), {}};
}

json_rpc::RpcError Unsupported(std::string_view requested) {
  Json supported = Json::array({kStatelessRevision});
  for (const std::string_view revision : kHandshakeRevisions) supported.push_back(revision);
  return {kUnsupportedProtocolVersion,
          "unsupported protocol version " + core::Quoted(requested),
          {{"supported", std::move(supported)}, {"requested", requested}}};
}

// A header's value: verbatim, or "=?base64?…?=" if the name cannot be sent in a header.
std::optional<std::string> HeaderText(const std::string& header) {
  constexpr std::string_view kPrefix = "=?base64?", kSuffix = "?=";
  std::string_view text = header;
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix) ||
      text.size() < kPrefix.size() + kSuffix.size()) {
    return header;
  }
  text.remove_prefix(kPrefix.size());
  text.remove_suffix(kSuffix.size());
  return host::DecodeBase64(text);
}

// Checks one mirrored value: the header must be present and equal to the value in the body.
std::optional<json_rpc::RpcError> CompareHeader(const char* name,
                                                const std::optional<std::string>& header,
                                                const std::string& body) {
  if (!header) return Mismatch(std::string("the header ") + name + " is missing");
  const std::optional<std::string> text = HeaderText(*header);
  if (!text) return Mismatch(std::string("the header ") + name + " is not valid base64");
  if (*text == body) return std::nullopt;
  return Mismatch(std::string("the header ") + name + " is " + core::Quoted(*text) +
                  ", but the message has " + core::Quoted(body));
}

std::optional<json_rpc::RpcError> CompareHeaders(const json_rpc::RpcMessage& message,
                                                 const MessageHeaders& headers) {
  if (auto mismatch = CompareHeader("Mcp-Method", headers.method, message.method)) return mismatch;
  const char* const key = message.method == "tools/call"       ? "name"
                          : message.method == "resources/read" ? "uri"
                                                               : nullptr;
  if (!key) return std::nullopt;
  const Json name = message.params.value(key, Json());
  // Requests without a name are rejected later.
  if (!name.is_string()) return std::nullopt;
  return CompareHeader("Mcp-Name", headers.name, name.get_ref<const std::string&>());
}

// For a message whose `_meta` names no revision.
std::variant<Era, json_rpc::RpcError> JudgeBare(const std::optional<MessageHeaders>& headers) {
  if (!headers || !headers->protocol_version) return Era::kHandshake;
  const std::string& revision = *headers->protocol_version;
  if (IsHandshakeRevision(revision)) return Era::kHandshake;
  if (revision != kStatelessRevision) return Unsupported(revision);
  return InvalidEnvelope(std::string("params._meta must have ") + kVersionKey);
}

}  // namespace

std::variant<Era, json_rpc::RpcError> JudgeEnvelope(const json_rpc::RpcMessage& message,
                                                    const std::optional<MessageHeaders>& headers) {
  const Json meta = message.params.is_object() ? message.params.value("_meta", Json()) : Json();
  if (!meta.is_null() && !meta.is_object()) {
    return InvalidEnvelope("params._meta must be an object");
  }
  if (!meta.contains(kVersionKey)) {
    // This method exists only in the stateless era.
    if (message.method == "server/discover") {
      return InvalidEnvelope(std::string("params._meta must have ") + kVersionKey);
    }
    return JudgeBare(headers);
  }
  if (!meta[kVersionKey].is_string()) {
    return InvalidEnvelope(std::string("params._meta: ") + kVersionKey + " must be a string");
  }
  const auto& revision = meta[kVersionKey].get_ref<const std::string&>();
  const bool is_request = message.kind == json_rpc::RpcMessage::Kind::kRequest;
  if (headers && (is_request || headers->protocol_version)) {
    if (auto mismatch =
            CompareHeader("MCP-Protocol-Version", headers->protocol_version, revision)) {
      return *mismatch;
    }
  }
  if (revision != kStatelessRevision) return Unsupported(revision);
  if (!is_request) return Era::kStateless;
  if (!meta.contains(kCapabilitiesKey) || !meta[kCapabilitiesKey].is_object()) {
    return InvalidEnvelope(std::string("params._meta must have ") + kCapabilitiesKey +
                           ", an object");
  }
  if (headers) {
    if (auto mismatch = CompareHeaders(message, *headers)) return *mismatch;
  }
  return Era::kStateless;
}

}  // namespace belljar::server::mcp
