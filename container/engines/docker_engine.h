// DockerEngine: the Docker Engine, and Podman's service with the same API, over their Unix socket.
// No docker command, no shell.
#ifndef BELLJAR_CONTAINER_ENGINES_DOCKER_ENGINE_H_
#define BELLJAR_CONTAINER_ENGINES_DOCKER_ENGINE_H_

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "container/engines/container_engine.h"
#include "container/engines/docker_messages.h"
#include "container/engines/engine_client.h"
#include "container/engines/output_pump.h"

namespace belljar::container::engines {

struct DockerEngineOptions {
  std::string socket = "/var/run/docker.sock";
  // Timeout for one answer of the engine. Starting is the slowest: some 0.3 s for runc and 0.5 s
  // for runsc on an idle machine, many times that on a busy one.
  std::chrono::milliseconds timeout{30'000};
};

// The engine sockets for this user, in the order to try: DOCKER_HOST if it names a Unix socket,
// Docker's, rootless Docker's, the user's Podman, root's Podman.
std::vector<std::string> DefaultEngineSockets();

class DockerEngine : public ContainerEngine {
 public:
  // Sends nothing yet.
  explicit DockerEngine(DockerEngineOptions options);

  core::Result<EngineFacts> Check() override;
  core::Result<std::optional<EngineImage>> FindImage(const std::string& reference) override;
  core::Result<std::string> LoadImage(int tar, const LoadProgress& progress) override;
  core::Result<void> RemoveImage(const std::string& reference) override;
  core::Result<StartedContainer> Start(const ContainerSpec& spec) override;
  core::Result<void> Kill(const std::string& id) override;
  core::Result<ContainerExit> Wait(const std::string& id,
                                   std::chrono::milliseconds timeout) override;
  core::Result<bool> RanOutOfMemory(const std::string& id) override;
  core::Result<std::vector<ListedContainer>> List(const std::string& label,
                                                  const std::string& value) override;
  core::Result<void> Remove(const std::string& id) override;

 private:
  // The call with "/v1.N" prepended to its target.
  core::Result<EngineCall> Versioned(EngineCall call);
  core::Result<EngineVersion> Version();
  // Any status but the expected ones is an error, with the engine's reason and `advice`; if there
  // are none, any status is an answer.
  core::Result<EngineAnswer> CallEngine(EngineCall call, const std::vector<unsigned>& expected = {},
                                        std::string advice = {});
  core::Result<void> CheckRuntime(const std::string& runtime);
  core::Result<std::string> Create(const ContainerSpec& spec, const std::string& name);
  core::Result<OutputPump::Streams> Attach(const std::string& id, core::UniqueFd& input);
  core::Result<void> StartCreated(const std::string& id, const ContainerSpec& spec);
  core::Result<void> RemoveNamed(const std::string& name);
  void RemoveLeft();
  core::Result<ContainerExit> ExitOf(const std::string& id, const core::Result<int>& code);
  core::Result<ContainerExit> EndInEvents(const std::string& id);
  core::Result<EngineAnswer> EventsOf(const std::string& id, const std::string& event,
                                      std::chrono::milliseconds to_come);

  const DockerEngineOptions options_;
  const EngineClient client_;
  OutputPump pump_;
  std::mutex mutex_;
  std::optional<EngineVersion> version_;
  std::string podman_runtime_;  // the only one of a Podman; empty: not known yet
  // Names of containers that did not start and could not be removed: their ids are unknown.
  std::vector<std::string> left_;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_DOCKER_ENGINE_H_
