// Error codes in addition to those of JSON-RPC (server/json_rpc/message.h).
#ifndef BELLJAR_SERVER_MCP_ERROR_CODE_H_
#define BELLJAR_SERVER_MCP_ERROR_CODE_H_

namespace belljar::server::mcp {

// Defined by revision 2026-07-28.
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedProtocolVersion = -32022;

// Unknown resource, in earlier revisions; later ones use kInvalidParams.
inline constexpr int kResourceNotFound = -32002;

// Belljar's own, from the range reserved for servers: too many calls. `data.retry_after` is the
// number of seconds after which to retry.
inline constexpr int kOverloaded = -32050;

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_ERROR_CODE_H_
