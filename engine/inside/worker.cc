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

namespace belljar {
namespace {

constexpr int kUnused = 0;       // the host closed the socket before it sent a request
constexpr int kSealFailed = 87;  // the host was told why
constexpr int kReportFailed = 88;

// For the host to take what is said: it ends a run long before.
constexpr std::chrono::hours kCallTimeout{24};

void Signal(int socket, const WorkerSignal& signal) {
  const std::string_view parts[] = {AsBytes(signal)};
  // The host being gone shows at the next read.
  (void)SendAll(socket, parts, Clock::now() + std::chrono::seconds(10)).ok();
}

// With what only the host is to keep.
void SignalSealed(int socket, OwnWord word, Furnishings furnishings) {
  std::vector<int> descriptors;
  for (const UniqueFd* fd : {&furnishings.workspace, &furnishings.door}) {
    if (*fd) descriptors.push_back(fd->get());
  }
  const WorkerSignal signal{WorkerSignal::kSealed, 0, word};
  (void)SendMessage(socket, AsBytes(signal), descriptors).ok();
}

[[noreturn]] void Fail(int socket, SealStep step, int error_number) {
  Signal(socket,
         {WorkerSignal::kFailed, static_cast<uint32_t>(step), static_cast<uint32_t>(error_number)});
  _exit(kSealFailed);
}

struct ReceivedRequest {
  RequestHeader header;
  std::string metadata;
  std::string inputs;
  std::string source;
  std::optional<std::string> standard_input;
};

void ReceiveOrExit(int socket, void* to, size_t size) {
  if (!ReceiveExactly(socket, to, size)) _exit(kUnused);
}

ReceivedRequest ReceiveRequest(int socket) {
  ReceivedRequest request;
  ReceiveOrExit(socket, &request.header, sizeof request.header);
  const RequestHeader& header = request.header;
  if (header.magic != RequestHeader{}.magic) _exit(kUnused);
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

// The program waits meanwhile; that the host is gone ends it.
std::string CallHost(int socket, std::string_view name, std::string_view arguments) {
  const WorkerSignal signal{WorkerSignal::kCall, static_cast<uint32_t>(name.size()),
                            static_cast<uint32_t>(arguments.size())};
  const std::string_view parts[] = {AsBytes(signal), name, arguments};
  if (!SendAll(socket, parts, Clock::now() + kCallTimeout)) _exit(kUnused);
  uint32_t size = 0;
  ReceiveOrExit(socket, &size, sizeof size);
  std::string answer(size, '\0');
  ReceiveOrExit(socket, answer.data(), answer.size());
  return answer;
}

// Lowers what the seal set at the zygote's ceiling to what this request asks for.
bool LowerLimits(const SealPlan& plan, const PreparedSeal& prepared, const RequestHeader& header) {
  if (!plan.rlimits) return true;
  Limits limits = plan.ceiling;
  limits.memory.count = header.memory_limit;
  limits.file_size.count = header.file_size_limit;
  limits.cpu = std::chrono::seconds(header.cpu_limit_seconds);
  return ApplyRlimits(limits, prepared.base_address_space, prepared.base_cpu);
}

}  // namespace

void RunWorker(const WorkerStart& start, UniqueFd socket, UniqueFd capture_memory) {
  Result<Mapping> region = Mapping::Map(capture_memory.get(), start.layout.size());
  if (!region) Fail(socket.get(), SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), start.layout);

  Furnishings furnishings;
  OwnWord word = 0;
  const SealFailure failure =
      SealWorker(start.plan, start.prepared, socket.get(), furnishings, word);
  if (failure.step != SealStep::kNone) Fail(socket.get(), failure.step, failure.error_number);
  // The seal has closed it.
  (void)capture_memory.Release();

  if (start.cloned && !AfterCloneInWorker()) Fail(socket.get(), SealStep::kPython, 0);
  SignalSealed(socket.get(), word, std::move(furnishings));

  const ReceivedRequest request = ReceiveRequest(socket.get());
  if (!LowerLimits(start.plan, start.prepared, request.header)) {
    Fail(socket.get(), SealStep::kRlimits, errno);
  }
  SetOutputLimit(request.header.output_limit);
  const std::string report =
      ExecuteRequest({request.metadata, request.inputs, request.source,
                      request.standard_input ? &*request.standard_input : nullptr,
                      [&](std::string_view name, std::string_view arguments) {
                        return CallHost(socket.get(), name, arguments);
                      }});
  if (report.empty() || !WriteReport(report)) _exit(kReportFailed);
  Signal(socket.get(), {WorkerSignal::kDone, 0, 0});
  // The host kills; EOF means that it died first.
  for (char ignored; ReceiveExactly(socket.get(), &ignored, 1);) {
  }
  _exit(kUnused);
}

}  // namespace belljar
