// LiveSession: a sessions::Session for a process that may fork, be interrupted or exit at any time,
// as an interpreter may. Independent of Python. Functions either are called without the GIL or
// return at once.
//
// A forked child has the memory of a session, but none of its processes: there it is never used and
// never destroyed.
#ifndef BELLJAR_PYTHON_LIVE_SESSION_H_
#define BELLJAR_PYTHON_LIVE_SESSION_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/limits.h"
#include "engine/sessions/session.h"
#include "python/engine.h"

namespace belljar::python {

class LiveSession {
 public:
  // `limits`: those limits of its cells that differ from the profile's.
  LiveSession(std::shared_ptr<Engine> engine, std::shared_ptr<sessions::Session> session,
              core::RequestedLimits limits);
  LiveSession(const LiveSession&) = delete;
  ~LiveSession();

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  const core::RequestedLimits& limits() const { return limits_; }
  // The engine and the limits of cells in another language, which has been added. Empty: its own.
  struct Language {
    std::shared_ptr<Engine> engine;
    core::RequestedLimits limits;
  };
  Language LanguageOf(const std::string& name) const;
  // Once for each, before its kernel is used: it must live as long as that.
  void Add(const std::string& name, Language language);
  container::packages::SessionPackages& packages() { return packages_; }
  const container::packages::SessionPackages& packages() const { return packages_; }
  // Requires is_of_this_process().
  sessions::Session& session() const { return *session_; }
  bool is_of_this_process() const { return engine_->is_of_this_process(); }

  // Why it cannot be used. Empty: it can.
  std::string closed() const;
  // Does nothing in another process.
  void Close(std::string why) const;

  // While it exists, this thread is within a cell of the session, for instance in a callback: here
  // a call that waits for the session's turn would wait for itself.
  class WithinCell {
   public:
    explicit WithinCell(const LiveSession& session);
    WithinCell(const WithinCell&) = delete;
    ~WithinCell();
  };
  bool is_within_cell() const;

 private:
  const std::shared_ptr<Engine> engine_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, Language>> others_;  // the latest of a name counts
  std::shared_ptr<sessions::Session> session_;            // uses their sandboxes
  const core::RequestedLimits limits_;
  container::packages::SessionPackages packages_;
};

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_LIVE_SESSION_H_
