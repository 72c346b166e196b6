#include "container/guest/guest.h"

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "container/guest/door_relay.h"
#include "container/guest/host_listener.h"
#include "container/guest/memory_events.h"
#include "container/guest/rehearsal.h"
#include "container/wire/greeting.h"
#include "container/wire/outcome_text.h"
#include "engine/core/version.h"
#include "engine/outside/probe.h"
#include "engine/outside/profile_catalogue.h"
#include "profiles/loader.h"

namespace belljar {
namespace {

// A host that reads nothing for so long has stopped being one.
constexpr std::chrono::seconds kSendTimeout{20};
constexpr std::chrono::milliseconds kGoneCheck{50};
// Bringing up an interpreter, with packages, on a busy machine.
constexpr std::chrono::seconds kReadyTimeout{120};

Wait Sending() { return {Clock::now() + kSendTimeout}; }
// One that is in a call reads nothing for as long as that takes; that it has gone is seen all the
// same.
Wait SendingTo(const HostListener& host) { return host.owes_answer() ? Wait() : Sending(); }

Hello Greeting(const GuestOptions& options) {
  return {kContainerProtocol,
          kBelljarVersion,
          kPythonVersion,
          options.profile,
          options.isolation == IsolationMode::kStrict ? "strict" : "standard",
          options.language == Language::kFull ? "full" : "restricted"};
}

// Strict isolation takes a private root, which containers do not let anybody mount.
Result<void> CheckIsolation(const GuestOptions& options) {
  if (options.isolation != IsolationMode::kStrict) return {};
  const Result<void> probed = ProbeNamespaces();
  if (probed) return {};
  return MakeError("use isolation strict",
                   "a container leaves standard isolation to what is in it, with its own walls "
                   "around that: " +
                       probed.error().ToString());
}

Result<std::unique_ptr<Sandbox>> OpenSandbox(const GuestOptions& options, DoorRelay& door) {
  Result<ProfileCatalogue> catalogue = ProfileCatalogue::Open();
  if (!catalogue) return catalogue.error();
  Result<Profile> profile = catalogue->Choose(options.profile);
  if (!profile) return profile.error();
  if (Result<void> can = CheckIsolation(options); !can) return can.error();
  SandboxOptions sandbox;
  if (profile->door) {
    if (Result<void> open = door.Listen(profile->door->port); !open) return open.error();
    sandbox.door_keeper = [&door](UniqueFd listener) { return door.Start(std::move(listener)); };
  }
  sandbox.profile = std::move(*profile);
  sandbox.other_profiles = ModulesByProfile(catalogue->profiles(), sandbox.profile.name);
  sandbox.isolation = options.isolation;
  sandbox.language = options.language;
  sandbox.single_run = true;
  return Sandbox::Open(std::move(sandbox));
}

// Output as it comes, in frames. Once one could not be sent, there is nobody to send to.
class OutputFrames {
 public:
  OutputFrames(const Line& line, const HostListener& host) : line_(line), host_(host) {
    sink_.on_stdout = [this](std::string_view text) { Send(FrameKind::kStandardOutput, text); };
    sink_.on_stderr = [this](std::string_view text) { Send(FrameKind::kStandardError, text); };
  }
  OutputFrames(const OutputFrames&) = delete;

  const OutputSink& sink() const { return sink_; }
  const Result<void>& sent() const { return sent_; }

 private:
  void Send(FrameKind kind, std::string_view text) {
    while (sent_ && !text.empty()) {
      const std::string_view piece = text.substr(0, kFramePiece);
      sent_ = line_.Send(kind, piece, SendingTo(host_));
      text.remove_prefix(piece.size());
    }
  }

