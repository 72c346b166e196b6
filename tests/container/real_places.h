// The engines that tests of real containers look for: the dockerd of tools/containers
// (BELLJAR_DOCKER_SOCKET, else build/containers/docker.sock of this tree), and Podman where
// BELLJAR_PODMAN_SOCKET names its service.
#ifndef BELLJAR_TESTS_CONTAINER_REAL_PLACES_H_
#define BELLJAR_TESTS_CONTAINER_REAL_PLACES_H_

#include <cstdlib>
#include <map>
#include <ostream>
#include <sstream>
#include <string>

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
