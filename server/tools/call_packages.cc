#include "server/tools/call_packages.h"

#include <cstdlib>
#include <utility>

#include "engine/core/text.h"

namespace belljar::server::tools {
namespace {

constexpr char kHowToAllowPackages[] =
    "packages: not enabled on this server; an operator enables them with enabled = true, an index "
    "and allowed names in [packages] of the configuration file. Omit packages: get_sandbox_info "
    "lists the available modules";

// The variable may contain credentials; settings are displayed and must not.
std::string GivenOr(const std::string& given, const char* name) {
  if (!given.empty()) return given;
  const char* const variable = getenv(name);  // NOLINT(concurrency-mt-unsafe): none is set
  return variable ? variable : "";
}

}  // namespace

CallPackages::CallPackages(PackagesConfig config, const ContainerConfig& container)
    : config_(std::move(config)),
      selection_{.engine = container.engine,
                 .socket = container.socket,
                 .runtime = container.runtime,
                 .require_gvisor = container.require_gvisor,
                 .image = "",
                 .folder = ""} {}

std::optional<Requirements> CallPackages::Take(const std::vector<std::string>& texts,
                                               bool has_place,
                                               std::vector<std::string>& problems) const {
  if (texts.empty()) return std::nullopt;
  if (!enabled()) {
    problems.push_back(kHowToAllowPackages);
    return std::nullopt;
  }
  if (!has_place) {
    problems.push_back("packages: available only in containers; set use_container to true as well");
    return std::nullopt;
  }
  core::Result<Requirements> requirements = container::packages::ParseRequirements(texts);
  if (!requirements) {
    problems.push_back(requirements.error().ToString());
    return std::nullopt;
  }
  const size_t before = problems.size();
  for (const container::packages::PackageRequirement& each : *requirements) {
    if (container::packages::IsAllowedPackage(each.name, config_.allowed)) continue;
    problems.push_back("packages: " + core::Quoted(each.name) +
                       " is not allowed; the operator allows " + core::Joined(config_.allowed));
  }
  if (problems.size() > before) return std::nullopt;
  return std::move(*requirements);
}

core::Result<container::packages::Packages*> CallPackages::Open(Source& source, bool in_container) {
  const std::lock_guard lock(mutex_);
  if (!source) {
    container::packages::PackagesOptions options;
    options.source = {.index = GivenOr(config_.index, "PIP_INDEX_URL"),
                      .npm_registry = GivenOr(config_.npm_registry, "NPM_CONFIG_REGISTRY"),
                      .hosts = config_.hosts,
                      .allow_private = config_.allow_private,
                      .resolve = {}};
    options.bounds.timeout = config_.timeout;
    options.bounds.tree.size = config_.max_size;
    options.folder = config_.folder;
    if (in_container) options.selection = selection_;
    core::Result<std::unique_ptr<container::packages::Packages>> opened =
        container::packages::Packages::Open(std::move(options));
    if (!opened) return opened.error();
    source = std::move(*opened);
  }
  return source.get();
}

core::Result<container::packages::PreparedPackages> CallPackages::Prepare(
    const core::Profile& profile, const Requirements& requirements, int cancel_fd) {
  const core::Result<container::packages::Packages*> source = Open(for_containers_, true);
  if (!source) return source.error();
  return (*source)->Prepare(profile, requirements, cancel_fd);
}

core::Result<std::vector<container::packages::LockedPackage>> CallPackages::Install(
    container::packages::SessionPackages& installed, sessions::Session& session,
    const Requirements& requirements, int cancel_fd) {
  const core::Result<container::packages::Packages*> source = Open(for_commands_, false);
  if (!source) return source.error();
  return installed.Install(**source, session, requirements, cancel_fd);
}

}  // namespace belljar::server::tools
