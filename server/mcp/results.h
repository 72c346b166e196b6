// The texts of MCP results, each made once where it can be.
#ifndef BELLJAR_SERVER_MCP_RESULTS_H_
#define BELLJAR_SERVER_MCP_RESULTS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/tool.h"
#include "server/mcp/envelope.h"

namespace belljar {

// What the server says of itself.
struct ServerIdentity {
  std::string name = "belljar";
  std::string title = "Belljar";
  std::string version;
  std::string instructions;  // for the model: what the tools are for and how to use them
};

class Results {
 public:
  Results(const ServerIdentity& identity, const std::vector<std::unique_ptr<Tool>>& tools);

  // `requested`: the revision that the client asked for; the answer has it, or our newest.
  std::string Initialize(std::string_view requested) const;
  const std::string& Discover() const { return discover_; }
  const std::string& ToolList(Era era) const {
    return era == Era::kHandshake ? tool_list_ : stateless_tool_list_;
  }
  std::string Call(Era era, const ToolResult& result) const;

 private:
  std::string info_;  // JSON: name, title, version, icons
  std::string instructions_;
  // What every result of the stateless era begins with: ends in a comma.
  std::string stateless_prefix_;
  std::string discover_;
  std::string tool_list_;
  std::string stateless_tool_list_;
};

}  // namespace belljar

#endif  // BELLJAR_SERVER_MCP_RESULTS_H_
