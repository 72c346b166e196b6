// The host's handle on one zygote: start it, ask it for workers, end it.
//
// All of it on one thread, which must outlive every worker: it is the parent whose death they are
// killed by (PR_SET_PDEATHSIG counts threads, not processes).
#ifndef BELLJAR_ENGINE_OUTSIDE_ZYGOTE_PROCESS_H_
#define BELLJAR_ENGINE_OUTSIDE_ZYGOTE_PROCESS_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/child_reaper.h"
#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/outside/installation.h"
#include "engine/seal/seal.h"

namespace belljar::outside {

// Error.operation of a request that the kernel refused (EAGAIN, ENOMEM, …): the zygote lives on.
inline constexpr char kCloneRefused[] = "clone a worker";

struct ZygoteOptions {
  Installation installation;
  std::string profile_document;          // JSON
  std::string other_profiles;            // JSON: profile name -> module names
  std::vector<PackageFolder> packages;   // what the profile has beside ours
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<MissingPackages> missing;  // what it names and has not got
  bool huge_pages = false;               // for the interpreter's heap
  bool single_run = false;               // it becomes its only worker: BecomeWorker
  seal::SealPlan plan;
  core::CaptureLayout layout;
};

class ZygoteProcess {
 public:
  // Clones and execs, and returns while the zygote still loads.
  // Into the cgroup whose directory `cgroup_fd` is; -1: our own.
  // A child of `parent`, if there is one, and so are its workers.
  static core::Result<ZygoteProcess> Launch(const ZygoteOptions& options, int cgroup_fd = -1,
                                            std::shared_ptr<core::ChildReaper> reaper = nullptr);

  // Readable when the zygote has answered its start message or has died.
  int control_fd() const { return control_.get(); }

  // Reads that answer. An error says why the zygote could not start.
  core::Result<void> FinishStart();

  // Ends one that has not answered in `after`; why, with what it has written to stderr.
  core::Error AbandonStart(std::chrono::milliseconds after);

  // Asks for a clone that will seal itself. `socket` and `capture_memory` are borrowed, and not
  // needed afterwards. Several may be asked for before the first answer is read.
  core::Result<void> RequestWorker(int socket, int capture_memory);

  // The answer to the oldest open request; blocks until control_fd() is readable.
  core::Result<core::Process> ReceiveWorker();

  // In place of the two, of a zygote for a single run: it is the worker from now on, and will seal
  // itself. What is left of this object is to be destroyed.
  core::Result<core::Process> BecomeWorker(int socket, int capture_memory);

  // Ends it. Answers that it has sent before can still be received.
  void Kill() { process_.Destroy(); }

  pid_t pid() const { return process_.pid(); }

 private:
  ZygoteProcess(core::Process process, core::UniqueFd control, core::UniqueFd errors,
                std::shared_ptr<core::ChildReaper> reaper)
      : reaper_(std::move(reaper)),
        process_(std::move(process)),
        control_(std::move(control)),
        errors_(std::move(errors)) {}

  std::string Errors() const;

  std::shared_ptr<core::ChildReaper> reaper_;  // of its workers too; null: this process
  core::Process process_;
  core::UniqueFd control_;
  core::UniqueFd errors_;  // what the zygote wrote to its stderr before it was sealed
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_ZYGOTE_PROCESS_H_
