// Common parts of the tools that take code: the parameters `code`, `profile` and `detail`, and the
// steps before and after a worker runs.
#ifndef BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_
#define BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/config.h"
#include "server/tools/arguments.h"
#include "server/tools/opened_session.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

Parameter CodeParameter(const Sandboxes& sandboxes, std::string description);
Parameter ProfileParameter(const Sandboxes& sandboxes);
// `language`, listed if the operator has enabled one besides Python.
Parameter LanguageParameter(const Sandboxes& sandboxes);

// use_container, listed if the operator has enabled containers.
Parameter ContainerParameter(const Sandboxes& sandboxes, std::string description);

// `detail`: whether an answer is lean or has everything.
Parameter DetailParameter(const AnswersConfig& config, std::string description);
// Appends to `problems` if the argument is neither "lean" nor "full".
bool WantsFull(const AnswersConfig& config, const Arguments& arguments,
               std::vector<std::string>& problems);

// Whether a session is to run in a container; false, with a problem added, if that is not possible.
bool TakeContainer(const Arguments& arguments, const Sandboxes& sandboxes,
                   std::vector<std::string>& problems);

// Null, with a problem added, if the call may not use the profile that it names, or its code
// exceeds the limit of that profile; of another language, its profile. `opens_session`: other code
// will follow.
const EnabledProfile* ChooseProfile(Sandboxes& sandboxes, const Arguments& arguments,
                                    const Caller& caller, bool opens_session,
                                    std::vector<std::string>& problems);

// False, with a problem added, if the code exceeds the limit of the profile.
bool CheckCode(const EnabledProfile& profile, const Arguments& arguments,
               std::vector<std::string>& problems);

// Reports to the caller that a profile is being started by this call, until it has started, the
// call is cancelled, or Run would stop waiting. Failures are reported by Run. Precondition:
// call.on_status.
void ReportStart(outside::Sandbox& sandbox, const EnabledProfile& profile, const ToolCall& call);

// Runs the request in the profile's sandbox, or in a container for `in_container` if that is not
// null. `sink` may be null. A call that is already cancelled takes no worker. What the caller
// enters for it is its standard input afterwards.
core::Result<host::Outcome> Run(Sandboxes& sandboxes, const EnabledProfile& profile,
                                host::Request& request, const run::OutputSink* sink,
                                const ToolCall& call, const core::Profile* in_container = nullptr);

// Runs the request as a cell, of the profile of its language. An error of the engine about the
// session: SessionFault.
core::Result<host::Outcome> RunCell(Sandboxes& sandboxes, const OpenedSession& session,
                                    const EnabledProfile& profile, host::Request& request,
                                    const run::OutputSink* sink, const ToolCall& call,
                                    const sessions::Patience& patience);

// Reports the call to the observer, after the answer if the call supports it. `observer` may be
// null. `tool` must be a literal.
void Record(CallObserver* observer, std::string_view tool, const ToolCall& call,
            const EnabledProfile& profile, host::Request request,
            core::Result<std::shared_ptr<const host::Outcome>> outcome);

// "128 MiB", "1000 bytes": for descriptions, whose readers may not know the short suffixes.
std::string SizeText(core::Bytes size);

ToolResult RefusedArguments(std::string_view tool, const std::vector<std::string>& problems);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_
