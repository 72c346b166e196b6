// What the tools that take code have in common: the parameters `code` and `profile`, and what they
// do before and after a worker has run.
#ifndef BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_
#define BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_

#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "server/core/observer.h"
#include "server/core/tool.h"
#include "server/tools/arguments.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

Parameter CodeParameter(const Sandboxes& sandboxes, std::string description);
Parameter ProfileParameter(const Sandboxes& sandboxes);

// Null, with a problem added, when the call may not have the profile that it names, or its code is
// longer than that profile takes.
const EnabledProfile* ChooseProfile(Sandboxes& sandboxes, const Arguments& arguments,
                                    const Caller& caller, std::vector<std::string>& problems);

// Runs the request in the profile's sandbox; in a container of `in_container`, where that is one.
// `sink` may be null. A call that is cancelled already
// is killed before it takes a worker.
core::Result<host::Outcome> Run(Sandboxes& sandboxes, const EnabledProfile& profile,
                                const host::Request& request, const outside::OutputSink* sink,
                                const ToolCall& call, const core::Profile* in_container = nullptr);

// Enters what has been run in the books, after the answer where the call lets it. `observer` may be
// null. `tool` is a literal.
void Record(CallObserver* observer, std::string_view tool, const ToolCall& call,
            const EnabledProfile& profile, host::Request request,
            core::Result<host::Outcome> outcome);

// "128 MiB", "1000 bytes": for descriptions, whose readers may not know our suffixes.
std::string SizeText(core::Bytes size);

ToolResult RefusedArguments(std::string_view tool, const std::vector<std::string>& problems);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CODE_PARAMETERS_H_