  const Line& line_;
  const HostListener& host_;
  OutputSink sink_;
  Result<void> sent_;
};

// The engine calls whatever is around it the host.
void NameTheWalls(Outcome& outcome) {
  for (LayerState& layer : outcome.isolation.layers) {
    if (layer.name != "namespaces" || layer.held) continue;
    layer.detail = "none of its own: the container's walls are in their place";
  }
}

Result<void> SendOutcome(const Line& line, const HostListener& host, const Outcome& outcome) {
  Result<void> sent = line.Send(FrameKind::kOutcome, OutcomeToText(outcome), SendingTo(host));
  for (const std::string_view part : OutcomeContent(outcome)) {
    if (sent) sent = line.SendContent(part, SendingTo(host));
  }
  return sent;
}

// The error is one to tell the host, if it is still there.
class Service {
 public:
  Service(const GuestOptions& options, const Line& line, DoorRelay& door, HostListener& host)
      : options_(options), line_(line), door_(door), host_(host) {}

  Result<void> Serve() {
    Result<void> greeted =
        line_.Send(FrameKind::kHello, HelloToText(Greeting(options_)), Sending());
    if (!greeted) return greeted;
    Result<std::unique_ptr<Sandbox>> sandbox = OpenSandbox(options_, door_);
    if (!sandbox) return sandbox.error();
    RehearseAnswering();
    if (Result<void> ready = AwaitSpare(**sandbox); !ready) return ready;
    if (Result<void> told = line_.Send(FrameKind::kReady, {}, Sending()); !told) return told;
    const std::optional<Request> request = host_.AwaitRequest();
    if (!request) return Gone();
    return Run(**sandbox, *request);
  }

 private:
  Result<void> AwaitSpare(Sandbox& sandbox) const {
    const Deadline deadline = Clock::now() + kReadyTimeout;
    for (;;) {
      Result<void> ready = sandbox.WaitForSpare(std::min(deadline, Clock::now() + kGoneCheck));
      if (ready || ready.error().error_number != ETIMEDOUT) return ready;
      if (host_.gone()) return Gone();
      if (Clock::now() >= deadline) return ready;
    }
  }

  Result<void> Run(Sandbox& sandbox, const Request& request) const {
    OutputFrames output(line_, host_);
    RunOptions run;
    run.sink = &output.sink();
    run.cancel_fd = host_.cancel_fd();
    // The engine's own clock begins a little later, and is the one that ends the run.
    const Deadline end = Clock::now() + request.limits.timeout;
    if (!request.functions.empty()) {
      run.call = [this, end](std::string_view name, std::string_view arguments) {
        return Call(name, arguments, end);
      };
    }
    door_.Allow(host_.door_bounds());
    Result<Outcome> outcome = sandbox.Run(request, run);
    door_.Stop();  // nothing comes after an outcome
    if (!outcome) return outcome.error();
    NameTheWalls(*outcome);
    if (!output.sent()) return output.sent();
    ExplainOomKill(*outcome);
    return SendOutcome(line_, host_, *outcome);
  }

  // Without an answer the line stays the host's: nothing but outputs and the outcome goes over it.
  std::string Call(std::string_view name, std::string_view arguments, Deadline end) const {
    std::string call;
    AppendNumber(call, static_cast<uint32_t>(name.size()));
    call.append(name).append(arguments);
    door_.Hold();
    host_.ExpectAnswer();
    if (!line_.Send(FrameKind::kCall, call, Sending())) return {};
    std::optional<std::string> answer = host_.AwaitAnswer(end);
    if (!answer) return {};
    door_.GoOn();
    return std::move(*answer);
  }

  Error Gone() const {
    return host_.fault().value_or(SystemErrorOf(EPIPE, "listen to the host", "it has gone"));
  }

  const GuestOptions& options_;
  const Line& line_;
  DoorRelay& door_;
  HostListener& host_;
};

}  // namespace

int ServeHost(const GuestOptions& options, Line line) {
  DoorRelay door(line);
  Result<std::unique_ptr<HostListener>> host = HostListener::Start(line, door);
  const Result<void> served =
      host ? Service(options, line, door, **host).Serve() : Result<void>(host.error());
  if (served || (host && (*host)->gone() && !(*host)->fault())) return kGuestDone;
  const Result<void> told =
      line.Send(FrameKind::kFailure, FailureToText(served.error()), Sending());
  // The listener may not have seen yet that there is nobody left.
  return !told && told.error().error_number == EPIPE ? kGuestDone : kGuestFailed;
}

}  // namespace belljar
