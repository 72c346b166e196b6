// Chooses engine, runtime and image for container runs on this machine.
//
//   Result<ContainerChoice> choice = ChooseContainer({.runtime = "runsc"}, profile);
//   if (!choice) return choice.error();           // names what is missing and what to do
#ifndef BELLJAR_CONTAINER_BACKEND_CONTAINER_CHOICE_H_
#define BELLJAR_CONTAINER_BACKEND_CONTAINER_CHOICE_H_

#include <memory>
#include <string>
#include <vector>

#include "container/engines/container_engine.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"

namespace belljar::container::backend {

struct ContainerSelection {
  // "auto": the first available of Docker, Podman and standalone runsc; "docker", "podman",
  // "runsc".
  std::string engine = "auto";
  std::string socket;            // of Docker or Podman; empty: the default locations
  std::string runtime = "auto";  // "auto": runsc if the engine has it, else runc; "runsc"; "runc"
  bool require_gvisor = false;   // refuse all other runtimes
  // A reference or an id; empty: the one of this version for the profile (ImageReference).
  std::string image;
  std::string folder;  // of standalone runsc: images and state; empty: the user's default
};

// How the parts of a selection were spelled by the user, up to their values: "--engine ".
struct SelectionNames {
  const char* engine;
  const char* socket;
  const char* runtime;
  const char* require_gvisor;
};

// Checks that its parts are compatible. The error is the user's.
core::Result<void> CheckTogether(const ContainerSelection& selection, const SelectionNames& names);

struct ContainerChoice {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::EngineFacts facts;
  std::string runtime;  // "runsc", "runc": as named in results
  engines::EngineImage image;
};

// The choice that can be made before there is an image.
struct EngineChoice {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::EngineFacts facts;
  std::string name;     // as in ContainerSelection::engine: "docker"
  std::string runtime;  // "runsc", "runc"
};

// The check of one engine, for `belljar doctor`.
struct EngineCheck {
  std::string engine;  // "docker", "podman", "runsc"
  bool found = false;
  std::string detail;  // what it is and its runtimes; or why it is not available, and what to do
};

// Those of "memory", "processes", "cpu" that the engine cannot limit for any container, as for one
// without root. The worker enforces a program's own limits in any case.
std::vector<std::string> NotLimitedBy(const engines::EngineFacts& facts);

// The default sockets of Docker ("docker") or Podman ("podman") for this user, in the order to try.
// If DOCKER_HOST is set, only that one for "docker".
std::vector<std::string> DefaultSocketsOf(const std::string& engine);

// The image must exist for this version, profile and Python; otherwise the error says how to build
// it.
core::Result<ContainerChoice> ChooseContainer(const ContainerSelection& selection,
                                              const core::Profile& profile);

// The first engine that satisfies the selection, whatever images it has. For loading an image.
core::Result<EngineChoice> ChooseEngine(const ContainerSelection& selection);

// All engines, whatever the selection prefers; checks each once. Does not look for images.
std::vector<EngineCheck> CheckEngines(const ContainerSelection& selection);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_CHOICE_H_
