// SessionFamily: the host's handle on the processes of one session and of its branches.
//
//   init (inside/session_init.h)            no guest's data: believed
//     ├── worker: runs cells                hostile, like every worker
//     ├── copy of it that waits             hostile
//     └── …
//
//   Result<Worker> checkpoint = family->Copy(worker);       the same memory; it waits
//   Result<Worker> branch = family->Copy(*checkpoint);
//   Result<void> awake = family->Wake(*branch, …);          it can run cells
//   family->BeginCell(*branch, cpu);  … Execution …  family->EndCell(*branch);
//
// All of them are stopped (SIGSTOP) except while they carry out an order or a cell, so that waiting
// processes use no CPU time, whoever has taken them over.
//
// A process can clone itself, as its filter must allow, but only when the host wants it:
// RLIMIT_NPROC, which only the host can raise, equals the number of existing processes. Each counts
// until it is reaped, and the host reaps; before that it lowers the limit of the running ones.
//
// Destroying it ends the session: the kernel kills every process of the init's PID namespace.
#ifndef BELLJAR_ENGINE_WORKERS_SESSION_FAMILY_H_
#define BELLJAR_ENGINE_WORKERS_SESSION_FAMILY_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/limits.h"
#include "engine/core/process.h"
#include "engine/core/reaper.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"

namespace belljar::workers {

struct Worker;

class SessionFamily : public core::Reaper, public std::enable_shared_from_this<SessionFamily> {
 public:
  SessionFamily(core::Process init, core::UniqueFd control)
      : init_(std::move(init)), control_(std::move(control)) {}
  ~SessionFamily() override { init_.Destroy(); }

  // Call once, while the first worker is being sealed. Waits for the init's first message, and for
  // the worker's.
  core::Result<void> AdoptFirst(Worker& worker, core::Deadline deadline);

  // Call once, before the first copy: lowers what the seal has limited by the profile's `ceiling`
  // to `limits`. `threads`: maximum number in a cell, including its own.
  core::Result<void> Limit(Worker& worker, const core::Limits& ceiling, const core::Limits& limits,
                           uint32_t threads);

  // Clones a waiting process: `from` must be stopped and have no other threads. If it does not
  // obey, it is killed, and the error says so. `hot`: pages that `from` then writes to, if it is
  // awake (SessionPages).
  core::Result<Worker> Copy(Worker& from, const std::vector<core::PageRange>& hot = {});

  // Ends all of them, including the init, which is then reaped.
  void Finish();

  // Makes a copy ready for cells; if it does not obey, it is killed. With `reseeds`, its random
  // number generators get new seeds.
  core::Result<void> Wake(Worker& copy, core::CaptureLayout layout, bool reseeds);

  // Around a cell or a question. `cpu`: CPU time that it may use.
  core::Result<void> BeginCell(Worker& worker, std::chrono::milliseconds cpu);
  // Stops it again, and kills its unrequested clones; returns how many there were.
  size_t EndCell(Worker& worker);

  // Readable once the init has ended, and so have all others.
  int ended_fd() const { return init_.ended_fd(); }
  // The init, and those that have not been reaped. Waits for no copy.
  std::vector<pid_t> processes() const;

  pid_t pid() const override { return init_.pid(); }
  bool IsAlive() const override;
  void End() const override { init_.Kill(); }
  bool Reap(pid_t pid, int pidfd, siginfo_t* info, rusage* usage) override;

 private:
  core::Result<core::Process> Adopt(int socket, core::Deadline deadline);
  core::Result<core::InitReply> Ask(core::InitOrder::Kind kind, int pidfd);
  core::Result<void> LimitProcesses(pid_t pid, size_t more) const;
  core::Result<void> OrderCopy(Worker& from, const std::vector<core::PageRange>& hot,
                               core::UniqueFd copys_socket);
  core::Result<void> AdoptCopy(Worker& copy);
  bool Know(pid_t pid);
  core::Result<void> Start(pid_t pid);
  void Halt(pid_t pid);
  size_t KillUnexpectedChildren();

  core::Process init_;
  core::UniqueFd control_;
  uint32_t threads_ = 1;

  std::mutex mutex_;       // also serialises copies, each for as long as a worker may take to obey
  std::set<pid_t> known_;  // not reaped yet; changes under both mutexes
  std::set<pid_t> running_;  // not stopped
  bool unexpected_may_live_ = false;
  std::mutex asking_;               // serialises orders to the init; taken after mutex_
  mutable std::mutex known_mutex_;  // for those who only read known_, and init_'s end; taken last
};

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_SESSION_FAMILY_H_
