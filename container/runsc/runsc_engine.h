// RunscEngine: gVisor's runsc by itself, without a daemon. Each container is a child process of
// ours
// ("runsc run") and the sandbox below it. As root runsc puts it into a control group of its own;
// for anybody else (rootless) there are no limits of memory, processes and CPU: EngineFacts says
// so.
//
// A host that dies leaves containers whose input has ended. List finds them, as long as `folder` is
// the same.
#ifndef BELLJAR_CONTAINER_RUNSC_RUNSC_ENGINE_H_
#define BELLJAR_CONTAINER_RUNSC_RUNSC_ENGINE_H_

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "container/engines/container_engine.h"
#include "container/runsc/runsc_store.h"
#include "engine/core/fd.h"
#include "engine/core/process.h"

namespace belljar::container::runsc {

struct RunscEngineOptions {
  std::string program = "runsc";  // found on PATH
  std::string folder;             // images, bundles and runsc's own state; made when it is needed
  std::string platform = "ptrace";
  bool rootless = false;  // everybody but root
  std::chrono::milliseconds timeout{30'000};
};

// Where runsc alone keeps what is this user's: below the cache folder ($XDG_CACHE_HOME, ~/.cache),
// for root /var/lib/belljar. Empty: this user has no such place.
std::string DefaultRunscFolder();

// config.json of an OCI bundle whose root file system is `root`.
std::string BundleConfig(const engines::ContainerSpec& spec, const std::string& root,
                         const std::string& id, bool rootless);

class RunscEngine : public engines::ContainerEngine {
 public:
  explicit RunscEngine(RunscEngineOptions options);
  // Removes what it has started and what is still there.
  ~RunscEngine() override;

  core::Result<engines::EngineFacts> Check() override;
  core::Result<std::optional<engines::EngineImage>> FindImage(
      const std::string& reference) override;
  core::Result<std::string> LoadImage(int tar, const engines::LoadProgress& progress) override;
  core::Result<void> RemoveImage(const std::string& reference) override;
  // Returns once runsc runs, not the container: its first word says that it does.
  core::Result<engines::StartedContainer> Start(const engines::ContainerSpec& spec) override;
  core::Result<void> Kill(const std::string& id) override;
  // Of containers of this engine only.
  core::Result<engines::ContainerExit> Wait(const std::string& id,
                                            std::chrono::milliseconds timeout) override;
  core::Result<bool> RanOutOfMemory(const std::string& id) override;
  core::Result<std::vector<engines::ListedContainer>> List(const std::string& label,
                                                           const std::string& value) override;
  core::Result<void> Remove(const std::string& id) override;

 private:
  struct Child {
    core::Process process;
    bool killed = false;  // by us
    bool limited = false;
  };

  std::vector<std::string> Command(std::vector<std::string> arguments) const;
  core::Result<std::string> Ask(const std::string& operation,
                                std::vector<std::string> arguments) const;
  // A copy of what becomes readable once the container has ended; empty: it is none of ours.
  core::UniqueFd EndOf(const std::string& id, bool killing);
  std::string BundleOf(const std::string& id) const;

  const RunscEngineOptions options_;
  RunscStore store_;
  std::mutex mutex_;
  std::map<std::string, Child> children_;
};

}  // namespace belljar::container::runsc

#endif  // BELLJAR_CONTAINER_RUNSC_RUNSC_ENGINE_H_
