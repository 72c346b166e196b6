#include "engine/inside/host_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "engine/core/socket.h"
#include "engine/inside/capture.h"

namespace belljar::inside {
namespace {

// Write timeout towards the host, which ends a run long before.
constexpr std::chrono::hours kCallTimeout{24};

void ReceiveOrExit(int socket, void* to, size_t size) {
  if (!core::ReceiveExactly(socket, to, size)) _exit(kUnused);
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

}  // namespace

void Signal(int socket, const core::WorkerSignal& signal) {
  const std::string_view parts[] = {core::AsBytes(signal)};
  (void)core::SendAll(socket, parts, core::Clock::now() + std::chrono::seconds(10)).ok();
}

void SignalSealed(int socket, seal::SelfReport self_report, seal::WorkerResources resources) {
  std::vector<int> descriptors;
  for (const core::UniqueFd* fd : {&resources.workspace, &resources.egress, &resources.terminals}) {
    if (*fd) descriptors.push_back(fd->get());
  }
  const core::WorkerSignal signal{core::WorkerSignal::kSealed, 0, self_report};
  (void)core::SendMessage(socket, core::AsBytes(signal), descriptors).ok();
}

void FailSeal(int socket, seal::SealStep step, int error_number) {
  Signal(socket, {core::WorkerSignal::kFailed, static_cast<uint32_t>(step),
                  static_cast<uint32_t>(error_number)});
  _exit(kSealFailed);
}

RequestParts ReceivedRequest::Parts(int socket) const {
  return {metadata,
          inputs,
          modules,
          source,
          standard_input ? &*standard_input : nullptr,
          [socket](std::string_view name, std::string_view arguments) {
            return CallHost(socket, name, arguments);
          }};
}

bool IsOrderNext(int socket) {
  // The first member of both.
  uint32_t magic = 0;
  for (;;) {
    const ssize_t got = recv(socket, &magic, sizeof magic, MSG_PEEK);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(kUnused);
    // Both are sent in one piece.
    return got == static_cast<ssize_t>(sizeof magic) && magic == core::SessionOrder{}.magic;
  }
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
  request.modules.resize(header.modules_size);
  ReceiveOrExit(socket, request.modules.data(), request.modules.size());
  request.source.resize(header.source_size);
  ReceiveOrExit(socket, request.source.data(), request.source.size());
  if (header.stdin_size > 0) {
    request.standard_input.emplace(header.stdin_size - 1, '\0');
    ReceiveOrExit(socket, request.standard_input->data(), request.standard_input->size());
  }
  return request;
}

void Report(int socket, std::string_view report) {
  if (report.empty() || !WriteReport(report)) _exit(kReportFailed);
  Signal(socket, {core::WorkerSignal::kDone, 0, 0});
}

void AwaitEnd(int socket) {
  for (char ignored; core::ReceiveExactly(socket, &ignored, 1);) {
  }
  _exit(kUnused);
}

}  // namespace belljar::inside
