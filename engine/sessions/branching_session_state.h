// The parts of a BranchingSession; only for its own sources (branching_session.cc and
// session_*.cc).
#ifndef BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_STATE_H_
#define BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_STATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/fd.h"
#include "engine/sessions/branching_session.h"
#include "engine/workers/session_family.h"
#include "engine/workers/worker.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::sessions {

struct BranchingSession::Held {
  std::string id;
  uint64_t number = 0;  // number within its family
  uint64_t cell = 0;
  std::string label;
  std::string parent;
  std::chrono::system_clock::time_point made;
  uint64_t resident = 0;  // bytes, when it was created
  workspace::WorkspaceSnapshot files;
  // Several sessions may be rolled back to it.
  bool is_shared = false;
  // Its process was woken, but could not be used then. It can still be copied.
  bool is_awake = false;
  // Used by the family, under its own mutex. Empty while the session that was rolled back to it is
  // still in its state, and so will create another copy.
  workers::Worker process;
};

struct BranchingSession::Shared {
  std::shared_ptr<workers::SessionFamily> family;
  core::UniqueFd workspace;
  core::UniqueFd egress;
  uint64_t first_resident = 0;  // bytes, of the worker before its first cell

  std::atomic<uint64_t> checkpoints = 0;  // created so far
  std::atomic<size_t> sessions = 0;       // open

  // Held during a cell if there is a workspace or an egress proxy: a family has only one of each.
  std::recursive_mutex resources;
  const BranchingSession* files_of = nullptr;  // the session whose files the workspace has

  bool has_resources() const { return workspace || egress; }
};

struct BranchingSession::Spent {
  std::optional<workers::Worker> worker;
  std::deque<std::shared_ptr<Held>> held;
  std::shared_ptr<Held> base;
  std::shared_ptr<workers::SessionFamily> family;  // ends with this session

  ~Spent() {
    if (family) family->Finish();
    // The family no longer reaps the others: the kernel has ended them.
  }
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_BRANCHING_SESSION_STATE_H_
