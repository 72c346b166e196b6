#include "container/backend/container_sandbox.h"

#include <algorithm>
#include <utility>

#include "container/backend/container_backend.h"
#include "container/backend/container_owner.h"
#include "container/backend/container_plan.h"
#include "engine/installation/installation.h"

namespace belljar::container::backend {
namespace {

GuestTerms TermsOf(const outside::SandboxOptions& sandbox, egress::EgressService* egress_service) {
  return GuestTerms::Of(sandbox.profile, outside::ModeName(sandbox.isolation),
                        outside::PolicyName(outside::PolicyOf(sandbox)), egress_service);
}

core::Result<std::string> InstanceOf(const outside::SandboxOptions& sandbox,
                                     const ContainerOptions& options) {
  if (!options.instance.empty()) return options.instance;
  core::Result<installation::Installation> installation =
      installation::GivenOrFound(sandbox.installation);
  if (!installation) return installation.error();
  return DefaultInstance(*installation);
}

host::ContainerReport ReportOf(const ContainerChoice& choice) {
  host::ContainerReport report;
  report.engine = choice.facts.name;
  report.runtime = choice.runtime;
  report.image_digest = choice.image.id;
  report.not_limited = NotLimitedBy(choice.facts);
  return report;
}

}  // namespace

core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options) {
  core::Result<ContainerChoice> choice = ChooseContainer(options.selection, sandbox.profile);
  if (!choice) return choice.error();
  return OpenContainerSandbox(std::move(sandbox), std::move(options), std::move(*choice));
}

core::Result<std::unique_ptr<outside::Sandbox>> OpenContainerSandbox(
    outside::SandboxOptions sandbox, ContainerOptions options, ContainerChoice choice) {
  core::Result<std::string> instance = InstanceOf(sandbox, options);
  if (!instance) return instance.error();
  core::Result<std::unique_ptr<egress::EgressService>> egress_service =
      outside::StartEgressService(sandbox);
  if (!egress_service) return egress_service.error();
  core::Result<size_t> removed = RemoveOrphans(*choice.engine, *instance);
  if (!removed) return removed.error();

  ContainerBackendOptions backend;
  backend.report = ReportOf(choice);
  backend.egress_service = std::move(*egress_service);
  backend.pool.terms = TermsOf(sandbox, backend.egress_service.get());
  backend.pool.spec = PlanContainer(choice, sandbox.profile, backend.pool.terms, options.memory);
  backend.pool.engine = std::move(choice.engine);
  backend.pool.instance = std::move(*instance);
  backend.pool.max_containers = std::max<size_t>(options.max_containers, 1);
  backend.pool.spares = std::min(options.spares, backend.pool.max_containers);
  core::Result<std::unique_ptr<ContainerBackend>> started =
      ContainerBackend::Start(std::move(backend));
  if (!started) return started.error();
  return outside::Sandbox::Over(std::move(sandbox), std::move(*started));
}

}  // namespace belljar::container::backend
