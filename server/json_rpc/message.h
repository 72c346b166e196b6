// JSON-RPC 2.0: parses and formats messages. Independent of MCP and of the transport.
#ifndef BELLJAR_SERVER_JSON_RPC_MESSAGE_H_
#define BELLJAR_SERVER_JSON_RPC_MESSAGE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace belljar::server::json_rpc {

// Section 5.1 of the JSON-RPC 2.0 specification.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

struct RpcMessage {
  enum class Kind { kRequest, kNotification, kResponse };
  Kind kind = Kind::kRequest;
  nlohmann::json id;  // a string or an integer; null for a notification, and anything of a response
  std::string method;
  nlohmann::json params;  // an object, or null if absent
  nlohmann::json result;  // of a response; null: it is an error
};

struct RpcError {
  int code = kInternalError;
  std::string message;
  nlohmann::json data;  // null: none
};

// The error for an invalid message, with the id to answer under (null if unknown).
struct RpcRefusal {
  nlohmann::json id;
  RpcError error;
};

// Deeper nesting is refused during parsing, before anything is stored.
inline constexpr int kMaxMessageDepth = 64;

// For ids that are strings, and for progress tokens, which follow the same rules. An id is repeated
// in the answer and a progress token in every notification, so long ones would amplify the client's
// input.
inline constexpr size_t kMaxIdBytes = 256;
bool IsId(const nlohmann::json& id);

// One message. Batches are refused: protocol revision 2025-06-18 removed them.
std::variant<RpcMessage, RpcRefusal> ParseMessage(std::string_view text);

// One JSON text without a newline. `result` and `params` are JSON texts.
std::string ResultText(const nlohmann::json& id, std::string_view result);
std::string ErrorText(const nlohmann::json& id, const RpcError& error);
std::string NotificationText(std::string_view method, std::string_view params);

// `text` as a JSON string, including the quotes; invalid UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace belljar::server::json_rpc

#endif  // BELLJAR_SERVER_JSON_RPC_MESSAGE_H_
