// ContainerEngine: whoever starts containers on this machine. Docker and Podman by their HTTP API
// (docker_engine.h), or runsc by itself (container/runsc).
//
//   Result<std::unique_ptr<ContainerEngine>> engine = DockerEngine::Connect({.socket = path});
//   Result<EngineFacts> facts = (*engine)->Check();
//   Result<StartedContainer> container = (*engine)->Start(spec);
//   … write to container->input, read from container->output …
//   (*engine)->Remove(container->id);
//
// A container belongs to nobody but its label: whoever starts one removes it, and looks for what an
// earlier crash has left by List. Called on the host; every member from any thread, many at once.
// Every one ends within the engine's timeouts, whatever the daemon does.
#ifndef BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_
#define BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/bytes.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::container::engines {

// The user that nothing belongs to; inside and, where there is no user namespace, outside.
inline constexpr uint32_t kContainerUid = 65534;

// What the engine says of itself.
struct EngineFacts {
  std::string name;                   // "Docker Engine", "Podman Engine", "runsc"
  std::string version;                // "20.10.24+dfsg1"
  std::string api_version;            // the one that is spoken; empty where there is none
  std::vector<std::string> runtimes;  // names that ContainerSpec::runtime may have
  std::string default_runtime;        // what an empty one means
  bool rootless = false;
  // Which of the limits are held. An engine without one of them ignores it silently, so look here.
  bool limits_memory = false;
  bool limits_swap = false;
  bool limits_pids = false;
  bool limits_cpu = false;
};

// One that the engine has.
struct EngineImage {
  // "sha256:…" of its configuration; of its manifest where Docker keeps images in containerd (the
  // default of Docker 29 on). It names the content either way, and may stand for the reference.
  std::string id;
  std::map<std::string, std::string> labels;
  core::Bytes size;
};

// Memory that looks like a folder: the only place where a container can write, but for the /dev/shm
// that Docker and Podman give each (64 MiB, counted as its memory).
struct ContainerFolder {
  std::string path;
  core::Bytes size;
  // Of noexec. runsc of 2022 does not hold it.
  bool executable = false;
};

// Everything of a container that anybody may choose. What is not here nobody chooses: no network, a
// read-only root, no capabilities, no_new_privs, nothing of the host mounted, no log.
struct ContainerSpec {
  std::string image;                     // EngineImage::id or a reference
  std::string runtime;                   // one of EngineFacts::runtimes; empty: its default
  std::vector<std::string> command;      // replaces the image's
  std::vector<std::string> environment;  // "NAME=value"
  std::map<std::string, std::string> labels;
  std::string working_folder = "/";
  std::vector<ContainerFolder> folders;
  core::Bytes memory = core::Bytes::Mebi(256);  // of everything in it, no swap; folders count
  double cpus = 1;
  // Processes and threads; under runsc those of gVisor itself too, which needs 64 to start at all.
  uint64_t pids = 128;
  uint64_t open_files = 1024;
  // Removed by the engine as it ends, so that nothing is left of it where its owner has been
  // killed. Docker only: runsc alone has nobody who would do it, and Podman would not know
  // afterwards how it ended.
  bool leaves_nothing = false;
  // A seccomp profile as Docker has them, in JSON; empty: the engine's own. runsc has no use for
  // one: gVisor's kernel answers every call.
  std::string seccomp;
};

struct StartedContainer {
  std::string id;
  // The standard input of its first process. A socket, perhaps non-blocking: SendAll. Ended by
  // shutdown(SHUT_WR), or by closing it and `output`.
  core::UniqueFd input;
  // Its standard output; a socket or a pipe, for reading only. EOF: the container has closed it or
  // is gone.
  core::UniqueFd output;
  // The last few KiB of its standard error, as they are now: why a guest did not come up.
  std::function<std::string()> errors;
  std::chrono::microseconds started_in{0};
};

struct ContainerExit {
  int exit_code = -1;  // 128 + N: signal N
  // By the kernel, for want of memory. Asked for only where the exit code is that of SIGKILL.
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

  // Asks the engine, each time: fails where it is not there, may not be used, or is too old.
  virtual core::Result<EngineFacts> Check() = 0;

  // nullopt: it is not there.
  virtual core::Result<std::optional<EngineImage>> FindImage(const std::string& reference) = 0;

  // Of an image as `docker save` writes it, or as little of that as the engine takes, read from
  // `tar`'s beginning. `progress` is called with the bytes that the engine has taken; may be empty.
  // Returns what the engine calls it: a reference or an id.
  virtual core::Result<std::string> LoadImage(int tar, const LoadProgress& progress) = 0;

  virtual core::Result<void> RemoveImage(const std::string& reference) = 0;

  // Creates a container, attaches to it, starts it. Where this fails nothing is left.
  virtual core::Result<StartedContainer> Start(const ContainerSpec& spec) = 0;

  // SIGKILL to all of it. One that has ended, or is not there, is no failure.
  virtual core::Result<void> Kill(const std::string& id) = 0;

  // Blocks until it has ended; ETIMEDOUT when it has not by then. One that the engine has removed
  // by itself (ContainerSpec::leaves_nothing) has ended all the same.
  virtual core::Result<ContainerExit> Wait(const std::string& id,
                                           std::chrono::milliseconds timeout) = 0;

  // Whether the kernel has ended something in it for want of memory, as far as that is known by
  // now. It may still run, or have been removed.
  virtual core::Result<bool> RanOutOfMemory(const std::string& id) = 0;

  // Running ones and others that carry the label.
  virtual core::Result<std::vector<ListedContainer>> List(const std::string& label,
                                                          const std::string& value) = 0;

  // Kills it where it still runs, and removes it with its volumes. One that is not there is no
  // failure.
  virtual core::Result<void> Remove(const std::string& id) = 0;
};

}  // namespace belljar::container::engines

#endif  // BELLJAR_CONTAINER_ENGINES_CONTAINER_ENGINE_H_
