// ChildEngine: a container engine without containers: what it starts is belljar-guest itself, as a
// child of the test over a socket. Fast, and the guest is the real one. It can be stopped, slow, or
// broken, as a test says.
#ifndef BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_
#define BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/process.h"

namespace belljar {

class ChildEngine : public ContainerEngine {
 public:
  // Path of belljar-guest in this build.
  static std::string GuestProgram();

  // For tests. Stop: every container is killed, and every call fails as that of an engine that is
  // not there.
  void Stop();
  void StartAgain();
  void SetDelay(std::chrono::milliseconds delay);  // of each start
  // What is started instead of belljar-guest from now on; empty: that again.
  void SetProgram(std::vector<std::string> command);
  // What ends by SIGKILL from now on, in a container or with it, was for want of memory.
  void SetOutOfMemory();
  // One without a process, as an earlier host has left it. Returns its id.
  std::string AddLeftOver(std::map<std::string, std::string> labels, bool running);

  size_t starts() const;
  // The most that there were at the same time.
  size_t most() const;
  std::vector<std::string> ids() const;  // of those that have not been removed
  pid_t pid_of(const std::string& id) const;
  ContainerSpec last_spec() const;

  Result<EngineFacts> Check() override;
  Result<std::optional<EngineImage>> FindImage(const std::string& reference) override;
  Result<std::string> LoadImage(int tar, const LoadProgress& progress) override;
  Result<void> RemoveImage(const std::string& reference) override;
  Result<StartedContainer> Start(const ContainerSpec& spec) override;
  Result<void> Kill(const std::string& id) override;
  Result<ContainerExit> Wait(const std::string& id, std::chrono::milliseconds timeout) override;
  Result<bool> RanOutOfMemory(const std::string& id) override;
  Result<std::vector<ListedContainer>> List(const std::string& label,
                                            const std::string& value) override;
  Result<void> Remove(const std::string& id) override;

 private:
  struct Child {
    Process process;  // empty: one that was left over
    std::map<std::string, std::string> labels;
    bool running = true;
  };

  Result<void> IsThere() const;
  std::vector<std::string> CommandOf(const ContainerSpec& spec) const;

  mutable std::mutex mutex_;
  std::map<std::string, Child> children_;
  bool stopped_ = false;
  bool out_of_memory_ = false;
  std::chrono::milliseconds delay_{0};
  std::vector<std::string> program_;
  size_t starts_ = 0;
  size_t most_ = 0;
  ContainerSpec last_spec_;
};

}  // namespace belljar

#endif  // BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_
