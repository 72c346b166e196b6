// Builds requests for a Docker Engine or Podman, and parses their answers. Pure; any thread.
//
// A daemon is root on this machine, but is not trusted: its answers are bounded, parsed strictly,
// and made printable before they are shown.
#ifndef BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_
#define BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"

namespace belljar::container::engines {

// The API versions that this was written for. Docker 19.03 and Podman 3 support the oldest, and
// later engines still support the newest.
inline constexpr int kMinDockerApi = 40;  // 1.40
inline constexpr int kMaxDockerApi = 44;  // 1.44

// The body of POST /containers/create.
std::string CreateBody(const ContainerSpec& spec, bool for_podman = false);

// {"label":["name=value"]}, the query parameter `filters`.
std::string LabelFilter(const std::string& label, const std::string& value);

struct EngineVersion {
  std::string name;
  std::string version;
  bool is_podman = false;
  int api = 0;  // the newest 1.N that both support
};
// Parses GET /version. Fails if there is no version that both support.
core::Result<EngineVersion> ReadVersion(std::string_view answer);

// Parses GET /info: everything except name, version and API.
core::Result<EngineFacts> ReadInfo(std::string_view answer);

// Parses POST /containers/create: 64 hexadecimal digits.
core::Result<std::string> ReadContainerId(std::string_view answer);

// Parses POST /containers/ID/wait.
core::Result<int> ReadExitCode(std::string_view answer);

// The exit code in the first "die" event of GET /events.
core::Result<int> ReadExitEvent(std::string_view answer);

// Parse GET /containers/ID/json: State.OOMKilled (absent: false), State.Running.
core::Result<bool> ReadOutOfMemory(std::string_view answer);
core::Result<bool> ReadRunning(std::string_view answer);

// Parses GET /images/NAME/json.
core::Result<EngineImage> ReadImage(std::string_view answer);

// Parses GET /containers/json.
core::Result<std::vector<ListedContainer>> ReadContainers(std::string_view answer);

// Parses POST /images/load: a stream of objects, one per line. Returns the engine's name for the
// image.
core::Result<std::string> ReadLoaded(std::string_view answer);

// The "message" of an error answer, printable, at most 400 bytes of it.
std::string ReadRefusal(std::string_view answer);

bool IsContainerId(std::string_view text);

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_DOCKER_MESSAGES_H_
