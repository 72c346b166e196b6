#include "server/tools/tools.h"

#include "server/tools/execute_code.h"
#include "server/tools/sandbox_info.h"
#include "server/tools/validate_code.h"

namespace belljar::server::tools {

std::vector<std::unique_ptr<Tool>> MakeTools(Sandboxes& sandboxes,
                                             const outside::ProfileCatalogue& catalogue,
                                             const AnswersConfig& answers, ResourceStore& resources,
                                             CallObserver* observer) {
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<ExecuteCode>(sandboxes, answers, resources, observer));
  tools.push_back(std::make_unique<ValidateCode>(sandboxes, answers, observer));
  tools.push_back(std::make_unique<SandboxInfo>(sandboxes, catalogue, answers));
  return tools;
}

}  // namespace belljar::server::tools
