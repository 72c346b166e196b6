// The envelope: determines the era of a request and checks that its headers match it. Follows
// revision 2026-07-28, "Streamable HTTP" and "Versioning".
#ifndef BELLJAR_SERVER_MCP_ENVELOPE_H_
#define BELLJAR_SERVER_MCP_ENVELOPE_H_

#include <optional>
#include <variant>

#include "server/core/exchange.h"
#include "server/json_rpc/message.h"

namespace belljar::server::mcp {

enum class Era { kHandshake, kStateless };

// An error means that the message itself is invalid: over HTTP, status 400.
std::variant<Era, json_rpc::RpcError> JudgeEnvelope(const json_rpc::RpcMessage& message,
                                                    const std::optional<MessageHeaders>& headers);

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_ENVELOPE_H_
