// Shared by the tools that use sessions: their arguments, opening a session, finding the session of
// a call, and what a model is told when that fails.
#ifndef BELLJAR_SERVER_TOOLS_SESSION_CALLS_H_
#define BELLJAR_SERVER_TOOLS_SESSION_CALLS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sessions/session.h"
#include "server/calls/observer.h"
#include "server/calls/tool.h"
#include "server/core/session_registry.h"
#include "server/tools/arguments.h"
#include "server/tools/opened_session.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

inline constexpr char kCancelledOpening[] = "the call that opened it was cancelled";

// `session` of the tools other than execute_code.
Parameter SessionParameter();
// `wait`: how long a call waits for its turn.
Parameter WaitParameter();
sessions::Patience TakePatience(const Arguments& arguments);
// The same timeout, which ends when the call is cancelled. An error is this machine's.
core::Result<sessions::Patience> TakePatience(const Arguments& arguments, const ToolCall& call);

// A call's use of a session, which belongs to its caller. The session is kept until this is
// destroyed and the deferred work of the call is done.
class SessionUse {
 public:
  // Opens one. An error without a number is a sentence for the caller.
  static core::Result<SessionUse> Open(Sandboxes& sandboxes, SessionRegistry& registry,
                                       CallObserver* observer, const SessionTerms& terms,
                                       const ToolCall& call);
  // An error is a sentence for the caller.
  static core::Result<SessionUse> Find(SessionRegistry& registry, const std::string& id,
                                       const ToolCall& call);
  // Gives it a kernel for cells in the language of `profile`, if it has none. An error without a
  // number is a sentence for the caller.
  core::Result<void> AddKernel(Sandboxes& sandboxes, const SessionRegistry& registry,
                               const EnabledProfile& profile, const ToolCall& call) const;
  // Registers sessions branched off `parent`, using one of the places for each.
  static std::vector<SessionUse> Adopt(SessionRegistry& registry, SessionRegistry::Places& places,
                                       const SessionUse& parent,
                                       std::vector<std::shared_ptr<sessions::Session>> branches);

  OpenedSession& operator*() const { return static_cast<OpenedSession&>(**use_); }
  OpenedSession* operator->() const { return &**this; }

 private:
  SessionUse(SessionRegistry::Use use, const ToolCall* call);

  // Shared, so that deferred work can keep it.
  std::shared_ptr<const SessionRegistry::Use> use_;
};

// A session for one call, which nobody else can name. The call closes it.
core::Result<std::shared_ptr<OpenedSession>> OpenAlone(Sandboxes& sandboxes,
                                                       const SessionRegistry& registry,
                                                       const SessionTerms& terms,
                                                       const ToolCall& call);

// The profile for cells of a session in another language than its own. An error is a sentence for
// the caller.
core::Result<const EnabledProfile*> ChooseKernel(Sandboxes& sandboxes, const std::string& language,
                                                 const SessionTerms& terms, const Caller& caller);

// For the operator's log.
void RecordSession(CallObserver* observer, std::string_view action, const Caller& caller,
                   const OpenedSession& session, std::string_view detail = "");

// Whether an engine error about a session is the caller's: the session is busy, has closed
// meanwhile, has no such checkpoint or file, or the like. Any other error is this machine's.
bool IsCallersFault(const core::Error& error, const OpenedSession& session);

// What the caller is told about such an error. `registry` knows more about a closed session.
ToolResult SessionFailed(std::string_view tool, const core::Error& error,
                         const OpenedSession& session, SessionRegistry& registry,
                         const Caller& caller, const sessions::Patience& patience);

// Likewise for a call that runs no code. A failure of this machine is reported to the observer,
// which may be null.
ToolResult SessionFailed(std::string_view tool, const core::Error& error,
                         const OpenedSession& session, SessionRegistry& registry,
                         const ToolCall& call, const sessions::Patience& patience,
                         CallObserver* observer);

// The session could not be opened.
ToolResult NotOpened(std::string_view tool, const SessionTerms& terms, const core::Error& error);

// A text-only answer about an error of the caller's.
ToolResult RefusedCall(std::string_view tool, std::string sentence,
                       ToolResult::Fault fault = ToolResult::Fault::kConflict);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_SESSION_CALLS_H_
