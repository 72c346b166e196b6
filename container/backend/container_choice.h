// Which engine, runtime and image a container run takes on this machine.
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
  // "auto": the first of Docker, Podman and runsc alone that is here; "docker", "podman", "runsc".
  std::string engine = "auto";
  std::string socket;  // of Docker or Podman; empty: where they usually listen
  std::string runtime =
      "auto";                   // "auto": runsc where the engine has it, else runc; "runsc"; "runc"
  bool require_gvisor = false;  // refuse every other runtime
  // A reference or an id; empty: that of this version for the profile (ImageReference).
  std::string image;
  std::string folder;  // of runsc alone: images and state; empty: a place of this user's
};

// How the parts of a selection are spelled where they were given, up to their values: "--engine ".
struct SelectionNames {
  const char* engine;
  const char* socket;
  const char* runtime;
  const char* require_gvisor;
};

// Whether its parts go together. The error is the user's.
core::Result<void> CheckTogether(const ContainerSelection& selection, const SelectionNames& names);

struct ContainerChoice {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::EngineFacts facts;
  std::string runtime;  // "runsc", "runc": as results name it
  engines::EngineImage image;
};

// As far as it can be chosen before there is an image.
struct EngineChoice {
  std::shared_ptr<engines::ContainerEngine> engine;
  engines::EngineFacts facts;
  std::string name;     // as ContainerSelection::engine has it: "docker"
  std::string runtime;  // "runsc", "runc"
};

// One engine that was looked for, for `belljar doctor`.
struct EngineCheck {
  std::string engine;  // "docker", "podman", "runsc"
  bool found = false;
  std::string detail;  // what it is and which runtimes it has; why it is not, and what to do
};

// Of "memory", "processes", "cpu" what the engine limits for no container: one without root may
// not. A program's own limits are held by its worker all the same.
std::vector<std::string> NotLimitedBy(const engines::EngineFacts& facts);

// Where Docker ("docker") or Podman ("podman") usually listens for this user, in the order in which
// to ask; where DOCKER_HOST says which, for "docker" that one and no other.
std::vector<std::string> DefaultSocketsOf(const std::string& engine);

// The image has to be there, of this version, profile and Python, or the error says how to make it.
core::Result<ContainerChoice> ChooseContainer(const ContainerSelection& selection,
                                              const core::Profile& profile);

// The first engine that has what the selection asks for, whatever images it has: for whoever is
// about to load one.
core::Result<EngineChoice> ChooseEngine(const ContainerSelection& selection);

// All of them, whatever the selection prefers; asks each once. Looks for no image.
std::vector<EngineCheck> CheckEngines(const ContainerSelection& selection);

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_CONTAINER_CHOICE_H_
