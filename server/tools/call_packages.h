// CallPackages: the packages that calls may ask for, of a server whose operator allows some.
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
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "server/core/config.h"

namespace belljar::server::tools {

using Requirements = std::vector<container::packages::PackageRequirement>;

class CallPackages {
 public:
  CallPackages(PackagesConfig config, const ContainerConfig& container);

  bool enabled() const { return config_.enabled; }
  const std::vector<std::string>& allowed() const { return config_.allowed; }

  // What a call has asked for, as far as it may; nullopt: nothing, or there are new problems.
  std::optional<Requirements> Take(const std::vector<std::string>& texts, bool in_container,
                                   std::vector<std::string>& problems) const;

  // Blocks, for as long as an installation may take; any thread. Precondition: enabled, and Take
  // gave them. An error is to be told to the caller; the next call tries again.
  core::Result<container::packages::PreparedPackages> Prepare(const core::Profile& profile,
                                                              const Requirements& requirements,
                                                              int cancel_fd);

 private:
  core::Result<container::packages::Packages*> Open();

  const PackagesConfig config_;
  const container::backend::ContainerSelection selection_;
  std::mutex mutex_;
  std::unique_ptr<container::packages::Packages> packages_;
};

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_CALL_PACKAGES_H_
