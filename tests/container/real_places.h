// The engines that tests of real containers look for: the dockerd of tools/containers
// (BELLJAR_DOCKER_SOCKET, else build/containers/docker.sock of this tree), and Podman where
// BELLJAR_PODMAN_SOCKET names its service.
#ifndef BELLJAR_TESTS_CONTAINER_REAL_PLACES_H_
#define BELLJAR_TESTS_CONTAINER_REAL_PLACES_H_

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>

#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"

namespace belljar::tests {

struct Place {
  std::string engine;
  std::string runtime;
};
// As the names of tests have it.
inline std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.engine << "_" << place.runtime;
}

inline std::string FromEnvironment(const char* name, const char* otherwise) {
  const char* const value = getenv(name);
  return value ? value : otherwise;
}

inline std::string SocketOf(const Place& place) {
  if (place.engine == "podman") return FromEnvironment("BELLJAR_PODMAN_SOCKET", "");
  return FromEnvironment("BELLJAR_DOCKER_SOCKET", BELLJAR_TEST_DOCKER_SOCKET);
}

// runsc without a daemon: its tests and the selection of an engine have a name each for it.
inline bool IsAlone(const Place& place) {
  return place.engine == "alone" || place.engine == "runsc";
}

// The engine of a place, or why it is not available. `runsc_folder` is for runsc without a daemon.
struct FoundEngine {
  std::unique_ptr<container::engines::ContainerEngine> engine;
  std::string missing;
};
inline FoundEngine FindEngine(const Place& place, const std::string& runsc_folder,
                              std::chrono::seconds timeout) {
  if (!IsAlone(place)) {
    const std::string socket = SocketOf(place);
    if (access(socket.c_str(), R_OK | W_OK) != 0) {
      return {nullptr, "no engine for this user at " + socket + ": tools/containers start"};
    }
    return {std::make_unique<container::engines::DockerEngine>(
                container::engines::DockerEngineOptions{.socket = socket, .timeout = timeout}),
            ""};
  }
  if (geteuid() != 0) return {nullptr, "runsc holds all of the limits for root only"};
  auto engine = std::make_unique<container::runsc::RunscEngine>(
      container::runsc::RunscEngineOptions{.folder = runsc_folder, .timeout = timeout});
  if (!engine->Check()) return {nullptr, "no runsc: tools/containers install"};
  return {std::move(engine), ""};
}

// What the probe says: "name value" lines.
inline std::map<std::string, std::string> Facts(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != line.npos) facts[line.substr(0, space)] = line.substr(space + 1);
  }
  return facts;
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_REAL_PLACES_H_
