// From what a caller wishes for to an open sandbox of the engine's. Knows no Python.
//
//   Result<Choice> choice = Choose(catalogue, wishes);   // an error is the caller's
//   Result<Opened> opened = Open(std::move(*choice));    // an error is ours, or this machine's
#ifndef BELLJAR_PYTHON_OPENING_H_
#define BELLJAR_PYTHON_OPENING_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/backend/container_sandbox.h"
#include "container/packages/package_index.h"
#include "container/packages/package_requirement.h"
#include "engine/core/result.h"
#include "engine/door/door_rules.h"
#include "engine/outside/profile_catalogue.h"
#include "engine/outside/sandbox.h"

namespace belljar::python {

struct ContainerWishes {
  ContainerWish wish;
  std::vector<std::string> packages;  // requirements of an index: "requests>=2.31"
  PackageSource source;
};

// What Sandbox of the package is made with.
struct Wishes {
  std::string profile = "basic";  // name, names joined with "+", or an operator's file
  bool is_strict = true;
  bool is_restricted = true;
  std::vector<std::string> allowed_domains;
  std::vector<std::string> allow_private;
  std::optional<size_t> spares;  // nullopt: as many as is usual
  std::optional<ContainerWishes> container;
};

struct Choice {
  SandboxOptions sandbox;  // with the installation
  std::optional<ContainerOptions> container;
  std::vector<PackageRequirement> packages;
  PackageSource source;
  std::string facts;
};

struct Opened {
  Profile profile;
  IsolationMode isolation = IsolationMode::kStrict;
  Language language = Language::kRestricted;
  std::optional<DoorRules> rules;     // of a profile with a network
  std::string facts;                  // of the profile, as `belljar info --json` has them
  std::vector<std::string> packages;  // that were installed for it: "requests==2.31.0"
  bool is_container = false;
  std::unique_ptr<Sandbox> sandbox;  // null once it is closed
};

Result<Choice> Choose(const ProfileCatalogue& catalogue, const Wishes& wishes);

// Returns before the first worker is ready; with packages, once they are installed. Threads that
// this starts take no signals: those of the process are for its interpreter, whose handlers want
// the main thread.
Result<Opened> Open(Choice choice, int cancel_fd);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_OPENING_H_
