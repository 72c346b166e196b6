#include "server/json_rpc/message.h"

#include <utility>

#include "engine/host/json_reader.h"

namespace belljar::server::json_rpc {
namespace {

using Json = nlohmann::json;

// Clients need a few hundred. Larger messages would block the single thread that reads for all
// clients.
constexpr host::JsonBounds kBounds{.depth = kMaxMessageDepth, .values = 10'000};

RpcRefusal Refuse(Json id, int code, std::string message) {
  return {std::move(id), {code, std::move(message), nullptr}};
}

RpcRefusal Invalid(const Json& id, std::string message) {
  return Refuse(IsId(id) ? id : Json(), kInvalidRequest, std::move(message));
}

std::variant<RpcMessage, RpcRefusal> Read(Json& json) {
  if (json.is_array()) {
    return Refuse(nullptr, kInvalidRequest,
                  "batches are not supported (revision 2025-06-18 removed them): send one message "
                  "at a time");
  }
  if (!json.is_object()) {
    return Refuse(nullptr, kInvalidRequest,
                  std::string("a message must be an object, not ") + json.type_name());
  }
  const Json id = json.value("id", Json());
  if (json.value("jsonrpc", Json()) != "2.0") {
    return Invalid(id, "the member \"jsonrpc\" must be \"2.0\"");
  }
  RpcMessage message;
  if (!json.contains("method")) {
    if (!json.contains("result") && !json.contains("error")) {
      return Invalid(id, "the member \"method\" is missing");
    }
    message.kind = RpcMessage::Kind::kResponse;
    message.id = id;
    if (json.contains("result")) message.result = std::move(json["result"]);
    return message;
  }
  if (!json["method"].is_string()) return Invalid(id, "the member \"method\" must be a string");
  if (json.contains("id")) {
    if (!IsId(id))
      return Invalid(id, "the member \"id\" must be an integer or a string of at most " +
                             std::to_string(kMaxIdBytes) + " bytes");
    message.id = id;
  } else {
    message.kind = RpcMessage::Kind::kNotification;
  }
  if (json.contains("params")) {
    if (!json["params"].is_object()) return Invalid(id, "the member \"params\" must be an object");
    message.params = std::move(json["params"]);
  }
  message.method = std::move(json["method"].get_ref<std::string&>());
  return message;
}

}  // namespace

// MCP does not allow null ids: a request's id is a string or an integer.
bool IsId(const nlohmann::json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kMaxIdBytes;
  return id.is_number_integer();
}

std::variant<RpcMessage, RpcRefusal> ParseMessage(std::string_view text) {
  host::JsonReading reading = host::ReadJson(text, kBounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) {
    return Refuse(nullptr, kParseError, host::Describe(*failure, kBounds));
  }
  return Read(std::get<Json>(reading));
}

std::string JsonString(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ResultText(const Json& id, std::string_view result) {
  std::string text = R"({"jsonrpc":"2.0","id":)";
  text += id.dump();
  text += R"(,"result":)";
  text += result;
  text += '}';
  return text;
}

std::string ErrorText(const Json& id, const RpcError& error) {
  Json json = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) json["data"] = error.data;
  return R"({"jsonrpc":"2.0","id":)" + id.dump() + R"(,"error":)" +
         json.dump(-1, ' ', false, Json::error_handler_t::replace) + "}";
}

std::string NotificationText(std::string_view method, std::string_view params) {
  std::string text = R"({"jsonrpc":"2.0","method":)";
  text += JsonString(method);
  text += R"(,"params":)";
  text += params;
  text += '}';
  return text;
}

}  // namespace belljar::server::json_rpc
