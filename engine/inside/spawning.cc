#include "engine/inside/spawning.h"

#include <linux/sched.h>

#include <cerrno>
#include <cstring>
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
    arguments.flags |= seal::WorkerNamespaceFlags(plan.workspace.has_value(),
                                                  plan.egress.has_value() || plan.has_loopback);
  }
  arguments.pidfd = reinterpret_cast<uint64_t>(pidfd);
  // With CLONE_PARENT the exit signal must be 0: the kernel uses the zygote's own.
  return core::CloneProcess(arguments);
}

// nullopt: not a spawn message.
std::optional<SpawnOrder> OrderIn(core::Message message, bool sessions) {
  core::SpawnMessage asked;
  if (message.bytes.size() != sizeof asked) return std::nullopt;
  memcpy(&asked, message.bytes.data(), sizeof asked);
  const bool is_session = asked.kind == core::SpawnMessage::kSession;
  if (asked.magic != core::SpawnMessage{}.magic || asked.has_workspace > 1 ||
      (is_session ? !sessions : asked.kind != core::SpawnMessage::kRun)) {
    return std::nullopt;
  }
  core::Descriptors& given = message.descriptors;
  if (given.size() != size_t{2} + is_session + asked.has_workspace) return std::nullopt;
  SpawnOrder order{.kind = static_cast<core::SpawnMessage::Kind>(asked.kind),
                   .socket = std::move(given[0]),
                   .capture_memory = std::move(given[1])};
  if (is_session) order.init_socket = std::move(given[2]);
  if (asked.has_workspace == 1) order.workspace = std::move(given.back());
  return order;
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
    std::optional<SpawnOrder> order = OrderIn(std::move(*message), spawning.sessions);
    if (!order) return core::MakeError("serve", "not a spawn message");
    if (spawning.single_run) spawning.become(std::move(*order));
    spawning.before_clone();
    int pidfd = -1;
    const pid_t pid = CloneWorker(plan, &pidfd);
    if (pid == 0) spawning.become(std::move(*order));
    const int error_number = errno;
    spawning.after_clone();
    if (core::Result<void> done = AnswerSpawn(control, pid, pidfd, error_number); !done)
      return done;
  }
}

SealedWorker SealThisWorker(const UnsealedWorker& worker, SpawnOrder& order) {
  const int socket = order.socket.get();
  core::Result<core::Mapping> region =
      core::Mapping::Map(order.capture_memory.get(), worker.layout.size());
  if (!region) FailSeal(socket, seal::SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), worker.layout);
  SealedWorker sealed;
  sealed.resources.workspace = std::move(order.workspace);
  const auto seal =
      order.kind == core::SpawnMessage::kSession ? &seal::SealSessionWorker : &seal::SealWorker;
  const seal::SealFailure failure =
      seal(worker.plan, worker.prepared, socket, sealed.resources, sealed.self_report);
  if (failure.step != seal::SealStep::kNone) FailSeal(socket, failure.step, failure.error_number);
  (void)order.capture_memory.Release();  // closed by the seal
  return sealed;
}

}  // namespace belljar::inside
