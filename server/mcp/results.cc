#include "server/mcp/results.h"

#include <nlohmann/json.hpp>

#include "server/json_rpc/message.h"
#include "server/mcp/icon.h"
#include "server/mcp/revision.h"

namespace belljar {
namespace {

using Json = nlohmann::ordered_json;

// How long clients may keep what does not change while the server runs, in milliseconds.
constexpr int kLifetime = 300'000;

Json Icons() {
  return Json::array({{{"src", kIconUri}, {"mimeType", kIconMediaType}, {"sizes", {"any"}}}});
}

Json Capabilities() { return {{"tools", {{"listChanged", false}}}}; }

Json ToJson(const ToolDescription& tool) {
  Json json = {{"name", tool.name},
               {"title", tool.title},
               {"description", tool.description},
               {"inputSchema", tool.input_schema},
               {"outputSchema", tool.output_schema}};
  json["annotations"] = {{"title", tool.title},
                         {"readOnlyHint", tool.read_only},
                         {"destructiveHint", tool.destructive},
                         {"idempotentHint", tool.idempotent},
                         {"openWorldHint", tool.open_world}};
  json["icons"] = Icons();
  return json;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The members of `json`, an object, without its braces.
std::string Members(const Json& json) {
  const std::string text = Dump(json);
  return text.substr(1, text.size() - 2);
}

}  // namespace

Results::Results(const ServerIdentity& identity, const std::vector<std::unique_ptr<Tool>>& tools) {
  const Json info = {{"name", identity.name},
                     {"title", identity.title},
                     {"version", identity.version},
                     {"icons", Icons()}};
  info_ = Dump(info);
  instructions_ = identity.instructions;
  const Json short_info = {{"name", identity.name}, {"version", identity.version}};
  stateless_prefix_ = "{" +
                      Members({{"resultType", "complete"},
                               {"_meta", {{"io.modelcontextprotocol/serverInfo", short_info}}}}) +
                      ",";
  const Json cached = {{"ttlMs", kLifetime}, {"cacheScope", "private"}};
  Json list = Json::array();
  for (const auto& tool : tools) list.push_back(ToJson(tool->description()));
  const std::string tools_member = Members({{"tools", std::move(list)}});
  tool_list_ = "{" + tools_member + "}";
  stateless_tool_list_ = stateless_prefix_ + Members(cached) + "," + tools_member + "}";

  Json revisions = Json::array({kStatelessRevision});
  for (const std::string_view revision : kHandshakeRevisions) revisions.push_back(revision);
  Json discover = {{"resultType", "complete"},
                   {"_meta", {{"io.modelcontextprotocol/serverInfo", info}}},
                   {"supportedVersions", std::move(revisions)},
                   {"capabilities", Capabilities()},
                   {"instructions", identity.instructions}};
  discover.update(cached);
  discover_ = Dump(discover);
}

std::string Results::Initialize(std::string_view requested) const {
  const std::string_view revision =
      IsHandshakeRevision(requested) ? requested : kHandshakeRevisions.front();
  return R"({"protocolVersion":)" + JsonString(revision) + R"(,"capabilities":)" +
         Dump(Capabilities()) + R"(,"serverInfo":)" + info_ + R"(,"instructions":)" +
         JsonString(instructions_) + "}";
}

std::string Results::Call(Era era, const ToolResult& result) const {
  const std::string& said = result.structured.empty() ? result.message : result.structured;
  std::string text = era == Era::kStateless ? stateless_prefix_ : "{";
  text.reserve(text.size() + 2 * said.size() + result.structured.size() + 128);
  text += R"("content":[{"type":"text","text":)";
  text += JsonString(said);
  text += "}]";
  if (!result.structured.empty()) {
    text += R"(,"structuredContent":)";
    text += result.structured;
  }
  text += result.is_error ? R"(,"isError":true})" : R"(,"isError":false})";
  return text;
}

}  // namespace belljar
