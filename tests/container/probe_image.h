// The image that the tests of container/ run: one static program (probe.c) and nothing else,
// written by hand as `docker save` would.
#ifndef BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
#define BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_

#include <string>
#include <vector>

namespace belljar {

inline constexpr char kProbeImage[] = "belljar-test-probe:2";

// The program of this machine that is in it: what it may do outside is what a container takes away.
std::string ProbeProgram();

// One member of a tar. type: '0' a file, '1' a hard link, '2' a symbolic link, '4' a device, '5' a
// folder.
struct TarMember {
  std::string name;
  std::string content;
  char type = '0';
  std::string link;
};

// A tar of it; its configuration has the label "dev.belljar.test" = "probe". `more`: at the end of
// its layer.
std::string ProbeImage(const std::vector<TarMember>& more = {});

}  // namespace belljar

#endif  // BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
