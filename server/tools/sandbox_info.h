// get_sandbox_info: what code may use here and what contains it. Answered from data collected at
// startup, without a worker.
#ifndef BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
#define BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

class SandboxInfo final : public Tool {
 public:
  // `catalogue` is borrowed for the call; `sandboxes` must outlive this object. Probes this
  // machine.
  SandboxInfo(Sandboxes& sandboxes, const profiles::ProfileCatalogue& catalogue,
              const AnswersConfig& answers);

  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return false; }
  core::Result<ToolResult> Call(const ToolCall& call) override;

 private:
  // One profile as in security_profiles.
  struct Entry {
    std::string name;
    const EnabledProfile* enabled = nullptr;  // null: not enabled
    nlohmann::ordered_json facts;             // in full
    nlohmann::ordered_json withheld;          // for callers who may not use it
    std::string full_text;                    // likewise, as members of a JSON object
    std::string withheld_text;
  };

  bool IsWithheld(const Entry& entry, const Caller& caller) const;
  const nlohmann::ordered_json& FactsFor(const Entry& entry, const Caller& caller) const;

  // Empty if the caller may not use it.
  nlohmann::ordered_json ModulesOfBasic(const Caller& caller) const;

  // The two forms of the answer.
  ToolResult Full(const Caller& caller) const;
  ToolResult Lean(const Caller& caller) const;
  ToolResult OfProfiles(const std::string& name, const Caller& caller) const;
  ToolResult OfModule(const std::string& name, const Caller& caller) const;

  Sandboxes& sandboxes_;
  const AnswersConfig answers_;
  const ParameterTable parameters_;
  const ToolDescription description_;
  std::vector<Entry> entries_;
  nlohmann::ordered_json rest_;  // members that are the same for all callers
  std::string rest_text_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SANDBOX_INFO_H_
