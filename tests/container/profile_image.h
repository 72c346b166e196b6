// The image of a profile, made of this build, for tests of real containers.
#ifndef BELLJAR_TESTS_CONTAINER_PROFILE_IMAGE_H_
#define BELLJAR_TESTS_CONTAINER_PROFILE_IMAGE_H_

#include <string>

#include "container/image/archive.h"
#include "container/image/image_files.h"
#include "engine/host/version.h"
#include "engine/installation/installation.h"
#include "tests/support/support.h"

namespace belljar::tests {

struct ProfileImage {
  std::string path;
  std::string id;
};

// Writes it to `path`, named for `name` and `version`.
inline ProfileImage WriteProfileImage(const installation::Installation& installation,
                                      const core::Profile& profile, const std::string& name,
                                      const std::string& version, const std::string& path) {
  const container::image::ImageFiles files = Had(container::image::CollectImageFiles(
      {.installation = installation,
       .profile = profile,
       .profile_file = "",
       .guest = container::image::GuestProgramPath(installation)}));
  const container::image::ImageFacts facts =
      Had(container::image::WriteImage(files,
                                       {.version = version,
                                        .profile = name,
                                        .python = host::kPythonVersion,
                                        .inputs = "",
                                        .architecture = files.architecture},
                                       path, nullptr));
  return {path, "sha256:" + facts.config.digest};
}

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_CONTAINER_PROFILE_IMAGE_H_
