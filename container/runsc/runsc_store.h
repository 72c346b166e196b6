// RunscStore: the images of the engine that has no daemon to keep them: each unpacked in a folder
// of its own, named by the digest of its configuration.
#ifndef BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_
#define BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"

namespace belljar::container::runsc {

// Whatever in `folder` is named by 64 hexadecimal digits, as images and containers are; nothing
// where there is no such folder.
core::Result<std::vector<std::string>> DigestsIn(const std::string& folder);

// Fails where there is something already; what could not be written whole is gone again.
core::Result<void> WriteNewFile(const std::string& path, std::string_view text);

class RunscStore {
 public:
  // `folder` is made when it is needed; nobody else may write there.
  explicit RunscStore(std::string folder) : folder_(std::move(folder)) {}

  // `tar` as ContainerEngine::LoadImage has it, but only as WriteImage writes it: anything else is
  // refused, and leaves nothing. Returns the image's reference.
  core::Result<std::string> Load(int tar, const engines::LoadProgress& progress);

  // nullopt: it is not there.
  core::Result<std::optional<engines::EngineImage>> Find(const std::string& reference) const;

  core::Result<void> Remove(const std::string& reference);

  // Where an image's files are.
  std::string RootOf(const engines::EngineImage& image) const;

 private:
  const std::string folder_;
};

}  // namespace belljar::container::runsc

#endif  // BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_
