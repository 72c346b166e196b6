#include "engine/pool/admission.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/wire.h"
#include "engine/seal/seal_step.h"
#include "engine/workers/process_tree.h"

namespace belljar::pool {

host::LayerState Admission::CgroupLayer(pid_t pid) const {
  if (!options_.cgroup) return {"cgroup", false, options_.no_cgroup};
  const bool held = workers::IsInCgroup(pid, options_.cgroup->name());
  return {"cgroup", held,
          held ? "memory and processes of all workers together" : "not in its leaf"};
}

core::Result<void> Admission::TakeWorkerResources(core::Descriptors descriptors,
                                                  workers::Worker& worker) const {
  const seal::SealPlan& plan = options_.zygote.plan;
  std::vector<core::UniqueFd*> places;
  if (plan.workspace) places.push_back(&worker.resources.workspace);
  if (plan.egress && !plan.without_namespaces) places.push_back(&worker.resources.egress);
  if (plan.has_terminals && !plan.without_namespaces) places.push_back(&worker.resources.terminals);
  if (descriptors.size() != places.size()) {
    return core::MakeError("seal a worker", "its file systems differ from those requested");
  }
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(descriptors[i]);
  return {};
}

core::Result<void> Admission::Admit(workers::Worker& worker, core::Deadline deadline) const {
  if (worker.family) {
    core::Result<void> adopted = worker.family->AdoptFirst(worker, deadline);
    if (!adopted) return adopted;
  }
  core::WorkerSignal signal;
  core::Result<core::Message> message = core::ReceiveMessage(worker.socket.get(), sizeof signal);
  if (!message || message->bytes.size() != sizeof signal) {
    return core::MakeError("seal a worker", "it died while it was being sealed");
  }
  memcpy(&signal, message->bytes.data(), sizeof signal);
  if (signal.kind == core::WorkerSignal::kFailed) {
    return core::SystemErrorOf(static_cast<int>(signal.value), "seal a worker",
                               seal::SealStepName(static_cast<seal::SealStep>(signal.step)));
  }
  if (signal.kind != core::WorkerSignal::kSealed)
    return core::MakeError("seal a worker", "unknown signal");
  if (core::Result<void> taken = TakeWorkerResources(std::move(message->descriptors), worker);
      !taken) {
    return taken;
  }
  worker.self_report = signal.value;
  core::Result<core::UniqueFd> status = workers::OpenStatus(worker.process.pid());
  if (!status) return status.error();
  worker.status_fd = std::move(*status);
  if (core::Result<void> observed = Observe(worker); !observed) return observed;
  worker.runs_programs = options_.zygote.program.has_value();
  if (worker.runs_programs && !options_.zygote.program->compile.empty()) {
    worker.compiles = options_.zygote.program->compile_limits;
  }
  worker.owns_pid_namespace = worker.runs_programs && options_.owns_pid_namespace;
  if (options_.zygote.kind.single_run || worker.runs_programs) worker.cpu_before = worker.CpuTime();
  worker.may_start_over = options_.zygote.kind.modules.has_value();
  return {};
}

core::Result<workers::OwnSeal> Admission::ReadOwnSeal() const {
  const std::lock_guard lock(mutex_);
  if (!own_seal_) {
    core::Result<workers::OwnSeal> own = workers::OwnSeal::Read();
    if (!own) return own.error();
    own_seal_ = *own;
  }
  return *own_seal_;
}

core::Result<void> Admission::Observe(workers::Worker& worker) const {
  const core::Result<workers::OwnSeal> own = ReadOwnSeal();
  if (!own) return own.error();
  core::Result<std::vector<host::LayerState>> layers =
      workers::ObserveSeal(*own, worker.process.pid(), worker.status_fd.get(), worker.self_report,
                           options_.zygote.plan.zygote_filter.empty() ? 1 : 2,
                           worker.process.parent_pid(), options_.zygote.plan.has_loopback);
  if (!layers) return core::MakeError("seal a worker", layers.error().ToString());
  const seal::SealPlan& plan = options_.zygote.plan;
  if (plan.has_loopback && plan.egress && layers->front().held)
    layers->front().detail += ", with the egress proxy on it";
  // In the order of the seal: seccomp comes last.
  layers->insert(layers->end() - 1, CgroupLayer(worker.process.pid()));
  for (const host::LayerState& layer : *layers) {
    const auto& required = options_.required_layers;
    if (!layer.held && std::find(required.begin(), required.end(), layer.name) != required.end()) {
      return core::MakeError("seal a worker",
                             "layer " + layer.name + " does not hold: " + layer.detail);
    }
  }
  worker.layers = std::move(*layers);
  return {};
}

}  // namespace belljar::pool
