// KeptWorker: a worker on this machine that serves one session without checkpoints. It is sealed
// like that of a run; only its CPU time is counted anew for each cell. Between cells it is stopped,
// so that it uses no CPU time, whoever has taken it over.
#ifndef BELLJAR_ENGINE_OUTSIDE_KEPT_WORKER_H_
#define BELLJAR_ENGINE_OUTSIDE_KEPT_WORKER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/limits.h"
#include "engine/core/result.h"
#include "engine/outside/live_python.h"
#include "engine/outside/worker.h"
#include "engine/outside/workspace_snapshot.h"

namespace belljar::outside {

struct KeptWorkerTerms {
  std::string mode;
  std::string language;
  core::Limits limits;  // of the session
  std::optional<SnapshotBounds> workspace;
  std::function<void(Worker)> retire;
};

class KeptWorker final : public LivePython {
 public:
  // `worker` is waiting for its request.
  static core::Result<std::unique_ptr<LivePython>> Begin(Worker worker, KeptWorkerTerms terms);
  ~KeptWorker() override { terms_.retire(std::move(worker_)); }

  core::Result<host::Outcome> Run(const host::Request& request, const RunOptions& options) override;
  core::Result<std::string> Ask(const Question& question, int kill_fd) override;
  core::Result<std::vector<SessionFile>> Files(int kill_fd) override;
  core::Result<std::string> ReadFile(std::string_view path, int kill_fd) override;
  core::Result<void> WriteFiles(const std::vector<host::InputFile>& files, int kill_fd) override;
  core::Result<void> RemoveFile(std::string_view path, int kill_fd) override;
  bool HasEnded() const override { return worker_.process.HasEnded(); }
  bool has_workspace() const override { return terms_.workspace.has_value(); }
  std::vector<pid_t> processes() const override { return {pid_}; }

 private:
  KeptWorker(Worker worker, KeptWorkerTerms terms);
  core::Result<void> Begin();
  core::Result<host::Outcome> Execute(const host::Request& request, const RunOptions& options,
                                      const Question* question, bool& reported);
  core::Result<void> PutFiles(const std::vector<host::InputFile>& files);
  core::Result<void> TakeFiles();

  const KeptWorkerTerms terms_;
  const pid_t pid_;
  Worker worker_;
  WorkspaceSnapshot files_;
};

}  // namespace belljar::outside

#endif  // BELLJAR_ENGINE_OUTSIDE_KEPT_WORKER_H_
