// ChildEngine: a container engine without containers: what it starts is belljar-guest itself, as a
// child of the test over a socket. Fast, and the guest is the real one. It can be stopped, slow, or
// broken, as a test says.
#ifndef BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_
#define BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/process.h"

namespace belljar::tests {

class ChildEngine : public container::engines::ContainerEngine {
 public:
  // Path of belljar-guest in this build.
  static std::string GuestProgram();

  // For tests. Stop: every container is killed, and every call fails as that of an engine that is
  // not there.
  void Stop();
  void StartAgain();
  // Starts wait in between.
  void Hold();
  void LetGo();
  // What is started instead of belljar-guest from now on; empty: that again.
  void SetProgram(std::vector<std::string> command);
  // What ends by SIGKILL from now on, in a container or with it, was for want of memory.
  void SetOutOfMemory();
  // One without a process, as an earlier host has left it. Returns its id.
  std::string AddLeftOver(std::map<std::string, std::string> labels, bool running);

  size_t starts() const;
  // The most that there were at the same time.
  size_t peak() const;
  std::vector<std::string> ids() const;  // of those that have not been removed
  pid_t pid_of(const std::string& id) const;
  container::engines::ContainerSpec last_spec() const;

  core::Result<container::engines::EngineFacts> Check() override;
  core::Result<std::optional<container::engines::EngineImage>> FindImage(
      const std::string& reference) override;
  core::Result<std::string> LoadImage(int tar,
                                      const container::engines::LoadProgress& progress) override;
  core::Result<void> RemoveImage(const std::string& reference) override;
  core::Result<container::engines::StartedContainer> Start(
      const container::engines::ContainerSpec& spec) override;
  core::Result<void> Kill(const std::string& id) override;
  core::Result<container::engines::ContainerExit> Wait(const std::string& id,
                                                       std::chrono::milliseconds timeout) override;
  core::Result<bool> RanOutOfMemory(const std::string& id) override;
  core::Result<std::vector<container::engines::ListedContainer>> List(
      const std::string& label, const std::string& value) override;
  core::Result<void> Remove(const std::string& id) override;

 private:
  struct Child {
    core::Process process;  // empty: one that was left over
    std::map<std::string, std::string> labels;
    bool running = true;
  };

  core::Result<void> IsThere() const;
  std::vector<std::string> CommandOf(const container::engines::ContainerSpec& spec) const;

  mutable std::mutex mutex_;
  std::map<std::string, Child> children_;
  bool stopped_ = false;
  bool out_of_memory_ = false;
  bool is_held_ = false;
  std::condition_variable let_go_;
  std::vector<std::string> program_;
  size_t starts_ = 0;
  size_t peak_ = 0;
  container::engines::ContainerSpec last_spec_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_CHILD_ENGINE_H_
