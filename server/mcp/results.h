// The texts of MCP results; constant ones are built once.
#ifndef BELLJAR_SERVER_MCP_RESULTS_H_
#define BELLJAR_SERVER_MCP_RESULTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/calls/tool.h"
#include "server/mcp/envelope.h"

namespace belljar::server::mcp {

// How the server identifies itself.
struct ServerIdentity {
  std::string name = "belljar";
  std::string title = "Belljar";
  std::string version;
  std::string instructions;  // for the model: purpose and use of the tools
};

// What a client supports in results.
struct ClientFeatures {
  Era era = Era::kHandshake;
  bool knows_links = true;  // resource_link, since 2025-06-18
};

class Results {
 public:
  // `has_resources`: whether calls may leave resources that clients can read.
  Results(const ServerIdentity& identity, const std::vector<std::unique_ptr<Tool>>& tools,
          bool has_resources);

  // `requested`: the revision requested by the client; the answer names it, or our latest.
  std::string Initialize(std::string_view requested) const;
  const std::string& Discover() const { return discover_; }
  const std::string& ToolList(Era era) const {
    return era == Era::kHandshake ? tool_list_ : stateless_tool_list_;
  }
  std::string Call(const ClientFeatures& client, const ToolResult& result) const;
  // What calls left can only be reached by its links, so that clients learn nothing about others'
  // resources; the template describes such links, for gateways that pass on only what they know.
  std::string ResourceList(Era era) const;
  std::string ResourceTemplateList(Era era) const;
  std::string ResourceContents(Era era, const Resource& resource) const;

 private:
  // `list`: a JSON array.
  std::string CachedList(Era era, std::string_view name, std::string_view list) const;

  std::string info_;  // JSON: name, title, version, icons
  std::string instructions_;
  std::string capabilities_;
  // The start of every result in the stateless era; ends with a comma.
  std::string stateless_prefix_;
  // The same for results that clients may cache.
  std::string cached_prefix_;
  std::string discover_;
  std::string tool_list_;
  std::string stateless_tool_list_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_RESULTS_H_
