// Installer: installs packages from an index into a folder, with pip, or npm's with npm
// (install_npm.js, install_npm.toml).
//
//   host                              sandbox or container of profile "installer"
//   requirements, checked ─── standard input ──▶ install.py: pip, in the worker's own interpreter
//   proxy: the index and its hosts ◀──── HTTP ─── which has no other way out
//   the archive, checked ◀───────── artifact ─── /workspace/packages.tar.z
//   the list, checked ◀─────────────── result ── names, versions, files, SHA-256
//
// The installer is a run like any other: sealed, bounded, alone in its sandbox or container, and
// removed with it. No package code runs there, since only wheels are accepted, and none of npm's
// scripts are run; but pip parses untrusted files, so everything that comes back is treated as made
// by a hostile guest.
#ifndef BELLJAR_CONTAINER_PACKAGES_INSTALLER_H_
#define BELLJAR_CONTAINER_PACKAGES_INSTALLER_H_

#include <chrono>
#include <functional>
#include <string>

#include "container/packages/package_index.h"
#include "container/packages/package_lock.h"
#include "container/packages/package_requirement.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/installation/installation.h"
#include "engine/outside/sandbox.h"

namespace belljar::container::packages {

struct InstallBounds {
  std::chrono::milliseconds timeout{300'000};  // for pip, including all downloads
  TreeBounds tree;
};

// The path of the installer's profile in an installation, used like an operator's own profile file.
std::string InstallerProfileFile(const installation::Installation& installation);

// Options for an installer's sandbox. npm's runs on this machine only, with its Node.js.
core::Result<outside::SandboxOptions> InstallerOptions(
    const installation::Installation& installation, const PackageIndex& index,
    const InstallBounds& bounds, bool is_npm = false);

class Installer {
 public:
  // Runs one request in such a sandbox.
  using Run =
      std::function<core::Result<host::Outcome>(const host::Request&, const run::RunOptions&)>;

  // `index` and `installation` are borrowed.
  Installer(const installation::Installation& installation, const PackageIndex& index,
            InstallBounds bounds, Run run)
      : installation_(installation), index_(index), bounds_(bounds), run_(std::move(run)) {}

  // Installs what `question` asks for into `site`, an empty folder. An error says what to do, and
  // leaves the folder's content to the caller.
  core::Result<PackageLock> Install(const PackageQuestion& question, const std::string& site,
                                    int cancel_fd) const;

 private:
  core::Result<host::Request> MakeRequest(const PackageQuestion& question) const;
  core::Error Explain(const std::string& kind, const std::string& what,
                      const host::Outcome& outcome, bool is_npm) const;
  core::Error ExplainEnd(const host::Outcome& outcome) const;
  core::Result<PackageLock> Take(const PackageQuestion& question, const host::Outcome& outcome,
                                 const std::string& site) const;

  const installation::Installation& installation_;
  const PackageIndex& index_;
  const InstallBounds bounds_;
  const Run run_;
};

}  // namespace belljar::container::packages

#endif  // BELLJAR_CONTAINER_PACKAGES_INSTALLER_H_
