// Branches: the live sessions of a prompt, by name. One of them is current.
#ifndef BELLJAR_CLI_REPL_BRANCHES_H_
#define BELLJAR_CLI_REPL_BRANCHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli::repl {

inline constexpr char kFirstBranch[] = "main";

struct Branch {
  std::string name;
  std::shared_ptr<sessions::Session> session;  // null until the first is open
  uint64_t cells = 0;                          // so far
};

// What a session starts with.
struct SessionStart {
  sessions::SessionOptions options;
  std::vector<host::InputFile> files;
};

class Branches {
 public:
  // One session, once it is opened; `sandbox` must outlive it.
  Branches(outside::Sandbox& sandbox, SessionStart start);
  Branches(Branches&&) = default;
  Branches& operator=(Branches&&) = delete;
  ~Branches();

  // Waits for the session, unless it is open. At a terminal the packages of a profile are loaded
  // while the first cell is typed. `cancel_fd`, if readable, ends the wait. Before anything that
  // uses a session.
  core::Result<void> EnsureOpen(int cancel_fd);

  Branch& current() { return *all_[current_]; }
  const std::vector<std::unique_ptr<Branch>>& all() const { return all_; }
  std::vector<std::string> Names() const;

  // Branches the current session as it is; the branch becomes the current one. An empty name: the
  // next free one.
  core::Result<void> Start(std::string name);
  core::Result<void> SwitchTo(const std::string& name);
  // A new session that replaces all of them.
  core::Result<void> Reset(int cancel_fd);

 private:
  core::Result<void> OpenFirst(int cancel_fd);
  const Branch* Find(const std::string& name) const;
  void CloseAll();

  outside::Sandbox* sandbox_;
  SessionStart start_;
  std::vector<std::unique_ptr<Branch>> all_;
  size_t current_ = 0;
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_BRANCHES_H_
