// The image that the tests of container/ run: one static program (probe.c) and nothing else,
// written by hand as `docker save` would.
#ifndef BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
#define BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_

#include <string>

namespace belljar {

inline constexpr char kProbeImage[] = "belljar-test-probe:1";

// A tar of it; its configuration has the label "dev.belljar.test" = "probe".
std::string ProbeImage();

}  // namespace belljar

#endif  // BELLJAR_TESTS_CONTAINER_PROBE_IMAGE_H_
