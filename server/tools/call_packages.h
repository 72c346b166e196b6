// CallPackages: the packages that calls may request on a server whose operator allows some.
//
//   std::optional<Requirements> asked = packages.Take(texts, in_container, problems);
//   Result<PreparedPackages> prepared = packages.Prepare(profile, *asked, cancel_fd);
//   containers.Get(prepared->profile);
#ifndef BELLJAR_SERVER_TOOLS_CALL_PACKAGES_H_
#define BELLJAR_SERVER_TOOLS_CALL_PACKAGES_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "container/packages/package_requirement.h"
#include "container/packages/packages.h"
#include "container/packages/session_packages.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/sessions/session.h"
#include "server/core/config.h"

namespace belljar::server::tools {

using Requirements = std::vector<container::packages::PackageRequirement>;

class CallPackages {
 public:
  CallPackages(PackagesConfig config, const ContainerConfig& container);

  bool enabled() const { return config_.enabled; }
  const std::vector<std::string>& allowed() const { return config_.allowed; }

  // The packages that a call requests; nullopt: none, or `problems` has new entries. `has_place`:
  // it is in a container, or runs a command.
  std::optional<Requirements> Take(const std::vector<std::string>& texts, bool has_place,
                                   std::vector<std::string>& problems) const;

  // Blocks, possibly for a whole installation; any thread. Precondition: enabled, and the
  // requirements come from Take. Errors are reported to the caller; the next call retries.
  core::Result<container::packages::PreparedPackages> Prepare(const core::Profile& profile,
                                                              const Requirements& requirements,
                                                              int cancel_fd);
  // Likewise, for the commands of a session of which `installed` is, without a container.
  core::Result<std::vector<container::packages::LockedPackage>> Install(
      container::packages::SessionPackages& installed, sessions::Session& session,
      const Requirements& requirements, int cancel_fd);

 private:
  using Source = std::unique_ptr<container::packages::Packages>;

  // Opens it on first use.
  core::Result<container::packages::Packages*> Open(Source& source, bool in_container);

  const PackagesConfig config_;
  const container::backend::ContainerSelection selection_;
  std::mutex mutex_;
  Source for_containers_;
  Source for_commands_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CALL_PACKAGES_H_
