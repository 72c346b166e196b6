// ContainerEngine: starts containers on this machine. Docker and Podman through their HTTP API
// (docker_engine.h), or standalone runsc (container/runsc).
//
//   Result<std::unique_ptr<ContainerEngine>> engine = DockerEngine::Connect({.socket = path});
//   Result<EngineFacts> facts = (*engine)->Check();
//   Result<StartedContainer> container = (*engine)->Start(spec);
//   … write to container->input, read from container->output …
//   (*engine)->Remove(container->id);
//
// A container's owner is only known from its labels. Whoever starts one removes it, and uses List
// to find leftovers of an earlier crash. Called on the host. All members can be called from any
// thread, concurrently, and return within the engine's timeouts, whatever the daemon does.
#ifndef BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_
#define BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::container::engines {

// A user that owns nothing; inside and, without a user namespace, outside.
inline constexpr uint32_t kContainerUid = 65534;

// What the engine reports about itself.
struct EngineFacts {
  std::string name;                   // "Docker Engine", "Podman Engine", "runsc"
  std::string version;                // "20.10.24+dfsg1"
  std::string api_version;            // the one in use; empty if there is none
  std::vector<std::string> runtimes;  // allowed values of ContainerSpec::runtime
  std::string default_runtime;        // used if it is empty
  bool rootless = false;
  // Which limits are enforced. An engine silently ignores those it does not support.
  bool limits_memory = false;
  bool limits_swap = false;
  bool limits_pids = false;
  bool limits_cpu = false;
};

// An image in the engine.
struct EngineImage {
  // "sha256:…" of its configuration; of its manifest if Docker stores images in containerd (the
  // default since Docker 29). It identifies the content either way, and can be used as a reference.
  std::string id;
  std::map<std::string, std::string> labels;
  core::Bytes size;
};

// A tmpfs, with noexec (which runsc of 2022 does not enforce) unless it is for programs. The only
// place where a container can write, except for the /dev/shm that Docker and Podman give each
// container (64 MiB, counted as its memory).
struct ContainerFolder {
  std::string path;
  core::Bytes size;
  bool executable = false;
};

// The configurable properties of a container. Everything else is fixed: no network, a read-only
// root, no capabilities, no_new_privs, no mounts from the host, no log.
struct ContainerSpec {
  std::string image;                     // EngineImage::id or a reference
  std::string runtime;                   // one of EngineFacts::runtimes; empty: the default
  std::vector<std::string> command;      // replaces the image's command
  std::vector<std::string> environment;  // "NAME=value"
  std::map<std::string, std::string> labels;
  std::string working_folder = "/";
  std::vector<ContainerFolder> folders;
  core::Bytes memory = core::Bytes::Mebi(256);  // of the whole container, no swap; includes folders
  double cpus = 1;
  // Processes and threads; with runsc including those of gVisor itself, which needs 64 to start.
  uint64_t pids = 128;
  uint64_t open_files = 1024;
  // The engine removes it when it ends, so that nothing is left if its owner was killed. Docker
  // only: nothing would do it for standalone runsc, and Podman could not report afterwards how it
  // ended.
  bool leaves_nothing = false;
};

struct StartedContainer {
  std::string id;
  // The standard input of its first process. A socket, possibly non-blocking: use SendAll. Ended by
  // shutdown(SHUT_WR), or by closing it and `output`.
  core::UniqueFd input;
  // Its standard output; a read-only socket or pipe. EOF: the container has closed it or is gone.
  core::UniqueFd output;
  // The last few KiB of its standard error so far: why a guest did not start.
  std::function<std::string()> errors;
  std::chrono::microseconds started_in{0};
};

struct ContainerExit {
  int exit_code = -1;  // 128 + N: signal N
  // Killed by the kernel for lack of memory. Only determined if the exit code is that of SIGKILL.
  bool out_of_memory = false;
};

struct ListedContainer {
  std::string id;
  std::map<std::string, std::string> labels;
  bool running = false;
};

using LoadProgress = std::function<void(core::Bytes taken, core::Bytes of)>;

class ContainerEngine {
 public:
  virtual ~ContainerEngine() = default;

  // Asks the engine each time. Fails if it is not running, not accessible, or too old.
  virtual core::Result<EngineFacts> Check() = 0;

  // nullopt: it does not exist.
  virtual core::Result<std::optional<EngineImage>> FindImage(const std::string& reference) = 0;

  // Loads an image as written by `docker save`, or the subset of that format that the engine
  // accepts, from the beginning of `tar`. `progress` is called with the number of bytes that the
  // engine has read; may be empty. Returns the engine's name for it: a reference or an id.
  virtual core::Result<std::string> LoadImage(int tar, const LoadProgress& progress) = 0;

  virtual core::Result<void> RemoveImage(const std::string& reference) = 0;

  // Creates a container, attaches to it, starts it. On failure nothing is left.
  virtual core::Result<StartedContainer> Start(const ContainerSpec& spec) = 0;

  // SIGKILL to all of it. Not an error if it has ended or does not exist.
  virtual core::Result<void> Kill(const std::string& id) = 0;

  // Blocks until it has ended; ETIMEDOUT if it has not by then. A container that the engine has
  // removed by itself (ContainerSpec::leaves_nothing) counts as ended.
  virtual core::Result<ContainerExit> Wait(const std::string& id,
                                           std::chrono::milliseconds timeout) = 0;

  // Whether the kernel has killed something in it for lack of memory, as far as is known by now.
  // The container may still be running, or may have been removed.
  virtual core::Result<bool> RanOutOfMemory(const std::string& id) = 0;

  // Containers with the label, running or not.
  virtual core::Result<std::vector<ListedContainer>> List(const std::string& label,
                                                          const std::string& value) = 0;

  // Kills it if it is still running, and removes it with its volumes. Not an error if it does not
  // exist.
  virtual core::Result<void> Remove(const std::string& id) = 0;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_
