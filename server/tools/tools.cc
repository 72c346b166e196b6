#include "server/tools/tools.h"

#include "server/tools/checkpoint_tool.h"
#include "server/tools/exchange.h"
#include "server/tools/execute_code.h"
#include "server/tools/read_output.h"
#include "server/tools/run_command.h"
#include "server/tools/sandbox_info.h"
#include "server/tools/session_files.h"
#include "server/tools/session_tools.h"
#include "server/tools/validate_code.h"

namespace belljar::server::tools {

std::vector<std::unique_ptr<Tool>> MakeTools(Sandboxes& sandboxes,
                                             const profiles::ProfileCatalogue& catalogue,
                                             const AnswersConfig& answers, ResourceStore& resources,
                                             CallObserver* observer, SessionRegistry* sessions) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<ExecuteCode>(sandboxes, catalogue.installation(), answers,
                                                resources, sessions, observer));
  tools.push_back(std::make_unique<ValidateCode>(sandboxes, answers, observer));
  tools.push_back(std::make_unique<SandboxInfo>(sandboxes, catalogue, answers));
  tools.push_back(std::make_unique<ReadOutput>(answers, resources));
  if (!sessions) return tools;
  tools.push_back(std::make_unique<OpenSession>(sandboxes, *sessions, observer));
  tools.push_back(std::make_unique<ListSessions>(*sessions));
  tools.push_back(std::make_unique<CloseSession>(*sessions, observer));
  tools.push_back(std::make_unique<CheckpointTool>(*sessions, observer));
  tools.push_back(
      std::make_unique<SessionFiles>(sandboxes, *sessions, answers, resources, observer));
  if (RunCommand::IsOffered(sandboxes)) {
    tools.push_back(
        std::make_unique<RunCommand>(sandboxes, *sessions, answers, resources, observer));
  }
  if (!sandboxes.languages().empty()) {
    tools.push_back(std::make_unique<Exchange>(sandboxes, *sessions, observer));
  }
  return tools;
}

}  // namespace belljar::server::tools
