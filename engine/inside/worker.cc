#include "engine/inside/worker.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/core/mapping.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/interpreter.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr int kUnused = 0;       // the host closed the socket without sending a request
constexpr int kSealFailed = 87;  // the host received the reason
constexpr int kReportFailed = 88;

// Write timeout towards the host, which ends a run long before.
constexpr std::chrono::hours kCallTimeout{24};

void Signal(int socket, const core::WorkerSignal& signal) {
  const std::string_view parts[] = {core::AsBytes(signal)};
  // If the host is gone, the next read shows it.
  (void)core::SendAll(socket, parts, core::Clock::now() + std::chrono::seconds(10)).ok();
}

// Attaches the descriptors that only the host keeps.
void SignalSealed(int socket, seal::SelfReport self_report, seal::WorkerResources resources) {
  std::vector<int> descriptors;
  for (const core::UniqueFd* fd : {&resources.workspace, &resources.egress}) {
    if (*fd) descriptors.push_back(fd->get());
  }
  const core::WorkerSignal signal{core::WorkerSignal::kSealed, 0, self_report};
  (void)core::SendMessage(socket, core::AsBytes(signal), descriptors).ok();
}

[[noreturn]] void Fail(int socket, seal::SealStep step, int error_number) {
  Signal(socket, {core::WorkerSignal::kFailed, static_cast<uint32_t>(step),
                  static_cast<uint32_t>(error_number)});
  _exit(kSealFailed);
}

struct ReceivedRequest {
  core::RequestHeader header;
  std::string metadata;
  std::string inputs;
  std::string source;
  std::optional<std::string> standard_input;
};

void ReceiveOrExit(int socket, void* to, size_t size) {
  if (!core::ReceiveExactly(socket, to, size)) _exit(kUnused);
}

ReceivedRequest ReceiveRequest(int socket) {
  ReceivedRequest request;
  ReceiveOrExit(socket, &request.header, sizeof request.header);
  const core::RequestHeader& header = request.header;
  if (header.magic != core::RequestHeader{}.magic) _exit(kUnused);
  request.metadata.resize(header.metadata_size);
  ReceiveOrExit(socket, request.metadata.data(), request.metadata.size());
  request.inputs.resize(header.inputs_size);
  ReceiveOrExit(socket, request.inputs.data(), request.inputs.size());
  request.source.resize(header.source_size);
  ReceiveOrExit(socket, request.source.data(), request.source.size());
  if (header.stdin_size > 0) {
    request.standard_input.emplace(header.stdin_size - 1, '\0');
    ReceiveOrExit(socket, request.standard_input->data(), request.standard_input->size());
  }
  return request;
}

// Blocks the program. If the host is gone, it ends.
std::string CallHost(int socket, std::string_view name, std::string_view arguments) {
  const core::WorkerSignal signal{core::WorkerSignal::kCall, static_cast<uint32_t>(name.size()),
                                  static_cast<uint32_t>(arguments.size())};
  const std::string_view parts[] = {core::AsBytes(signal), name, arguments};
  if (!core::SendAll(socket, parts, core::Clock::now() + kCallTimeout)) _exit(kUnused);
  uint32_t size = 0;
  ReceiveOrExit(socket, &size, sizeof size);
  std::string answer(size, '\0');
  ReceiveOrExit(socket, answer.data(), answer.size());
  return answer;
}

// Lowers the limits from the zygote's ceiling to those of this request.
bool LowerLimits(const seal::SealPlan& plan, const seal::PreparedSeal& prepared,
                 const core::RequestHeader& header) {
  if (!plan.rlimits) return true;
  core::Limits limits = plan.ceiling;
  limits.memory.count = header.memory_limit;
  limits.file_size.count = header.file_size_limit;
  limits.cpu = std::chrono::seconds(header.cpu_limit_seconds);
  return seal::ApplyRlimits(limits, prepared.base_address_space, prepared.base_cpu);
}

}  // namespace

void RunWorker(const WorkerStart& start, core::UniqueFd socket, core::UniqueFd capture_memory) {
  core::Result<core::Mapping> region =
      core::Mapping::Map(capture_memory.get(), start.layout.size());
  if (!region) Fail(socket.get(), seal::SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), start.layout);

  seal::WorkerResources resources;
  seal::SelfReport self_report = 0;
  const seal::SealFailure failure =
      seal::SealWorker(start.plan, start.prepared, socket.get(), resources, self_report);
  if (failure.step != seal::SealStep::kNone) Fail(socket.get(), failure.step, failure.error_number);
  // The seal has closed it already.
  (void)capture_memory.Release();

  if (start.cloned && !AfterCloneInWorker()) Fail(socket.get(), seal::SealStep::kPython, 0);
  SignalSealed(socket.get(), self_report, std::move(resources));

  const ReceivedRequest request = ReceiveRequest(socket.get());
  if (!LowerLimits(start.plan, start.prepared, request.header)) {
    Fail(socket.get(), seal::SealStep::kRlimits, errno);
  }
  SetOutputLimit(request.header.output_limit);
  const std::string report =
      ExecuteRequest({request.metadata, request.inputs, request.source,
                      request.standard_input ? &*request.standard_input : nullptr,
                      [&](std::string_view name, std::string_view arguments) {
                        return CallHost(socket.get(), name, arguments);
                      }});
  if (report.empty() || !WriteReport(report)) _exit(kReportFailed);
  Signal(socket.get(), {core::WorkerSignal::kDone, 0, 0});
  // The host kills the worker; EOF means that the host died first.
  for (char ignored; core::ReceiveExactly(socket.get(), &ignored, 1);) {
  }
  _exit(kUnused);
}

}  // namespace belljar::inside
