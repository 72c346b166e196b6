// OpenedSession: a session of the engine as kept by the server, with its sandbox and the settings
// fixed when it was opened.
#ifndef BELLJAR_SERVER_TOOLS_OPENED_SESSION_H_
#define BELLJAR_SERVER_TOOLS_OPENED_SESSION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/packages/session_packages.h"
#include "engine/commands/command.h"
#include "engine/core/limits.h"
#include "engine/outside/sandbox.h"
#include "server/core/session_registry.h"
#include "server/tools/sandboxes.h"

namespace belljar::server::tools {

// Applies to all cells of a session.
struct SessionTerms {
  const EnabledProfile* profile = nullptr;
  core::Limits limits;  // the limits of its cells, except for timeouts that they request
  std::optional<ModuleList> allowed_imports;
  std::optional<std::vector<std::string>> allowed_domains;
  bool in_container = false;
};

// Whether its sessions run commands instead of cells.
inline bool RunsCommands(const core::Profile& profile) {
  return profile.program && profile.program->commands;
}

class OpenedSession final : public RegisteredSession {
 public:
  // `sandbox` has opened the session. The server may have replaced its own since; this one is kept
  // here.
  OpenedSession(SessionTerms terms, std::shared_ptr<outside::Sandbox> sandbox,
                std::shared_ptr<sessions::Session> session,
                const OpenedSession* branch_of = nullptr)
      : terms_(std::move(terms)),
        branch_of_(branch_of ? branch_of->id() : ""),
        sandbox_(std::move(sandbox)),
        session_(std::move(session)),
        family_(branch_of ? branch_of->family() : session_->id()) {
    if (branch_of) packages_ = branch_of->packages_;
  }

  const std::string& id() const override { return session_->id(); }
  std::string ended() const override { return session_->closed(); }
  void Close(const std::string& why) override { session_->Close(why); }
  uint64_t family_memory() const override { return session_->info().memory_bytes; }
  const std::string& family() const override { return family_; }
  bool is_running() const override { return running_commands() > 0; }

  const SessionTerms& terms() const { return terms_; }
  const EnabledProfile& profile() const { return *terms_.profile; }
  const std::shared_ptr<outside::Sandbox>& sandbox() const { return sandbox_; }
  sessions::Session& session() const { return *session_; }
  container::packages::SessionPackages& packages() { return packages_; }
  const std::string& branch_of() const { return branch_of_; }  // empty: not a branch
  size_t running_commands() const {
    if (!RunsCommands(terms_.profile->profile)) return 0;
    const auto commands = session_->Commands();
    return static_cast<size_t>(std::ranges::count_if(commands, [](const auto& each) {
      return each->status().state == commands::CommandState::kRunning;
    }));
  }

 private:
  const SessionTerms terms_;
  const std::string branch_of_;
  const std::shared_ptr<outside::Sandbox> sandbox_;  // outlives the session
  const std::shared_ptr<sessions::Session> session_;
  const std::string family_;  // the id of the session from which the whole family branched
  container::packages::SessionPackages packages_;  // of its commands
};

// Precondition: the session was opened by a tool.
inline const std::string& ProfileOf(const RegisteredSession& session) {
  return static_cast<const OpenedSession&>(session).profile().profile.name;
}

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_OPENED_SESSION_H_
