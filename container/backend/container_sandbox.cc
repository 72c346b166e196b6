#include "container/backend/container_sandbox.h"

#include <algorithm>
#include <utility>

#include "container/backend/container_backend.h"
#include "container/backend/container_owner.h"
#include "container/backend/container_plan.h"
#include "engine/outside/installation.h"

namespace belljar {
namespace {

GuestTerms TermsOf(const SandboxOptions& sandbox, DoorService* doors) {
  return GuestTerms::Of(sandbox.profile,
                        sandbox.isolation == IsolationMode::kStrict ? "strict" : "standard",
                        sandbox.language == Language::kFull ? "full" : "restricted", doors);
}

Result<std::string> InstanceOf(const SandboxOptions& sandbox, const ContainerOptions& options) {
  if (!options.instance.empty()) return options.instance;
  Result<Installation> installation = GivenOrFound(sandbox.installation);
  if (!installation) return installation.error();
  return UsualInstance(*installation);
}

ContainerReport ReportOf(const ContainerChoice& choice) {
  ContainerReport report;
  report.engine = choice.facts.name;
  report.runtime = choice.runtime;
  report.image_digest = choice.image.id;
  report.not_limited = NotLimitedBy(choice.facts);
  return report;
}

}  // namespace

Result<std::unique_ptr<Sandbox>> OpenContainerSandbox(SandboxOptions sandbox,
                                                      ContainerOptions options) {
  Result<ContainerChoice> choice = ChooseContainer(options.wish, sandbox.profile);
  if (!choice) return choice.error();
  return OpenContainerSandbox(std::move(sandbox), std::move(options), std::move(*choice));
}

Result<std::unique_ptr<Sandbox>> OpenContainerSandbox(SandboxOptions sandbox,
                                                      ContainerOptions options,
                                                      ContainerChoice choice) {
  Result<std::string> instance = InstanceOf(sandbox, options);
  if (!instance) return instance.error();
  Result<std::unique_ptr<DoorService>> doors = StartDoors(sandbox);
  if (!doors) return doors.error();
  Result<size_t> removed = RemoveOrphans(*choice.engine, *instance);
  if (!removed) return removed.error();

  ContainerBackendOptions backend;
  backend.report = ReportOf(choice);
  backend.doors = std::move(*doors);
  backend.pool.terms = TermsOf(sandbox, backend.doors.get());
  backend.pool.spec = PlanContainer(choice, sandbox.profile, backend.pool.terms, options.memory);
  backend.pool.engine = std::move(choice.engine);
  backend.pool.instance = std::move(*instance);
  backend.pool.most = std::max<size_t>(options.most, 1);
  backend.pool.spares = std::min(options.spares, backend.pool.most);
  return Sandbox::Over(std::move(sandbox), std::make_unique<ContainerBackend>(std::move(backend)));
}

}  // namespace belljar
