#include "cli/image_loaders.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "container/backend/container_choice.h"
#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::cli {
namespace {

core::Result<void> LoadInto(container::engines::ContainerEngine& engine, const std::string& path,
                            const container::image::ImageProgress& progress) {
  const core::UniqueFd tar(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!tar) return core::SystemError("open " + core::Quoted(path));
  const container::engines::LoadProgress report = [&](core::Bytes taken, core::Bytes of) {
    progress(taken.count, of.count);
  };
  const core::Result<std::string> loaded = engine.LoadImage(tar.get(), report);
  return loaded ? core::Result<void>() : loaded.error();
}

// Uses the first socket that works; if none does, reports the error of the first.
core::Result<void> LoadOver(const std::vector<std::string>& sockets, const std::string& path,
                            const container::image::ImageProgress& progress) {
  std::optional<core::Error> reason;
  for (const std::string& socket : sockets) {
    container::engines::DockerEngine engine({.socket = socket});
    if (const core::Result<container::engines::EngineFacts> facts = engine.Check(); !facts) {
      if (!reason) reason = facts.error();
      continue;
    }
    return LoadInto(engine, path, progress);
  }
  return reason ? *reason
                : core::MakeError("load an image", "this user has no socket of that engine");
}

// The default folder, where runs of this user look for the image.
core::Result<void> LoadForRunsc(const std::string& path,
                                const container::image::ImageProgress& progress) {
  const std::string folder = container::runsc::DefaultRunscFolder();
  if (folder.empty())
    return core::MakeError("load an image", "HOME is not set, so there is no folder for the image");
  container::runsc::RunscEngine engine({.folder = folder, .rootless = geteuid() != 0});
  if (const core::Result<container::engines::EngineFacts> facts = engine.Check(); !facts)
    return facts.error();
  return LoadInto(engine, path, progress);
}

}  // namespace

std::vector<container::image::NamedImageLoader> DefaultImageLoaders() {
  const auto loader = [](const std::string& engine) -> container::image::ImageLoader {
    return [engine](const std::string& path, const container::image::ImageProgress& progress) {
      return LoadOver(container::backend::DefaultSocketsOf(engine), path, progress);
    };
  };
  return {{"docker", loader("docker")}, {"podman", loader("podman")}, {"runsc", LoadForRunsc}};
}

}  // namespace belljar::cli
