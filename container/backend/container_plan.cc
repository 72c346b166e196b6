#include "container/backend/container_plan.h"

#include <algorithm>
#include <thread>

#include "container/image/image_files.h"

namespace belljar::container::backend {
namespace {

// Guest, zygote with its interpreter, the worker's copy of it, gVisor's own kernel.
constexpr core::Bytes kInterpreter = core::Bytes::Mebi(256);
// In addition, if the interpreter has loaded numpy, pandas and the like.
constexpr core::Bytes kPackages = core::Bytes::Mebi(512);
// In addition to the result: findings, traceback and variables.
constexpr core::Bytes kReport = core::Bytes::Mebi(1);
// In a profile without files for programs: space for libraries that need a temporary file.
constexpr core::Bytes kPlainTemporary = core::Bytes::Mebi(16);
// One for the program, and one for the guest, which forwards its output.
constexpr double kProcessors = 2;
// Init, guest, zygote and worker with their threads, and the processes that a profile allows.
constexpr uint64_t kOwnProcesses = 64;
// gVisor's threads count too: its kernel's, and with ptrace one process for each thread of the
// sandbox.
constexpr uint64_t kGvisorProcesses = 256;

std::vector<engines::ContainerFolder> Folders(const core::Profile& profile) {
  if (!profile.workspace) return {{.path = core::kTemporaryPath, .size = kPlainTemporary}};
  // For what is compiled there.
  const bool executable = profile.program && profile.program->runs_workspace();
  return {{core::kTemporaryPath, profile.workspace->size, executable},
          {core::kWorkspacePath, profile.workspace->size, executable}};
}

}  // namespace

core::Bytes MemoryOfContainer(const core::Profile& profile) {
  const core::Limits& maximum = profile.maximum_limits;
  const uint64_t left_behind = 2 * maximum.output.count + maximum.result.count + kReport.count +
                               profile.artifacts.count + maximum.source.count;
  uint64_t folders = 0;
  for (const engines::ContainerFolder& folder : Folders(profile)) folders += folder.size.count;
  // Files sent with the request or the outcome.
  const uint64_t carried = profile.workspace ? 2 * profile.workspace->size.count : 0;
  const uint64_t own = kInterpreter.count + (profile.packages.empty() ? 0 : kPackages.count);
  return {maximum.memory.count + 2 * left_behind + folders + carried + own};
}

engines::ContainerSpec PlanContainer(const ContainerChoice& choice, const core::Profile& profile,
                                     const GuestTerms& terms, std::optional<core::Bytes> memory) {
  const bool is_gvisor = choice.runtime == "runsc";
  engines::ContainerSpec spec;
  spec.image = choice.image.id;
  spec.runtime = choice.runtime;
  spec.command = {"/" + std::string(image::kImagePrefix) + "/" + image::kGuestProgram,
                  profile.program ? "--language" : "--profile",
                  profile.name,
                  "--isolation",
                  terms.isolation,
                  "--policy",
                  terms.policy};
  spec.folders = Folders(profile);
  spec.leaves_nothing = true;
  spec.memory = memory.value_or(MemoryOfContainer(profile));
  // An engine refuses more CPUs than the machine has.
  spec.cpus = std::clamp<double>(std::thread::hardware_concurrency(), 1, kProcessors);
  const uint32_t processes =
      std::max(profile.maximum_limits.processes, terms.policy == "off" ? core::kMaxThreads : 0);
  spec.pids = processes + (is_gvisor ? kGvisorProcesses : kOwnProcesses);
  return spec;
}

}  // namespace belljar::container::backend
