// The host's handle on one zygote: starts it, requests workers from it, ends it.
//
// Everything runs on one thread, which must outlive all workers: their parent-death signal is tied
// to it (PR_SET_PDEATHSIG refers to threads, not processes).
#ifndef BELLJAR_ENGINE_WORKERS_ZYGOTE_PROCESS_H_
#define BELLJAR_ENGINE_WORKERS_ZYGOTE_PROCESS_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/capture_layout.h"
#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/core/socket.h"
#include "engine/installation/installation.h"
#include "engine/seal/seal_plan.h"
#include "engine/workers/child_reaper.h"

namespace belljar::workers {

// What it does and what it has loaded.
struct ZygoteKind {
  bool single_run = false;  // becomes its only worker (BecomeWorker); else workers are its clones
  // Top-level names of the profile's modules that it loads, with what these import. A worker that
  // needs another one says so (core::WorkerSignal::kStartOver). nullopt: it loads all.
  std::optional<std::vector<std::string>> modules;
};

struct ZygoteOptions {
  ZygoteKind kind;
  installation::Installation installation;
  // A language besides Python: a launcher is started instead of a zygote, and fields about Python
  // are ignored. Its commands begin with absolute paths.
  std::optional<core::ProgramRule> program;
  std::string profile_document;                       // JSON
  std::string other_profiles;                         // JSON: profile name -> module names
  std::vector<installation::PackageFolder> packages;  // the profile's packages besides our own
  std::vector<std::string> package_sets;              // their names
  std::vector<std::string> environment;               // "NAME=value"
  std::vector<installation::MissingPackages>
      missing;              // sets that it names but that are not installed
  bool huge_pages = false;  // for the interpreter's heap
  seal::SealPlan plan;
  core::CaptureLayout layout;
};

class ZygoteProcess {
 public:
  // Clones and execs; returns while the zygote is still loading. It runs in the cgroup of the
  // directory `cgroup_fd`; -1: in our own. It and its workers are children of `reaper`, if there is
  // one.
  static core::Result<ZygoteProcess> Launch(const ZygoteOptions& options, int cgroup_fd = -1,
                                            std::shared_ptr<ChildReaper> reaper = nullptr);

  // Readable when the zygote has replied to its start message or has died.
  int control_fd() const { return control_.get(); }

  // Reads that reply. An error says why the zygote could not start.
  core::Result<void> FinishStart();

  // Ends a zygote that has not replied within `after`. The error includes what it wrote to stderr.
  core::Error AbandonStart(std::chrono::milliseconds after);

  // What a new worker is given; all borrowed, and not needed afterwards.
  struct Given {
    int socket = -1;
    int capture_memory = -1;
    int init_socket = -1;  // for a session; the reply is about its init
    int workspace = -1;    // a detached mount (projects/overlay.h); -1: it mounts one of its own
  };
  // Requests a clone, which then seals itself. Several requests may be sent before the first reply
  // is read.
  core::Result<void> RequestWorker(const Given& given);

  // The reply to the oldest pending request; blocks until control_fd() is readable.
  core::Result<core::Process> ReceiveWorker();

  // Used instead of these two for the zygote of a single run: it becomes the worker and seals
  // itself. This object can then only be destroyed.
  core::Result<core::Process> BecomeWorker(int socket, int capture_memory);

  // Ends it. Replies that it sent before can still be received.
  void Kill() { process_.Destroy(); }

  pid_t pid() const { return process_.pid(); }

 private:
  ZygoteProcess(core::Process process, core::UniqueFd control, core::UniqueFd errors,
                std::shared_ptr<ChildReaper> reaper)
      : reaper_(std::move(reaper)),
        process_(std::move(process)),
        control_(std::move(control)),
        errors_(std::move(errors)) {}

  std::string Errors() const;

  std::shared_ptr<ChildReaper> reaper_;  // also of its workers; null: this process
  core::Process process_;
  core::UniqueFd control_;
  core::UniqueFd errors_;  // what the zygote wrote to stderr before it was sealed
};

}  // namespace belljar::workers

#endif  // BELLJAR_ENGINE_WORKERS_ZYGOTE_PROCESS_H_
