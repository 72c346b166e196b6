#include "engine/inside/spawning.h"

#include <linux/sched.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/mapping.h"
#include "engine/core/process.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/seal/namespaces.h"

namespace belljar::inside {
namespace {

constexpr size_t kMaxStartMessage = 64 << 20;

// Returns the child's pid, 0 in the child, or -1 with errno.
pid_t CloneWorker(const seal::SealPlan& plan, int* pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PARENT | CLONE_PIDFD;
  if (!plan.without_namespaces) {
    arguments.flags |=
        seal::WorkerNamespaceFlags(plan.workspace.has_value(), plan.egress.has_value());
  }
  arguments.pidfd = reinterpret_cast<uint64_t>(pidfd);
  // With CLONE_PARENT the exit signal must be 0: the kernel uses the zygote's own.
  return core::CloneProcess(arguments);
}

// nullopt: not a spawn message.
std::optional<core::SpawnMessage::Kind> SpawnKindOf(const core::Message& message, bool sessions) {
  for (const auto kind : {core::SpawnMessage::kRun, core::SpawnMessage::kSession}) {
    core::SpawnMessage expected;
    expected.kind = kind;
    const bool is_session = kind == core::SpawnMessage::kSession;
    if (message.bytes == core::AsBytes(expected) && (sessions || !is_session) &&
        message.descriptors.size() == (is_session ? 3 : 2)) {
      return kind;
    }
  }
  return std::nullopt;
}

// Answers the host, and closes the pidfd.
core::Result<void> AnswerSpawn(int control, pid_t pid, int pidfd, int error_number) {
  if (pid < 0) return core::SendMessage(control, core::AsBytes(core::SpawnReply{error_number, 0}));
  const core::UniqueFd owned(pidfd);
  const int descriptors[] = {pidfd};
  return core::SendMessage(control, core::AsBytes(core::SpawnReply{0, pid}), descriptors);
}

}  // namespace

core::Result<std::string> ReceiveStartBytes(int control) {
  core::Result<core::Message> message = core::ReceiveMessage(control, 64);
  if (!message) return message.error();
  if (message->descriptors.size() != 1)
    return core::MakeError("receive start", "wrong number of memory files");
  return core::ReadAll(message->descriptors[0].get(), kMaxStartMessage);
}

core::Result<void> AnswerStart(int control, const core::Result<void>& prepared) {
  if (prepared) return core::SendMessage(control, core::kZygoteReady);
  const std::string why = prepared.error().ToString();
  (void)core::SendMessage(control, std::string_view(why).substr(0, core::kMaxZygoteAnswer)).ok();
  return prepared;
}

core::Result<void> ServeSpawns(int control, const seal::SealPlan& plan, const Spawning& spawning) {
  for (;;) {
    core::Result<core::Message> message = core::ReceiveMessage(control, sizeof(core::SpawnMessage));
    if (!message) return message.error();
    if (message->bytes.empty()) return {};
    const std::optional<core::SpawnMessage::Kind> kind = SpawnKindOf(*message, spawning.sessions);
    if (!kind) return core::MakeError("serve", "not a spawn message");
    if (spawning.single_run) spawning.become(*kind, std::move(message->descriptors));
    spawning.before_clone();
    int pidfd = -1;
    const pid_t pid = CloneWorker(plan, &pidfd);
    if (pid == 0) spawning.become(*kind, std::move(message->descriptors));
    const int error_number = errno;
    spawning.after_clone();
    if (core::Result<void> done = AnswerSpawn(control, pid, pidfd, error_number); !done)
      return done;
  }
}

SealedWorker SealThisWorker(const UnsealedWorker& worker, int socket,
                            core::UniqueFd capture_memory) {
  core::Result<core::Mapping> region =
      core::Mapping::Map(capture_memory.get(), worker.layout.size());
  if (!region) FailSeal(socket, seal::SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), worker.layout);
  SealedWorker sealed;
  const auto seal =
      worker.kind == core::SpawnMessage::kSession ? &seal::SealSessionWorker : &seal::SealWorker;
  const seal::SealFailure failure =
      seal(worker.plan, worker.prepared, socket, sealed.resources, sealed.self_report);
  if (failure.step != seal::SealStep::kNone) FailSeal(socket, failure.step, failure.error_number);
  (void)capture_memory.Release();  // closed by the seal
  return sealed;
}

}  // namespace belljar::inside
