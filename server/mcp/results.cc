#include "server/mcp/results.h"

#include <nlohmann/json.hpp>

#include "engine/host/base64.h"
#include "server/json_rpc/message.h"
#include "server/mcp/icon.h"
#include "server/mcp/revision.h"

namespace belljar::server::mcp {
namespace {

using OrderedJson = nlohmann::ordered_json;

// How long clients may cache what does not change while the server runs, in milliseconds.
constexpr int kLifetime = 300'000;

// RFC 6570: + keeps the slashes of a path. ContextForge (1.0.7) supports only simple expressions,
// reads only text, and ignores templates after one that it does not support.
constexpr const char* kResultUri = "belljar://executions/{id}/{name}";
constexpr const char* kLeftByCall = "belljar://executions/{id}/{+path}";

OrderedJson Icons() {
  return OrderedJson::array(
      {{{"src", kIconUri}, {"mimeType", kIconMediaType}, {"sizes", {"any"}}}});
}

OrderedJson Capabilities(bool has_resources) {
  OrderedJson capabilities = {{"tools", {{"listChanged", false}}}};
  if (has_resources) capabilities["resources"] = {{"subscribe", false}, {"listChanged", false}};
  return capabilities;
}

OrderedJson ToJson(const ToolDescription& tool) {
  OrderedJson json = {{"name", tool.name},
                      {"title", tool.title},
                      {"description", tool.description},
                      {"inputSchema", tool.input_schema}};
  if (!tool.output_schema.is_null()) json["outputSchema"] = tool.output_schema;
  json["annotations"] = {{"title", tool.title},
                         {"readOnlyHint", tool.read_only},
                         {"destructiveHint", tool.destructive},
                         {"idempotentHint", tool.idempotent},
                         {"openWorldHint", tool.open_world}};
  return json;
}

std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// The members of the object `json`, without the braces.
std::string Members(const OrderedJson& json) {
  const std::string text = Dump(json);
  return text.substr(1, text.size() - 2);
}

// The members uri, mimeType and text or blob, without braces, for embedded resources and for
// resources/read.
std::string ContentsMembers(const Resource& resource) {
  std::string text = R"("uri":)" + json_rpc::JsonString(resource.uri) + R"(,"mimeType":)" +
                     json_rpc::JsonString(resource.media_type);
  if (resource.is_text) return text + R"(,"text":)" + json_rpc::JsonString(*resource.bytes);
  return text + R"(,"blob":")" + host::EncodeBase64(*resource.bytes) + "\"";
}

std::string TextBlock(std::string_view text) {
  return R"({"type":"text","text":)" + json_rpc::JsonString(text) + "}";
}

std::string LinkBlock(const Resource& resource, bool knows_links) {
  const std::string size = std::to_string(resource.bytes->size());
  if (!knows_links) {
    return TextBlock(resource.name + " (" + resource.media_type + ", " + size +
                     " bytes) can be read as resource " + resource.uri);
  }
  return R"({"type":"resource_link","uri":)" + json_rpc::JsonString(resource.uri) + R"(,"name":)" +
         json_rpc::JsonString(resource.name) + R"(,"mimeType":)" +
         json_rpc::JsonString(resource.media_type) + R"(,"size":)" + size + "}";
}

std::string Block(const Content& content, bool knows_links) {
  const Resource& resource = content.resource;
  switch (content.kind) {
    case Content::Kind::kImage:
      return R"({"type":"image","data":")" + host::EncodeBase64(*resource.bytes) +
             R"(","mimeType":)" + json_rpc::JsonString(resource.media_type) + "}";
    case Content::Kind::kEmbedded:
      return R"({"type":"resource","resource":{)" + ContentsMembers(resource) + "}}";
    case Content::Kind::kLink: return LinkBlock(resource, knows_links);
  }
  abort();
}

}  // namespace

