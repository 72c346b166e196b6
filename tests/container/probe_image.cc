#include "tests/container/probe_image.h"

#include "container/image/archive.h"
#include "tests/container/image_support.h"

namespace belljar::tests {

std::string ProbeProgram() { return BELLJAR_CONTAINER_PROBE; }

std::string ProbeImage() {
  container::image::ImageFiles files;
  files.architecture = "amd64";
  files.files["probe"] = {container::image::ImageFile::Form::kCopy, BELLJAR_CONTAINER_PROBE, "",
                          true};
  const container::image::ImageIdentity identity{.version = "0-test",
                                                 .profile = "probe",
                                                 .python = "none",
                                                 .inputs = "",
                                                 .architecture = files.architecture};
  const TestFolder folder;
  const std::string path = folder.File("image.tar");
  const core::Result<container::image::ImageFacts> facts =
      container::image::WriteImage(files, identity, path, nullptr);
  EXPECT_TRUE(facts) << facts.error().ToString();
  EXPECT_EQ(facts->reference, kProbeImage);
  return ReadText(path);
}

}  // namespace belljar::tests
