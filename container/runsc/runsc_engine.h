// RunscEngine: gVisor's runsc without a daemon. Each container is a child process of ours ("runsc
// run") with the sandbox below it. As root, runsc puts it into its own control group. For other
// users (rootless) there are no memory, process and CPU limits; EngineFacts says so.
//
// When a host dies, the input of its containers ends. List finds them, as long as `folder` is the
// same.
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
  std::string folder;             // images, bundles and runsc's own state; created on demand
  std::string platform = "ptrace";
  bool rootless = false;  // any user except root
  std::chrono::milliseconds timeout{30'000};
};

// The default folder of standalone runsc for this user: below the cache folder ($XDG_CACHE_HOME,
// ~/.cache), for root /var/lib/belljar. Empty: there is none.
std::string DefaultRunscFolder();

// config.json of an OCI bundle whose root file system is `root`.
std::string BundleConfig(const engines::ContainerSpec& spec, const std::string& root,
                         const std::string& id, bool rootless);

class RunscEngine : public engines::ContainerEngine {
 public:
  explicit RunscEngine(RunscEngineOptions options);
  // Removes the containers that it has started and that still exist.
  ~RunscEngine() override;

  core::Result<engines::EngineFacts> Check() override;
  core::Result<std::optional<engines::EngineImage>> FindImage(
      const std::string& reference) override;
  core::Result<std::string> LoadImage(int tar, const engines::LoadProgress& progress) override;
  core::Result<void> RemoveImage(const std::string& reference) override;
  // Returns once runsc runs, not the container; the guest's first message shows that it does.
  core::Result<engines::StartedContainer> Start(const engines::ContainerSpec& spec) override;
  core::Result<void> Kill(const std::string& id) override;
  // Only for containers started by this engine.
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
  core::Result<std::string> RunRunsc(const std::string& operation,
                                     std::vector<std::string> arguments) const;
  // A duplicate of the descriptor that becomes readable once the container has ended; empty: not
  // one of ours.
  core::UniqueFd EndOf(const std::string& id, bool killing);
  std::string BundleOf(const std::string& id) const;

  const RunscEngineOptions options_;
  RunscStore store_;
  std::mutex mutex_;
  std::map<std::string, Child> children_;
};

}  // namespace belljar::container::runsc

#endif  // BELLJAR_CONTAINER_RUNSC_RUNSC_ENGINE_H_
