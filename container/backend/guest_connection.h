// GuestConnection: the host's end of the channel to one guest, for one run.
//
//   GuestConnection guest(std::move(channel), terms);
//   Result<void> ready = guest.AwaitReady(deadline);           the pool's, while it warms up
//   Result<Outcome> outcome = guest.Run(request, options);     once; then the container is
//   destroyed
//
// Whatever the guest does, Run ends: at the latest a little after the request's timeout, or after
// the cancellation; where it is in a function of the caller's then, a little after that. How it
// ended is said by the outcome where it is one of the guest's program, and by end() for the owner
// of the container, who knows more (that it was killed for its memory, say).
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

// What the host has asked the guest to be.
struct GuestTerms {
  std::string profile = "basic";  // its name
  std::string isolation = "standard";
  std::string language = "restricted";
  bool has_workspace = false;
  core::Bytes displays{0};
  // Beyond the request's own timeout, which the guest enforces: for the request's way in and the
  // outcome's way out. Then the host does it.
  std::chrono::milliseconds grace{10'000};
  // Of a profile with an egress proxy, and of no other: what serves it. Borrowed, for as long as
  // the connection lives; one for all containers of a sandbox.
  egress::EgressService* egress_service = nullptr;

  static GuestTerms Of(const core::Profile& profile, std::string isolation, std::string language,
                       egress::EgressService* egress_service = nullptr);
};

class GuestConnection {
 public:
  enum class End {
    kOutcome,    // the guest's own, whole
    kFailure,    // its machine could not
    kTimeout,    // it had not ended the run when its time was over
    kCancelled,  // nor when it was told to
    kClosed,     // the channel closed in the middle
    kFault,      // what it sent was not to be read
  };

  GuestConnection(wire::Channel channel, GuestTerms terms);

  // Until a worker waits in the guest. The error is the guest's failure, or what was wrong with it.
  core::Result<void> AwaitReady(const outside::Wait& wait);

  // Readable while it waits: it has died, or is not to be trusted.
  int fd() const { return channel_.fd(); }

  // Precondition: AwaitReady, and that `request` has been checked against the profile. The sink and
  // the functions are called on this thread. Domains that the operator does not allow are an error
  // (Narrower), which an owner who asks first does not spend a container on.
  core::Result<host::Outcome> Run(const host::Request& request, const outside::RunOptions& options);

  // After Run.
  End end() const { return end_; }

 private:
  core::Result<void> OpenEgress(const host::Request& request);
  core::Result<void> SendRequest(const host::Request& request, const outside::Wait& wait) const;
  bool HasSaidWhy();
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
  std::string outbox_;    // frames that the guest has not taken yet
  size_t answering_ = 0;  // bytes of it until an answer is out
  size_t streamed_stdout_ = 0;
  size_t streamed_stderr_ = 0;
  std::string fault_;
  End end_ = End::kClosed;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_GUEST_CONNECTION_H_
