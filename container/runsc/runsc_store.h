// RunscStore: stores the images of standalone runsc, which has no daemon for that: each unpacked in
// its own folder, named by the digest of its configuration.
#ifndef BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_
#define BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/result.h"

namespace belljar::container::runsc {

// Entries of `folder` named by 64 hexadecimal digits, as images and containers are; empty if the
// folder does not exist.
core::Result<std::vector<std::string>> DigestsIn(const std::string& folder);

// Fails if the file exists; an incomplete file is removed.
core::Result<void> WriteNewFile(const std::string& path, std::string_view text);

class RunscStore {
 public:
  // `folder` is created on demand; no other user may write to it.
  explicit RunscStore(std::string folder) : folder_(std::move(folder)) {}

  // `tar` as in ContainerEngine::LoadImage, but only as written by WriteImage: anything else is
  // refused, and leaves nothing. Returns the image's reference.
  core::Result<std::string> Load(int tar, const engines::LoadProgress& progress);

  // nullopt: it does not exist.
  core::Result<std::optional<engines::EngineImage>> Find(const std::string& reference) const;

  core::Result<void> Remove(const std::string& reference);

  // The path of an image's files.
  std::string RootOf(const engines::EngineImage& image) const;

 private:
  const std::string folder_;
};

}  // namespace belljar::container::runsc

#endif  // BELLJAR_CONTAINER_RUNSC_RUNSC_STORE_H_
