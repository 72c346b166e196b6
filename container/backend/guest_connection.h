// GuestConnection: the host's end of the channel to one guest, for one run or one session.
//
//   GuestConnection guest(std::move(channel), terms);
//   Result<void> ready = guest.AwaitReady(deadline);           in the pool, while it warms up
//   Result<Outcome> outcome = guest.Run(request, options);     once; then the container is
//   destroyed
//
// Or, instead of one Run:
//
//   Result<void> opened = guest.OpenSession(limits, wait);
//   while (!guest.HasEnded()) guest.Run(request, options) …     cells; or guest.Inquire(…)
//
// Run always ends, whatever the guest does: at the latest shortly after the request's timeout or
// the cancellation, or after a function of the caller that is running at that time. If there is an
// outcome, it says how the run ended. end() is for the owner of the container, who knows more (for
// example that it was killed for lack of memory).
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
#include "container/wire/session_text.h"
#include "engine/core/profile.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/function_calls.h"
#include "engine/run/run_options.h"

namespace belljar::container::backend {

// What the host requires of the guest.
struct GuestTerms {
  std::string profile = "basic";  // its name
  std::string isolation = "standard";
  std::string policy = "on";
  bool has_workspace = false;
  core::Bytes displays{0};
  // In addition to the request's own timeout, which the guest enforces: for transferring the
  // request and the outcome. After that the host ends the run.
  std::chrono::milliseconds grace{10'000};
  // If and only if the profile has an egress proxy: its service. Borrowed for the lifetime of the
  // connection; shared by all containers of a sandbox.
  egress::EgressService* egress_service = nullptr;

  static GuestTerms Of(const core::Profile& profile, std::string isolation, std::string policy,
                       egress::EgressService* egress_service = nullptr);
};

class GuestConnection {
 public:
  enum class End {
    kOutcome,    // complete, from the guest
    kFailure,    // its machine failed
    kTimeout,    // it did not end the run in time
    kCancelled,  // it did not end the run after being cancelled
    kClosed,     // the channel closed early
    kFault,      // it sent invalid data
  };

  GuestConnection(wire::Channel channel, GuestTerms terms);

  // Waits until the guest has a worker ready. The error is the guest's failure, or what was wrong
  // with it.
  core::Result<void> AwaitReady(const waiting::Wait& wait);

  // Readable while it waits: it has died or misbehaves.
  int fd() const { return channel_.fd(); }

  // Precondition: AwaitReady, and `request` has been checked against the profile. The sink and the
  // functions are called on this thread. Domains that the operator does not allow are an error
  // (Narrower); check them beforehand to avoid using up a container.
  core::Result<host::Outcome> Run(const host::Request& request, const run::RunOptions& options);

  // Precondition: AwaitReady, and no Run. EPIPE: the guest ended before.
  core::Result<void> OpenSession(const core::Limits& limits, const waiting::Wait& wait);
  // In a session. `kill_fd`, once readable, ends it.
  core::Result<wire::Reply> Inquire(const wire::Inquiry& inquiry, int kill_fd);
  // Sessions only: whether no further request is possible.
  bool HasEnded() const;

  // After Run.
  End end() const { return end_; }

 private:
  core::Result<void> OpenEgress(const host::Request& request);
  core::Result<void> SendRequest(const host::Request& request, const waiting::Wait& wait);
  core::Result<void> SendOrder(wire::FrameKind kind, std::string_view text,
                               const std::vector<std::string_view>& content,
                               const waiting::Wait& wait);
  core::Result<void> AwaitSettled(const waiting::Wait& wait);
  bool HasReportedEnd();
  End Watch(waiting::Wait wait, const run::RunOptions& options);
  End Late(bool cancelled);
  End OutcomeOfLast();
  core::Result<void> AwaitAny(const waiting::Wait& wait, const run::RunOptions& options);
  std::optional<End> Read();
  std::optional<End> Take(const std::string& bytes);
  std::optional<std::string> AnswerCall();
  void Flush();
  void Stream(const run::RunOptions& options);
  host::Outcome Ended(const host::Request& request);

  const GuestTerms terms_;
  const wire::Channel channel_;
  const std::unique_ptr<GuestReader> reader_;
  std::optional<HostEgress> egress_;         // while the request runs
  std::optional<run::FunctionCalls> calls_;  // of the request
  std::vector<pollfd> watched_;
  std::optional<core::Limits> session_;  // its limits; nullopt: a run
  bool is_broken_ = false;               // the session has ended for us, whatever the guest says
  bool has_hung_up_ = false;             // after its last outcome
  std::string outbox_;                   // frames that the guest has not read yet
  size_t answering_ = 0;                 // bytes in it until an answer has been sent
  size_t streamed_stdout_ = 0;
  size_t streamed_stderr_ = 0;
  std::string fault_;
  End end_ = End::kClosed;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_GUEST_CONNECTION_H_
