// The tools of a server, in the order in which clients see them.
//
//   auto sandboxes = Sandboxes::Open(config.execution, catalogue);
//   auto tools = MakeTools(**sandboxes, catalogue, config.answers, resources, &metrics, &sessions);
#ifndef BELLJAR_SERVER_TOOLS_TOOLS_H_
#define BELLJAR_SERVER_TOOLS_TOOLS_H_

#include <memory>
#include <vector>

#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/core/resource_store.h"
#include "server/core/session_registry.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

// execute_code, validate_code, get_sandbox_info, read_output and, if there are `sessions`,
// open_session, list_sessions, close_session, checkpoint and session_files, besides run_command and
// exchange where languages are enabled that they are for. `sandboxes`, `resources`, `observer` and
// `sessions`, the latter two of which may be null, must outlive them; `catalogue` need not.
std::vector<std::unique_ptr<Tool>> MakeTools(Sandboxes& sandboxes,
                                             const profiles::ProfileCatalogue& catalogue,
                                             const AnswersConfig& answers, ResourceStore& resources,
                                             CallObserver* observer,
                                             SessionRegistry* sessions = nullptr);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_TOOLS_H_
