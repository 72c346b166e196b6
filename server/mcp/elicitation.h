// Elicitation: how an MCP client is asked for a line of a program's input, with the request
// elicitation/create in form mode (MCP 2025-11-25, client features).
#ifndef BELLJAR_SERVER_MCP_ELICITATION_H_
#define BELLJAR_SERVER_MCP_ELICITATION_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace belljar::server::mcp {

// Whether the client can be asked, by the capabilities that it declared.
bool CanBeAsked(const nlohmann::json& capabilities);

// The request. `prompt` is the program's.
std::string QuestionText(uint64_t id, const std::string& prompt);

// The line in the result of the client's response; nullopt: it has none, and the input ends.
std::optional<std::string> LineIn(const nlohmann::json& result);

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_ELICITATION_H_
