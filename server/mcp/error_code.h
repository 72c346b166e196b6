// Error codes beside those of JSON-RPC itself (server/json_rpc/message.h).
#ifndef BELLJAR_SERVER_MCP_ERROR_CODE_H_
#define BELLJAR_SERVER_MCP_ERROR_CODE_H_

namespace belljar::server::mcp {

// Of revision 2026-07-28.
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedProtocolVersion = -32022;

// Of the revisions before that: there is no such resource. Since then it is kInvalidParams.
inline constexpr int kResourceNotFound = -32002;

// Our own, from the range that JSON-RPC leaves to servers: too many calls. `data.retry_after` says
// in how many seconds to try again.
inline constexpr int kOverloaded = -32050;

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_ERROR_CODE_H_
