// Engine: a Sandbox of the engine's for a process that may fork, be interrupted or end at any time,
// as an interpreter does. Nothing here knows Python; all of it is called without the GIL, but for
// what says otherwise.
//
//   Engine engine(*Open(*Choose(catalogue, open_request)), defaults);
//   if (Engine::PendingCall call(engine, nullptr); call) engine.Run(request, {}, call);
//
// A child that fork made has the memory of an engine and neither its threads nor its workers: there
// it is left alone, never used and never destroyed.
#ifndef BELLJAR_PYTHON_ENGINE_H_
#define BELLJAR_PYTHON_ENGINE_H_

#include <sys/types.h>

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"
#include "python/opening.h"

namespace belljar::python {

// Why its sessions are closed.
inline constexpr char kSandboxClosed[] = "its sandbox was closed";

// What the runs of a sandbox have that are asked for with nothing but their source.
struct Defaults {
  host::Request request;
  core::RequestedLimits limits;  // among those of `request`, the ones that are not the profile's
};

// Kills the one run that it is given to, at once or as soon as it begins. Any thread, and a
// signal's handler. In a child that fork has made it is nothing: the run is the parent's, and the
// descriptor's number may be another file's by then.
class Cancellation {
 public:
  Cancellation();  // throws HostFailure

  void Cancel() const;
  bool is_cancelled() const;
  int fd() const { return event_.get(); }

 private:
  const pid_t process_;
  core::UniqueFd event_;
};

// Never destroyed in a child that fork has made: its threads are not there to be joined, and
// waiters that are not there keep a condition variable from being destroyed.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(Opened opened, Defaults defaults);
  Engine(const Engine&) = delete;

  const Opened& opened() const { return opened_; }
  const Defaults& defaults() const { return defaults_; }
  // False in a child that fork has made.
  bool is_of_this_process() const;
  const core::Profile& profile() const { return opened_.profile; }

  // One run, from before it is requested until nothing of it is left on its thread. Close waits
  // for it. False if the engine is closed.
  class PendingCall {
   public:
    // `cancellation` is borrowed; null: one of the engine's, for a run that only the engine and its
    // callbacks cancel.
    PendingCall(Engine& engine, const Cancellation* cancellation);
    PendingCall(const PendingCall&) = delete;
    ~PendingCall();
    explicit operator bool() const { return has_begun_; }
    const Cancellation& cancellation() const { return *cancellation_; }

   private:
    Engine& engine_;
    std::unique_ptr<const Cancellation> own_;
    const Cancellation* cancellation_;
    bool has_begun_ = false;
    std::list<const Cancellation*>::iterator record_;
  };

  // These two within a pending call. Run sets the cancellation's descriptor in `options`.
  core::Result<host::Outcome> Run(const host::Request& request, outside::RunOptions options,
                                  const PendingCall& call) const;
  core::Result<void> WaitForSpare(core::Deadline deadline) const;

  // Within a pending call, and so is whatever takes a session's turn. Sessions, and branches that
  // are added, are closed with the engine.
  core::Result<std::shared_ptr<outside::Session>> OpenSession(
      const outside::SessionOptions& session_options, outside::RunOptions options,
      const PendingCall& call);
  void Add(const std::shared_ptr<outside::Session>& session);
  core::Result<host::Outcome> RunCell(outside::Session& session, const host::Request& request,
                                      outside::RunOptions options, outside::Patience patience,
                                      const PendingCall& call) const;

  outside::Backend::Counters counters() const;

  // Kills what runs, waits until it has left its thread, and ends sessions and workers; again:
  // nothing.
  // False: at the deadline something was still there, and the engine stays until it is destroyed,
  // or Close comes again. Within a run the deadline is now: what is waited for might wait for this.
  bool Close(core::Deadline deadline);
  // Whether this thread is in a run, of any engine, as a callback is.
  static bool IsWithinRun();

 private:
  const pid_t process_;
  Opened opened_;
  const Defaults defaults_;

  mutable std::mutex mutex_;
  std::condition_variable call_ended_;
  std::list<const Cancellation*> pending_calls_;
  // Unused and owned by no pending call; as many as there were calls at a time.
  std::vector<std::unique_ptr<const Cancellation>> cancellations_;
  std::vector<std::weak_ptr<outside::Session>> sessions_;
  bool is_closing_ = false;
  bool is_closed_ = false;
};

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_ENGINE_H_
