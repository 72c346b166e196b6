#include "engine/inside/spawning.h"

#include <linux/sched.h>

#include <cerrno>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/process.h"
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

}  // namespace

core::Result<std::vector<std::string>> ReceiveStartTexts(int control, size_t count) {
  core::Result<core::Message> message = core::ReceiveMessage(control, 64);
  if (!message) return message.error();
  if (message->descriptors.size() != count)
    return core::MakeError("receive start", "wrong number of memory files");
  std::vector<std::string> texts;
  for (const core::UniqueFd& file : message->descriptors) {
    core::Result<std::string> text = core::ReadAll(file.get(), kMaxStartMessage);
    if (!text) return text.error();
    texts.push_back(std::move(*text));
  }
  return texts;
}

core::Result<void> AnswerStart(int control, const core::Result<void>& prepared) {
  if (prepared) return core::SendMessage(control, core::kZygoteReady);
  const std::string why = prepared.error().ToString();
  (void)core::SendMessage(control, std::string_view(why).substr(0, core::kMaxZygoteAnswer)).ok();
  return prepared;
}

std::optional<core::SpawnMessage::Kind> SpawnKindOf(const core::Message& message) {
  for (const auto kind : {core::SpawnMessage::kRun, core::SpawnMessage::kSession}) {
    core::SpawnMessage expected;
    expected.kind = kind;
    const size_t descriptors = kind == core::SpawnMessage::kSession ? 3 : 2;
    if (message.bytes == core::AsBytes(expected) && message.descriptors.size() == descriptors) {
      return kind;
    }
  }
  return std::nullopt;
}

core::Result<void> Spawn(const seal::SealPlan& plan, int control,
                         const std::function<void()>& in_worker,
                         const std::function<void()>& cloned) {
  int pidfd = -1;
  const pid_t pid = CloneWorker(plan, &pidfd);
  if (pid == 0) in_worker();
  const int error_number = errno;
  if (cloned) cloned();
  if (pid < 0) return core::SendMessage(control, core::AsBytes(core::SpawnReply{error_number, 0}));
  const core::UniqueFd owned(pidfd);
  const int descriptors[] = {pidfd};
  return core::SendMessage(control, core::AsBytes(core::SpawnReply{0, pid}), descriptors);
}

}  // namespace belljar::inside
