// What is said to a Docker Engine or Podman, and what is made of their answers. Pure; any thread.
//
// A daemon is root on this machine and still not believed: its answers are bounded, read strictly,
// and what is shown of them is printable.
#ifndef BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_
#define BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"

namespace belljar::container::engines {

// The versions of the API whose meaning this was written for: Docker 19.03 and Podman 3 have the
// first, and newer engines go on speaking the last.
inline constexpr int kOldestDockerApi = 40;  // 1.40
inline constexpr int kNewestDockerApi = 44;  // 1.44

// The body of POST /containers/create.
std::string CreateBody(const ContainerSpec& spec, bool for_podman = false);

// {"label":["name=value"]}, as the query parameter `filters` has it.
std::string LabelFilter(const std::string& label, const std::string& value);

struct EngineVersion {
  std::string name;
  std::string version;
  bool is_podman = false;
  int api = 0;  // the newest 1.N that both speak
};
// Of GET /version. Fails where there is no version that both speak.
core::Result<EngineVersion> ReadVersion(std::string_view answer);

// Of GET /info: everything but name, version and API.
core::Result<EngineFacts> ReadInfo(std::string_view answer);

// Of POST /containers/create: 64 hexadecimal digits.
core::Result<std::string> ReadContainerId(std::string_view answer);

// Of POST /containers/ID/wait.
core::Result<int> ReadExitCode(std::string_view answer);

// The exit code in the first "die" of GET /events.
core::Result<int> ReadExitEvent(std::string_view answer);

// Of GET /containers/ID/json: State.OOMKilled.
core::Result<bool> ReadOutOfMemory(std::string_view answer);

// Of GET /images/NAME/json.
core::Result<EngineImage> ReadImage(std::string_view answer);

// Of GET /containers/json.
core::Result<std::vector<ListedContainer>> ReadContainers(std::string_view answer);

// Of POST /images/load: a stream of objects, one a line. What the engine calls the image.
core::Result<std::string> ReadLoaded(std::string_view answer);

// What an error answer says: its "message", printable, at most 400 bytes of it.
std::string ReadRefusal(std::string_view answer);

bool IsContainerId(std::string_view text);

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_
