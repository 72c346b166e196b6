// The texts of MCP results, each made once where it can be.
#ifndef BELLJAR_SERVER_MCP_RESULTS_H_
#define BELLJAR_SERVER_MCP_RESULTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/tool.h"
#include "server/mcp/envelope.h"

namespace belljar::server::mcp {

// What the server says of itself.
struct ServerIdentity {
  std::string name = "belljar";
  std::string title = "Belljar";
  std::string version;
  std::string instructions;  // for the model: what the tools are for and how to use them
};

// What a client can read of a result.
struct Reader {
  Era era = Era::kHandshake;
  bool knows_links = true;  // resource_link, since 2025-06-18
};

class Results {
 public:
  // `has_resources`: whether calls may leave something to read.
  Results(const ServerIdentity& identity, const std::vector<std::unique_ptr<Tool>>& tools,
          bool has_resources);

  // `requested`: the revision that the client asked for; the answer has it, or our newest.
  std::string Initialize(std::string_view requested) const;
  const std::string& Discover() const { return discover_; }
  const std::string& ToolList(Era era) const {
    return era == Era::kHandshake ? tool_list_ : stateless_tool_list_;
  }
  std::string Call(const Reader& reader, const ToolResult& result) const;
  // What calls leave is found by its link alone: the lists are empty, whoever asks.
  std::string ResourceList(Era era) const { return CachedList(era, "resources"); }
  std::string ResourceTemplateList(Era era) const { return CachedList(era, "resourceTemplates"); }
  std::string ResourceContents(Era era, const Resource& resource) const;

 private:
  std::string CachedList(Era era, std::string_view name) const;

  std::string info_;  // JSON: name, title, version, icons
  std::string instructions_;
  std::string capabilities_;
  // What every result of the stateless era begins with: ends in a comma.
  std::string stateless_prefix_;
  // The same of what clients may keep.
  std::string cached_prefix_;
  std::string discover_;
  std::string tool_list_;
  std::string stateless_tool_list_;
};

}  // namespace belljar::server::mcp

#endif  // BELLJAR_SERVER_MCP_RESULTS_H_