Results::Results(const ServerIdentity& identity, const std::vector<std::unique_ptr<Tool>>& tools,
                 bool has_resources) {
  const OrderedJson info = {{"name", identity.name},
                            {"title", identity.title},
                            {"version", identity.version},
                            {"icons", Icons()}};
  info_ = Dump(info);
  instructions_ = identity.instructions;
  capabilities_ = Dump(Capabilities(has_resources));
  const OrderedJson short_info = {{"name", identity.name}, {"version", identity.version}};
  stateless_prefix_ = "{" +
                      Members({{"resultType", "complete"},
                               {"_meta", {{"io.modelcontextprotocol/serverInfo", short_info}}}}) +
                      ",";
  const OrderedJson cached = {{"ttlMs", kLifetime}, {"cacheScope", "private"}};
  cached_prefix_ = stateless_prefix_ + Members(cached) + ",";
  OrderedJson list = OrderedJson::array();
  for (const auto& tool : tools) list.push_back(ToJson(tool->description()));
  const std::string tools_member = Members({{"tools", std::move(list)}});
  tool_list_ = "{" + tools_member + "}";
  stateless_tool_list_ = cached_prefix_ + tools_member + "}";

  OrderedJson revisions = OrderedJson::array({kStatelessRevision});
  for (const std::string_view revision : kHandshakeRevisions) revisions.push_back(revision);
  OrderedJson discover = {{"resultType", "complete"},
                          {"_meta", {{"io.modelcontextprotocol/serverInfo", info}}},
                          {"supportedVersions", std::move(revisions)},
                          {"capabilities", Capabilities(has_resources)},
                          {"instructions", identity.instructions}};
  discover.update(cached);
  discover_ = Dump(discover);
}

std::string Results::Initialize(std::string_view requested) const {
  const std::string_view revision =
      IsHandshakeRevision(requested) ? requested : kHandshakeRevisions.front();
  return R"({"protocolVersion":)" + json_rpc::JsonString(revision) + R"(,"capabilities":)" +
         capabilities_ + R"(,"serverInfo":)" + info_ + R"(,"instructions":)" +
         json_rpc::JsonString(instructions_) + "}";
}

std::string Results::Call(const ClientFeatures& client, const ToolResult& result) const {
  const std::string& said = result.text.empty() ? result.structured : result.text;
  std::string text = client.era == Era::kStateless ? stateless_prefix_ : "{";
  text.reserve(text.size() + 2 * said.size() + result.structured.size() + 128);
  text += R"("content":[)";
  text += TextBlock(said);
  for (const Content& content : result.contents) {
    text += ',';
    text += Block(content, client.knows_links);
  }
  text += "]";
  if (!result.structured.empty()) {
    text += R"(,"structuredContent":)";
    text += result.structured;
  }
  text += result.is_error ? R"(,"isError":true})" : R"(,"isError":false})";
  return text;
}

std::string Results::ResourceList(Era era) const { return CachedList(era, "resources", "[]"); }

std::string Results::ResourceTemplateList(Era era) const {
  const OrderedJson list = OrderedJson::array(
      {{{"uriTemplate", kResultUri},
        {"name", "text-of-a-call"},
        {"title", "Text left by a call"},
        {"description", "Long output (stdout.txt), a long value (result.json) or a text file."},
        {"mimeType", "text/plain"}},
       {{"uriTemplate", kLeftByCall},
        {"name", "left-by-a-call"},
        {"title", "Content left by a call"},
        {"description",
         "Likewise, and files of any kind, for 15 minutes. ?offset=N&length=N reads a part: "
         "characters of text, bytes of anything else."}}});
  return CachedList(era, "resourceTemplates", Dump(list));
}

std::string Results::CachedList(Era era, std::string_view name, std::string_view list) const {
  return (era == Era::kStateless ? cached_prefix_ : "{") + "\"" + std::string(name) +
         "\":" + std::string(list) + "}";
}

std::string Results::ResourceContents(Era era, const Resource& resource) const {
  return (era == Era::kStateless ? cached_prefix_ : "{") + R"("contents":[{)" +
         ContentsMembers(resource) + "}]}";
}

}  // namespace belljar::server::mcp
