#include "engine/inside/worker.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/inside/session_worker.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

// A spare that has waited this long is not what keeps the machine busy: it now takes page faults
// that would otherwise delay its request. Under load no worker does this, and none pays for it.
constexpr std::chrono::milliseconds kUntilIdle{10};

// Lowers the limits from the zygote's ceiling to those of this request.
bool LowerLimits(const seal::SealPlan& plan, const seal::PreparedSeal& prepared,
                 const core::RequestHeader& header) {
  if (plan.without_rlimits) return true;
  core::Limits limits = plan.ceiling;
  limits.memory.count = header.memory_limit;
  limits.file_size.count = header.file_size_limit;
  limits.cpu = std::chrono::seconds(header.cpu_limit_seconds);
  return seal::ApplyRlimits(limits, prepared.base_address_space, prepared.base_cpu);
}

// Likewise to those of a session.
bool LowerLimits(const seal::SealPlan& plan, const seal::PreparedSeal& prepared,
                 const core::SessionOrder& order) {
  if (plan.without_rlimits) return true;
  core::Limits limits = plan.ceiling;
  limits.memory.count = order.memory_limit;
  limits.file_size.count = order.file_size_limit;
  return seal::ApplyWaitingRlimits(limits, prepared.base_address_space, prepared.base_cpu);
}

}  // namespace

void RunWorker(const WorkerStart& start, SpawnOrder order) {
  const bool is_session = order.kind == core::SpawnMessage::kSession;
  SealedWorker sealed = SealThisWorker(start, order);
  const core::UniqueFd socket = std::move(order.socket);
  if (start.cloned && !AfterCloneInWorker()) FailSeal(socket.get(), seal::SealStep::kPython, 0);
  if (is_session && !BeginSession()) {
    FailSeal(socket.get(), seal::SealStep::kPython, 0);
  }
  SignalSealed(socket.get(), sealed.self_report, std::move(sealed.resources));
  if (is_session) ServeSession(socket.get(), start.layout);

  if (start.cloned && !core::WaitReadable(socket.get(), core::Clock::now() + kUntilIdle)) {
    WriteToWarmPages();
  }
  if (IsOrderNext(socket.get())) {
    ServeKeptSession(socket.get(), start.layout, !start.plan.without_rlimits,
                     [&](const core::SessionOrder& order) {
                       return LowerLimits(start.plan, start.prepared, order);
                     });
  }
  const ReceivedRequest request = ReceiveRequest(socket.get());
  if (!LowerLimits(start.plan, start.prepared, request.header)) {
    FailSeal(socket.get(), seal::SealStep::kRlimits, errno);
  }
  SetOutputLimit(request.header.output_limit);
  RequestParts parts = request.Parts(socket.get());
  if (!start.has_all_modules) {
    parts.start_over = [socket = socket.get()] {
      Signal(socket, {core::WorkerSignal::kStartOver, 0, 0});
      AwaitEnd(socket);
    };
  }
  Report(socket.get(), ExecuteRequest(parts));
  AwaitEnd(socket.get());
}

}  // namespace belljar::inside
