#include "server/mcp/elicitation.h"

#include <nlohmann/json.hpp>

namespace belljar::server::mcp {
namespace {

using Json = nlohmann::json;

constexpr char kField[] = "input";

}  // namespace

// An empty object has always meant form mode.
bool CanBeAsked(const Json& capabilities) {
  if (!capabilities.is_object()) return false;
  const auto declared = capabilities.find("elicitation");
  return declared != capabilities.end() && declared->is_object() &&
         (declared->empty() || declared->contains("form"));
}

// Its reader must not take the prompt for a question of the server.
std::string QuestionText(uint64_t id, const std::string& prompt) {
  const Json field = {{"type", "string"}, {"title", "Input"}};
  const Json params = {{"mode", "form"},
                       {"message", "The program in the sandbox asks for a line of input" +
                                       (prompt.empty() ? std::string(".") : ": " + prompt)},
                       {"requestedSchema",
                        {{"type", "object"},
                         {"properties", {{kField, field}}},
                         {"required", Json::array({kField})}}}};
  const Json question = {
      {"jsonrpc", "2.0"}, {"id", id}, {"method", "elicitation/create"}, {"params", params}};
  return question.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> LineIn(const Json& result) {
  if (!result.is_object() || result.value("action", Json()) != "accept") return std::nullopt;
  const auto content = result.find("content");
  if (content == result.end() || !content->is_object()) return std::nullopt;
  const auto line = content->find(kField);
  if (line == content->end() || !line->is_string()) return std::nullopt;
  return line->get<std::string>();
}

}  // namespace belljar::server::mcp
