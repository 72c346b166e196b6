// A worker's side of its socket to the host.
#ifndef BELLJAR_ENGINE_INSIDE_HOST_CHANNEL_H_
#define BELLJAR_ENGINE_INSIDE_HOST_CHANNEL_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/fd.h"
#include "engine/core/wire.h"
#include "engine/inside/interpreter.h"
#include "engine/seal/seal_step.h"
#include "engine/seal/self_report.h"
#include "engine/seal/worker_resources.h"

namespace belljar::inside {

// Exit codes of a worker that the host has not killed.
inline constexpr int kUnused = 0;       // the host has closed the socket
inline constexpr int kSealFailed = 87;  // the host received the reason
inline constexpr int kReportFailed = 88;
inline constexpr int kStopped = 90;  // at the host's request (places.h)

// If the host is gone, the next read will show it.
void Signal(int socket, const core::WorkerSignal& signal);

// Attaches the descriptors that only the host keeps.
void SignalSealed(int socket, seal::SelfReport self_report, seal::WorkerResources resources);

[[noreturn]] void FailSeal(int socket, seal::SealStep step, int error_number);

struct ReceivedRequest {
  core::RequestHeader header;
  std::string metadata;
  std::string inputs;
  std::string modules;
  std::string source;
  std::optional<std::string> standard_input;

  // All pointers are borrowed.
  RequestParts Parts(int socket) const;
};

// Blocks. Whether a SessionOrder comes next, instead of a request: then this is the worker of a
// session. Exits if the host is gone.
bool IsOrderNext(int socket);

// Exits if the host is gone.
ReceivedRequest ReceiveRequest(int socket);

// Writes the report and tells the host. Exits if it does not fit.
void Report(int socket, std::string_view report);

// Blocks until the host closes the socket or kills this process.
[[noreturn]] void AwaitEnd(int socket);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_HOST_CHANNEL_H_
