// From a caller's options to an open outside::Sandbox. Independent of Python.
//
//   Result<Choice> choice = Choose(catalogue, open_request);  // errors are the caller's mistakes
//   Result<Opened> opened = Open(std::move(*choice), cancel_fd);  // errors are failures
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
#include "container/packages/session_packages.h"
#include "engine/core/result.h"
#include "engine/egress/egress_rules.h"
#include "engine/installation/installation.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::python {

struct ContainerRequest {
  container::backend::ContainerSelection selection;
};

// The options of belljar.Sandbox.
struct OpenRequest {
  // A name, names joined with "+", or the path of a profile file. Empty: none was named.
  std::string profile;
  std::string language;                // empty: Python
  bool allows_missing_layers = false;  // isolation="standard"
  bool without_policy = false;         // policy="off"
  std::vector<std::string> allowed_domains;
  std::vector<std::string> allow_private;
  std::vector<std::string> modules;  // that its programs may import, if the sandbox names some
  std::optional<size_t> spares;      // nullopt: the default
  std::optional<ContainerRequest> container;
  std::vector<std::string> packages;  // requirements of an index: "requests>=2.31"
  container::packages::PackageSource source;
};

struct Choice {
  outside::SandboxOptions sandbox;  // with the installation
  std::optional<container::backend::ContainerOptions> container;
  std::vector<container::packages::PackageRequirement> packages;
  container::packages::PackageSource source;
  std::string facts;
  std::string offer;
  std::vector<core::Profile> enabled;  // for runs to choose from, if no profile was named
};

struct Opened {
  core::Profile profile;
  installation::Installation installation;
  outside::IsolationMode isolation = outside::IsolationMode::kStrict;
  outside::Policy policy = outside::Policy::kOn;
  std::optional<egress::EgressRules> rules;  // of a profile with a network
  std::string facts;                         // of the profile, as `belljar info --json` has them
  std::string offer;                         // what it has, for a model (profiles::OfferText)
  container::packages::PackageSource source;
  container::packages::SessionPackages packages;  // that were installed for it
  bool is_container = false;
  std::vector<core::Profile> enabled;         // as above
  std::unique_ptr<outside::Sandbox> sandbox;  // null once it is closed
};

core::Result<Choice> Choose(const profiles::ProfileCatalogue& catalogue,
                            const OpenRequest& open_request);

// An error, the caller's: there is no index or registry for one of them, or it is none.
core::Result<void> CheckSource(
    const container::packages::PackageSource& source,
    const std::vector<container::packages::PackageRequirement>& requirements);

// An error, the caller's: its language has no sessions.
core::Result<void> CheckSessions(const Opened& opened);

// Returns before the first worker is ready; with packages, once they are installed. The threads
// that it starts block all signals: these are for the interpreter, whose handlers run in the main
// thread.
core::Result<Opened> Open(Choice choice, int cancel_fd);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_OPENING_H_
