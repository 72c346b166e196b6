// KeptWorker: a worker on this machine that serves one session without checkpoints. It is sealed
// like that of a run; only its CPU time is counted anew for each cell. Between cells it is stopped,
// so that it uses no CPU time, whoever has taken it over.
#ifndef BELLJAR_ENGINE_SESSIONS_KEPT_WORKER_H_
#define BELLJAR_ENGINE_SESSIONS_KEPT_WORKER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/egress/egress_proxy.h"
#include "engine/sessions/live_interpreter.h"
#include "engine/workers/worker.h"
#include "engine/workspace/workspace_snapshot.h"

namespace belljar::sessions {

struct KeptWorkerTerms {
  std::string mode;
  std::string policy;
  core::Limits limits;  // of the session
  std::optional<workspace::SnapshotBounds> workspace;
  std::function<void(workers::Worker)> retire;
  // Starts another worker when the interpreter has ended but the session has not. Null: the session
  // ends with its interpreter.
  std::function<core::Result<workers::Worker>()> renew;
  std::string title;                        // of that language
  egress::EgressService* egress = nullptr;  // borrowed; null: none
};

class KeptWorker final : public LiveInterpreter {
 public:
  // `worker` is waiting for its request.
  static core::Result<std::unique_ptr<LiveInterpreter>> Begin(workers::Worker worker,
                                                              KeptWorkerTerms terms);
  ~KeptWorker() override { terms_.retire(std::move(worker_)); }

  core::Result<host::Outcome> Run(const host::Request& request,
                                  const run::RunOptions& options) override;
  core::Result<std::string> Ask(const run::Question& question, int kill_fd) override;
  core::Result<std::vector<SessionFile>> Files(int kill_fd) override;
  core::Result<std::string> ReadFile(std::string_view path, int kill_fd) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, int kill_fd) override;
  core::Result<void> RemoveFile(std::string_view path, int kill_fd) override;
  core::Result<workspace::WorkspaceSnapshot> Snapshot() override { return files_; }
  core::Result<void> Replace(const workspace::WorkspaceSnapshot& files) override;
  bool HasEnded() const override { return worker_.process.HasEnded(); }
  bool has_workspace() const override { return terms_.workspace.has_value(); }
  std::vector<pid_t> processes() const override { return {worker_.process.pid()}; }

 private:
  KeptWorker(workers::Worker worker, KeptWorkerTerms terms);
  core::Result<void> Begin();
  core::Result<host::Outcome> Execute(const host::Request& request, const run::RunOptions& options,
                                      const run::Question* question, bool& reported);
  void CollectFiles(host::Outcome& outcome);
  core::Result<void> BeginAnew();
  void Renew(bool reported, host::Outcome& outcome);
  core::Result<void> PutFiles(const std::vector<host::InputFile>& files);
  core::Result<void> TakeFiles();

  const KeptWorkerTerms terms_;
  workers::Worker worker_;
  workspace::WorkspaceSnapshot files_;
};

}  // namespace belljar::sessions

#endif  // BELLJAR_ENGINE_SESSIONS_KEPT_WORKER_H_
