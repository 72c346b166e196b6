// Protocol revisions. Up to 2025-11-25 a client begins with `initialize`; from 2026-07-28 on each
// request is self-contained and carries its revision in `_meta`.
#ifndef BELLJAR_SERVER_MCP_REVISION_H_
#define BELLJAR_SERVER_MCP_REVISION_H_

#include <algorithm>
#include <array>
#include <string_view>

namespace belljar::server::mcp {

inline constexpr std::string_view kStatelessRevision = "2026-07-28";
// Newest first.
inline constexpr std::array<std::string_view, 4> kHandshakeRevisions = {"2025-11-25", "2025-06-18",
                                                                        "2025-03-26", "2024-11-05"};

inline bool IsHandshakeRevision(std::string_view revision) {
  return std::find(kHandshakeRevisions.begin(), kHandshakeRevisions.end(), revision) !=
         kHandshakeRevisions.end();
}

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_REVISION_H_
