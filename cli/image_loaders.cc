#include "cli/image_loaders.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>

#include "container/backend/container_choice.h"
#include "container/engines/docker_engine.h"
#include "container/runsc/runsc_engine.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

Result<void> LoadInto(ContainerEngine& engine, const std::string& path,
                      const ImageProgress& progress) {
  const UniqueFd tar(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!tar) return SystemError("open " + Quoted(path));
  const LoadProgress report = [&](Bytes taken, Bytes of) { progress(taken.count, of.count); };
  const Result<std::string> loaded = engine.LoadImage(tar.get(), report);
  return loaded ? Result<void>() : loaded.error();
}

// The first socket that answers takes it; where none does, the first one's reason is told.
Result<void> LoadOver(const std::vector<std::string>& sockets, const std::string& path,
                      const ImageProgress& progress) {
  std::optional<Error> reason;
  for (const std::string& socket : sockets) {
    DockerEngine engine({.socket = socket});
    if (const Result<EngineFacts> facts = engine.Check(); !facts) {
      if (!reason) reason = facts.error();
      continue;
    }
    return LoadInto(engine, path, progress);
  }
  return reason ? *reason : MakeError("load an image", "this user has no socket of that engine");
}

// Runs of this user find it there, unless they are told of another folder.
Result<void> LoadForRunsc(const std::string& path, const ImageProgress& progress) {
  const std::string folder = UsualRunscFolder();
  if (folder.empty()) return MakeError("load an image", "this user has no HOME to keep it in");
  RunscEngine engine({.folder = folder, .rootless = geteuid() != 0});
  if (const Result<EngineFacts> facts = engine.Check(); !facts) return facts.error();
  return LoadInto(engine, path, progress);
}

}  // namespace

std::vector<NamedImageLoader> UsualImageLoaders() {
  const auto loader = [](const std::string& engine) -> ImageLoader {
    return [engine](const std::string& path, const ImageProgress& progress) {
      return LoadOver(UsualSocketsOf(engine), path, progress);
    };
  };
  return {{"docker", loader("docker")}, {"podman", loader("podman")}, {"runsc", LoadForRunsc}};
}

}  // namespace belljar
