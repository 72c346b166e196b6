#include "engine/sessions/kept_worker.h"

#include <fcntl.h>

#include <chrono>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/run/execution.h"
#include "engine/workers/process_tree.h"
#include "engine/workspace/workspace.h"

namespace belljar::sessions {
namespace {

// For processes that have been sent a signal to stop.
constexpr std::chrono::seconds kStopTimeout{2};

}  // namespace

core::Result<std::unique_ptr<LiveInterpreter>> KeptWorker::Begin(workers::Worker worker,
                                                                 KeptWorkerTerms terms) {
  std::unique_ptr<KeptWorker> kept(new KeptWorker(std::move(worker), std::move(terms)));
  if (core::Result<void> begun = kept->Begin(); !begun) return begun.error();
  return std::unique_ptr<LiveInterpreter>(std::move(kept));
}

core::Result<void> KeptWorker::Begin() {
  if (core::Result<void> begun = workers::BeginSession(worker_, terms_.limits); !begun)
    return begun;
  worker_.process.Pause();
  return {};
}

KeptWorker::KeptWorker(workers::Worker worker, KeptWorkerTerms terms)
    : terms_(std::move(terms)), worker_(std::move(worker)) {}

core::Result<host::Outcome> KeptWorker::Execute(const host::Request& request,
                                                const run::RunOptions& options,
                                                const run::Question* question, bool& reported) {
  if (HasEnded()) return core::MakeError(kUseSession, "its process was killed while it waited");
  core::Result<std::optional<egress::AllowList>> narrower =
      egress::Narrower(terms_.egress, request);
  if (!narrower) return narrower.error();
  core::UniqueFd listener;
  if (terms_.egress && !question) {
    // The proxy is the cell's: it closes its listener, and the worker keeps its own.
    listener.Reset(fcntl(worker_.resources.egress.get(), F_DUPFD_CLOEXEC, 0));
    if (!listener) return core::SystemError("serve a session's egress proxy");
  }
  worker_.cpu_before = worker_.CpuTime();
  worker_.process.Resume();
  run::Execution execution(std::move(worker_), request, options, terms_.policy);
  if (question) execution.Ask(*question);
  if (!terms_.workspace) execution.SendModules();
  if (listener) {
    execution.ServeEgress(*terms_.egress, std::move(listener), std::move(*narrower));
  }
  core::Result<host::Outcome> outcome = execution.Run();
  worker_ = execution.TakeWorker();
  reported = execution.reported();
  worker_.process.Pause();
  const bool rests =
      !worker_.runs_programs ||
      workers::AwaitStopped(worker_.process.pid(), core::Clock::now() + kStopTimeout);
  // Its state is unknown, or it was killed.
  if (!reported || !rests) worker_.process.Stop();
  return outcome;
}

core::Result<host::Outcome> KeptWorker::Run(const host::Request& request,
                                            const run::RunOptions& options) {
  if (!request.files.empty() && terms_.workspace) {
    if (core::Result<void> put = PutFiles(request.files); !put) return put.error();
  }
  bool reported = false;
  core::Result<host::Outcome> outcome = Execute(request, options, nullptr, reported);
  if (!outcome) return outcome;
  outcome->isolation.mode = terms_.mode;
  outcome->isolation.policy = terms_.policy;
  if (reported && terms_.workspace) CollectFiles(*outcome);
  Renew(reported, *outcome);
  return outcome;
}

void KeptWorker::CollectFiles(host::Outcome& outcome) {
  workspace::CollectChanges(worker_.resources.workspace.get(), files_, outcome);
  host::MarkInline(outcome);
  core::Result<void> taken = TakeFiles();
  if (taken) return;
  outcome.artifacts_note += (outcome.artifacts_note.empty() ? "" : "; ") +
                            std::string("later changes are not noticed: ") +
                            taken.error().ToString();
}

core::Result<void> KeptWorker::BeginAnew() {
  core::Result<workers::Worker> fresh = terms_.renew();
  if (!fresh) return fresh.error();
  terms_.retire(std::exchange(worker_, std::move(*fresh)));
  if (core::Result<void> begun = Begin(); !begun || !terms_.workspace) return begun;
  return files_.Restore(worker_.resources.workspace.get(), *terms_.workspace);
}

// If the interpreter of another language has ended. A cell that was stopped has left the files as
// they were before it.
void KeptWorker::Renew(bool reported, host::Outcome& outcome) {
  const bool ended = !reported || HasEnded() || (outcome.session && outcome.session->restarted);
  if (!terms_.renew || !ended) return;
  host::SessionReport& report = outcome.session.emplace();
  if (const core::Result<void> begun = BeginAnew(); !begun) {
    report.note =
        "its interpreter has ended, and no new one could be started: " + begun.error().ToString();
    worker_.process.Stop();
    return;
  }
  report.restarted = true;
  report.note =
      std::string("its interpreter has ended, and a new one has begun: variables are gone, ") +
      (reported ? "files are kept" : "files are as before the cell");
}

core::Result<std::string> KeptWorker::Ask(const run::Question& question, int kill_fd) {
  if (worker_.runs_programs) {
    return core::MakeError("ask about names", "a session in " + terms_.title + " cannot tell them");
  }
  run::RunOptions options;
  options.kill_fd = kill_fd;
  bool reported = false;
  core::Result<host::Outcome> outcome =
      Execute(RequestOf(question, terms_.limits), options, &question, reported);
  return outcome ? AnswerIn(*outcome, reported) : core::Result<std::string>(outcome.error());
}

// --- files ---------------------------------------------------------------------------------------

core::Result<void> KeptWorker::PutFiles(const std::vector<host::InputFile>& files) {
  core::Result<void> put = workspace::ReplaceFiles(worker_.resources.workspace.get(), files);
  core::Result<void> taken = TakeFiles();
  return put ? taken : put;
}

core::Result<void> KeptWorker::TakeFiles() {
  core::Result<workspace::WorkspaceSnapshot> taken = workspace::WorkspaceSnapshot::Take(
      worker_.resources.workspace.get(), files_, *terms_.workspace);
  if (!taken) return taken.error();
  files_ = std::move(*taken);
  return {};
}

core::Result<std::vector<SessionFile>> KeptWorker::Files(int) { return FilesIn(files_); }

core::Result<std::string> KeptWorker::ReadFile(std::string_view path, int) {
  return ContentIn(files_, path);
}

core::Result<void> KeptWorker::WriteFiles(const std::vector<host::InputFile>& files, int) {
  return PutFiles(files);
}

core::Result<void> KeptWorker::RemoveFile(std::string_view path, int) {
  if (core::Result<void> checked = CheckRemoval(path); !checked) return checked;
  core::Result<void> removed =
      workspace::RemoveFile(worker_.resources.workspace.get(), std::string(path));
  core::Result<void> taken = TakeFiles();
  return removed ? taken : removed;
}

core::Result<void> KeptWorker::Replace(const workspace::WorkspaceSnapshot& files) {
  core::Result<void> restored = files.Restore(worker_.resources.workspace.get(), *terms_.workspace);
  core::Result<void> taken = TakeFiles();
  return restored ? taken : restored;
}

}  // namespace belljar::sessions
