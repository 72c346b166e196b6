// Engine: an outside::Sandbox for a process that may fork, be interrupted or exit at any time, as
// an interpreter may. Independent of Python. Functions are called without the GIL unless they say
// otherwise.
//
//   Engine engine(*Open(*Choose(catalogue, open_request)), defaults);
//   if (Engine::PendingCall call(engine, nullptr); call) engine.Run(request, {}, call);
//
// A forked child has the memory of an engine, but neither its threads nor its workers: there it is
// never used and never destroyed.
#ifndef BELLJAR_PYTHON_ENGINE_H_
#define BELLJAR_PYTHON_ENGINE_H_

#include <sys/types.h>

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/outside/sandbox.h"
#include "python/opening.h"

namespace belljar::python {

// The reason that its sessions give for being closed.
inline constexpr char kSandboxClosed[] = "its sandbox was closed";

// A request that sets nothing but its source.
struct Defaults {
  host::Request request;
  core::RequestedLimits limits;  // those limits of `request` that differ from the profile's
};

// Kills the run that it is passed to, immediately or as soon as the run begins. For any thread, and
// for signal handlers. Has no effect in a forked child: the run is the parent's, and the descriptor
// may refer to another file there.
class Canceller {
 public:
  Canceller();  // throws HostFailure

  void Cancel() const;
  bool is_cancelled() const;
  int fd() const { return event_.get(); }

 private:
  const pid_t process_;
  core::UniqueFd event_;
};

// Never destroyed in a forked child: its threads do not exist there and cannot be joined, and a
// condition variable whose waiters do not exist cannot be destroyed.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(Opened opened, Defaults defaults);
  Engine(const Engine&) = delete;

  const Opened& opened() const { return opened_; }
  const Defaults& defaults() const { return defaults_; }
  // False in a forked child.
  bool is_of_this_process() const;
  const core::Profile& profile() const { return opened_.profile; }

  // One run, from before it is requested until its thread has left it. Close waits for it. False if
  // the engine is closed.
  class PendingCall {
   public:
    // `cancellation` is borrowed. Null: one of the engine's own, for a run that only the engine and
    // its callbacks cancel.
    PendingCall(Engine& engine, const Canceller* cancellation);
    PendingCall(const PendingCall&) = delete;
    ~PendingCall();
    explicit operator bool() const { return has_begun_; }
    const Canceller& cancellation() const { return *cancellation_; }

   private:
    Engine& engine_;
    std::unique_ptr<const Canceller> own_;
    const Canceller* cancellation_;
    bool has_begun_ = false;
    std::list<const Canceller*>::iterator record_;
  };

  // Both require a pending call. Run sets the descriptor of its cancellation in `options`.
  core::Result<host::Outcome> Run(const host::Request& request, run::RunOptions options,
                                  const PendingCall& call) const;
  core::Result<void> WaitForSpare(core::Deadline deadline) const;

  // Requires a pending call, as does everything that takes a session's turn. Sessions, and branches
  // that are added, are closed with the engine.
  core::Result<std::shared_ptr<sessions::Session>> OpenSession(
      const sessions::SessionOptions& session_options, run::RunOptions options,
      const PendingCall& call);
  void Add(const std::shared_ptr<sessions::Session>& session);
  // A session as a kernel for one of another engine; this one must outlive it.
  core::Result<sessions::Kernel> OpenKernel(const sessions::SessionOptions& session_options,
                                            run::RunOptions options, const PendingCall& call);
  core::Result<host::Outcome> RunCell(sessions::Session& session, const host::Request& request,
                                      run::RunOptions options, sessions::Patience patience,
                                      const PendingCall& call) const;

  // What its sessions install packages from. An error is of the index, or of the cache.
  core::Result<container::packages::Packages*> PackageSource();

  outside::Backend::Counters counters() const;

  // Kills all runs, waits until they have left their threads, and ends sessions and workers.
  // Calling it again does nothing. False: some run had not ended at the deadline; the rest is done
  // by another call, or when the engine is destroyed. Within a run the deadline must be now: the
  // run that it would wait for may be waiting for this call.
  bool Close(core::Deadline deadline);
  // Whether this thread is within a run of any engine, for instance in a callback.
  static bool IsWithinRun();

 private:
  const pid_t process_;
  Opened opened_;
  const Defaults defaults_;

  mutable std::mutex mutex_;
  std::condition_variable call_ended_;
  std::list<const Canceller*> pending_calls_;
  // Those that no pending call uses; at most as many as there were concurrent calls.
  std::vector<std::unique_ptr<const Canceller>> cancellations_;
  std::vector<std::weak_ptr<sessions::Session>> sessions_;
  std::unique_ptr<container::packages::Packages> package_source_;
  bool is_closing_ = false;
  bool is_closed_ = false;
};

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_ENGINE_H_
