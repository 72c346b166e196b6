// The icon that clients show for the server and its tools.
#ifndef BELLJAR_SERVER_MCP_ICON_H_
#define BELLJAR_SERVER_MCP_ICON_H_

#include <string_view>

namespace belljar::server::mcp {

// An SVG image as a data URI, so clients need not fetch anything.
extern const std::string_view kIconUri;
inline constexpr std::string_view kIconMediaType = "image/svg+xml";

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_ICON_H_
