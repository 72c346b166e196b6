#include "cli/image_loaders.h"

#include <fcntl.h>

#include <cstdlib>
#include <optional>

#include "container/engines/docker_engine.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar {
namespace {

// Of those where engines listen for this user, the ones of Podman, or the others; where DOCKER_HOST
// says which, that one and no other.
std::vector<std::string> SocketsOf(bool podman) {
  std::vector<std::string> sockets = UsualEngineSockets();
  const char* const host = getenv("DOCKER_HOST");
  if (!podman && host && "unix://" + sockets.front() == host) return {sockets.front()};
  std::erase_if(sockets, [&](const std::string& socket) {
    return (socket.find("podman") != socket.npos) != podman;
  });
  return sockets;
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
    const UniqueFd tar(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!tar) return SystemError("open " + Quoted(path));
    const LoadProgress report = [&](Bytes taken, Bytes of) { progress(taken.count, of.count); };
    const Result<std::string> loaded = engine.LoadImage(tar.get(), report);
    return loaded ? Result<void>() : loaded.error();
  }
  return reason ? *reason : MakeError("load an image", "this user has no socket of that engine");
}

}  // namespace

std::vector<NamedImageLoader> UsualImageLoaders() {
  const auto loader = [](bool podman) -> ImageLoader {
    return [podman](const std::string& path, const ImageProgress& progress) {
      return LoadOver(SocketsOf(podman), path, progress);
    };
  };
  return {{"docker", loader(false)}, {"podman", loader(true)}};
}

}  // namespace belljar
