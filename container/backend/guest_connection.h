// GuestConnection: the host's end of the channel to one guest, for one run.
//
//   GuestConnection guest(std::move(channel), terms);
//   Result<void> ready = guest.AwaitReady(deadline);           in the pool, while it warms up
//   Result<Outcome> outcome = guest.Run(request, options);     once; then the container is
//   destroyed
//
// Run always ends, whatever the guest does: at the latest shortly after the request's timeout or
// the cancellation, or shortly after a function of the caller that is running then. If the program
// had an outcome, it says how the run ended. end() is for the owner of the container, who knows
// more (for example that it was killed for lack of memory).
#ifndef BELLJAR_CONTAINER_BACKEND_GUEST_CONNECTION_H_
#define BELLJAR_CONTAINER_BACKEND_GUEST_CONNECTION_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "container/backend/guest_reader.h"
#include "container/backend/host_egress.h"
#include "container/wire/channel.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/backend.h"
#include "engine/outside/function_calls.h"

namespace belljar::container::backend {

// What the host requires of the guest.
struct GuestTerms {
  std::string profile = "basic";  // its name
  std::string isolation = "standard";
  std::string language = "restricted";
  bool has_workspace = false;
  core::Bytes displays{0};
  // In addition to the request's own timeout, which the guest enforces: for transferring the
  // request and the outcome. After that the host ends the run.
  std::chrono::milliseconds grace{10'000};
  // If and only if the profile has an egress proxy: its service. Borrowed for the lifetime of the
  // connection; shared by all containers of a sandbox.
  egress::EgressService* egress_service = nullptr;

  static GuestTerms Of(const core::Profile& profile, std::string isolation, std::string language,
                       egress::EgressService* egress_service = nullptr);
};

class GuestConnection {
 public:
  enum class End {
    kOutcome,    // complete, from the guest
    kFailure,    // its machine failed
    kTimeout,    // it had not ended the run in time
    kCancelled,  // it had not ended the run after being cancelled
    kClosed,     // the channel closed early
    kFault,      // it sent invalid data
  };

  GuestConnection(wire::Channel channel, GuestTerms terms);

  // Waits until the guest has a worker ready. The error is the guest's failure, or what was wrong
  // with it.
  core::Result<void> AwaitReady(const outside::Wait& wait);

  // Readable while it waits: it has died, or is misbehaving.
  int fd() const { return channel_.fd(); }

  // Precondition: AwaitReady, and `request` has been checked against the profile. The sink and the
  // functions are called on this thread. Domains that the operator does not allow are an error
  // (Narrower); check them beforehand to avoid using up a container.
  core::Result<host::Outcome> Run(const host::Request& request, const outside::RunOptions& options);

  // After Run.
  End end() const { return end_; }

 private:
  core::Result<void> OpenEgress(const host::Request& request);
  core::Result<void> SendRequest(const host::Request& request, const outside::Wait& wait) const;
  bool HasReportedEnd();
  End Watch(outside::Wait wait, const outside::RunOptions& options);
  core::Result<void> AwaitAny(const outside::Wait& wait);
  std::optional<End> Read();
  std::optional<End> Take(const std::string& bytes);
  bool AnswerCall();
  void Flush();
  void Stream(const outside::RunOptions& options);
  host::Outcome Ended(const host::Request& request);

  const GuestTerms terms_;
  const wire::Channel channel_;
  const std::unique_ptr<GuestReader> reader_;
  std::optional<HostEgress> egress_;             // while the request runs
  std::optional<outside::FunctionCalls> calls_;  // of the request
  std::vector<pollfd> watched_;
  std::string outbox_;    // frames that the guest has not read yet
  size_t answering_ = 0;  // bytes in it until an answer has been sent
  size_t streamed_stdout_ = 0;
  size_t streamed_stderr_ = 0;
  std::string fault_;
  End end_ = End::kClosed;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_GUEST_CONNECTION_H_
