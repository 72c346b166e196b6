// The image that the tests of container/ run: one static program (probe.c) and nothing else, of the
// form of all of Belljar's.
#ifndef BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
#define BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_

#include <string>

namespace belljar::tests {

inline constexpr char kProbeImage[] = "belljar:0-test-probe";

// The program of this machine that is in it: what it may do outside is what a container takes away.
std::string ProbeProgram();

// An archive of it; its label belljar.profile is "probe".
std::string ProbeImage();

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
