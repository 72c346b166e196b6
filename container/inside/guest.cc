#include "container/inside/guest.h"

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "container/inside/egress_relay.h"
#include "container/inside/host_listener.h"
#include "container/inside/memory_events.h"
#include "container/inside/rehearsal.h"
#include "container/wire/greeting.h"
#include "container/wire/outcome_text.h"
#include "container/wire/session_text.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/probe.h"
#include "engine/profiles/languages.h"
#include "engine/profiles/loader.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/sessions/session.h"

namespace belljar::container::inside {
namespace {

// A host that reads nothing for this long is gone.
constexpr std::chrono::seconds kReportTimeout{20};
constexpr std::chrono::milliseconds kGoneCheckInterval{50};
// Time to start an interpreter, with packages, on a busy machine.
constexpr std::chrono::seconds kReadyTimeout{120};

waiting::Wait Sending() { return {core::Clock::now() + kReportTimeout}; }
// A host does not read while it is in a function call, however long that takes; if it has gone,
// that is noticed anyway.
waiting::Wait SendingTo(const HostListener& host) {
  return host.owes_answer() ? waiting::Wait() : Sending();
}

wire::Hello Greeting(const GuestOptions& options) {
  return {wire::kContainerProtocol,
          host::kBelljarVersion,
          host::kPythonVersion,
          options.profile,
          outside::ModeName(options.isolation),
          outside::PolicyName(options.policy)};
}

// Strict isolation needs a private root, and containers may not mount one.
core::Result<void> CheckIsolation(const GuestOptions& options) {
  if (options.isolation != outside::IsolationMode::kStrict) return {};
  const core::Result<void> probed = outside::ProbeNamespaces();
  if (probed) return {};
  return core::MakeError("use isolation strict",
                         "this container only allows standard isolation, within its own: " +
                             probed.error().ToString());
}

outside::SandboxOptions ForOneRun(const GuestOptions& options, core::Profile profile) {
  outside::SandboxOptions sandbox;
  sandbox.profile = std::move(profile);
  sandbox.isolation = options.isolation;
  sandbox.policy = options.policy;
  sandbox.single_run = true;
  sandbox.has_workspace = true;
  sandbox.owns_pid_namespace = options.owns_pid_namespace;
  return sandbox;
}

core::Result<std::unique_ptr<outside::Sandbox>> OpenLanguage(const GuestOptions& options) {
  core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) return installation.error();
  const core::Result<profiles::LanguageCatalogue> catalogue =
      profiles::LanguageCatalogue::Open(*installation);
  if (!catalogue) return catalogue.error();
  core::Result<std::optional<core::Profile>> language = catalogue->FindInstalled(options.profile);
  if (!language) return language.error();
  if (!*language) return core::MakeError("open a language", "it is Python");
  outside::SandboxOptions sandbox = ForOneRun(options, std::move(**language));
  sandbox.installation = std::move(*installation);
  return outside::Sandbox::Open(std::move(sandbox));
}

core::Result<std::unique_ptr<outside::Sandbox>> OpenSandbox(const GuestOptions& options,
                                                            EgressRelay& egress) {
  if (core::Result<void> can = CheckIsolation(options); !can) return can.error();
  if (options.is_language) return OpenLanguage(options);
  core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return catalogue.error();
  core::Result<core::Profile> profile = catalogue->Choose(options.profile);
  if (!profile) return profile.error();
  outside::SandboxOptions sandbox = ForOneRun(options, std::move(*profile));
  if (const std::optional<core::EgressListener>& listener = sandbox.profile.egress) {
    if (core::Result<void> open = egress.Listen(listener->port); !open) return open.error();
    sandbox.egress_handler = [&egress](core::UniqueFd listener) {
      return egress.Start(std::move(listener));
    };
  }
  sandbox.other_profiles = profiles::ModulesByProfile(catalogue->profiles(), sandbox.profile.name);
  return outside::Sandbox::Open(std::move(sandbox));
}

// Sends output in frames as it arrives. Once one could not be sent, the rest is discarded.
class OutputFrames {
 public:
  OutputFrames(const wire::Channel& channel, const HostListener& host)
      : channel_(channel), host_(host) {
    sink_.on_stdout = [this](std::string_view text) {
      Send(wire::FrameKind::kStandardOutput, text);
    };
    sink_.on_stderr = [this](std::string_view text) {
      Send(wire::FrameKind::kStandardError, text);
    };
  }
  OutputFrames(const OutputFrames&) = delete;

  const run::OutputSink& sink() const { return sink_; }
  const core::Result<void>& sent() const { return sent_; }

 private:
  void Send(wire::FrameKind kind, std::string_view text) {
    while (sent_ && !text.empty()) {
      const std::string_view piece = text.substr(0, wire::kFramePiece);
      sent_ = channel_.Send(kind, piece, SendingTo(host_));
      text.remove_prefix(piece.size());
    }
  }

  const wire::Channel& channel_;
  const HostListener& host_;
  run::OutputSink sink_;
  core::Result<void> sent_;
};

// The engine calls its surroundings the host; here that is the container.
void DescribeNamespaces(host::Outcome& outcome) {
  for (host::LayerState& layer : outcome.isolation.layers) {
    if (layer.name != "namespaces" || layer.held) continue;
    layer.detail = "none of its own: the container's namespaces apply";
  }
}

core::Result<void> SendOutcome(const wire::Channel& channel, const HostListener& host,
                               const host::Outcome& outcome) {
  core::Result<void> sent =
      channel.Send(wire::FrameKind::kOutcome, wire::OutcomeToText(outcome), SendingTo(host));
  for (const std::string_view part : wire::OutcomeContent(outcome)) {
    if (sent) sent = channel.SendContent(part, SendingTo(host));
  }
  return sent;
}

// A failure is part of the reply: the session continues.
wire::Reply ReplyOf(sessions::Session& session, const wire::Inquiry& inquiry) {
  using Kind = wire::Inquiry::Kind;
  wire::Reply reply;
  const auto take = [&reply](auto result, auto&& use) {
    if (result) {
      use(*result);
    } else {
      reply.error = result.error();
    }
  };
  const auto take_text = [&](core::Result<std::string> text) {
    take(std::move(text), [&](std::string& content) { reply.content = std::move(content); });
  };
  const auto ask = [&](run::Question::Kind kind) {
    take_text(session.Ask({kind, inquiry.text, inquiry.cursor}));
  };
  const auto done = [&](const core::Result<void>& result) {
    if (!result) reply.error = result.error();
  };
  switch (inquiry.kind) {
    case Kind::kComplete: ask(run::Question::Kind::kComplete); break;
    case Kind::kInspect: ask(run::Question::Kind::kInspect); break;
    case Kind::kVariables: ask(run::Question::Kind::kVariables); break;
    case Kind::kFiles:
      take(session.Files(), [&](auto& files) { reply.files = std::move(files); });
      break;
    case Kind::kReadFile: take_text(session.ReadFile(inquiry.text)); break;
    case Kind::kWriteFiles: done(session.WriteFiles(inquiry.files)); break;
    case Kind::kRemoveFile: done(session.RemoveFile(inquiry.text)); break;
  }
  return reply;
}

// Its errors are for the host, if it is still there.
class Service {
 public:
  Service(const GuestOptions& options, const wire::Channel& channel, EgressRelay& egress,
          HostListener& host)
      : options_(options), channel_(channel), egress_(egress), host_(host) {}

  core::Result<void> Serve() {
    core::Result<void> greeted =
        channel_.Send(wire::FrameKind::kHello, wire::HelloToText(Greeting(options_)), Sending());
    if (!greeted) return greeted;
    core::Result<std::unique_ptr<outside::Sandbox>> sandbox = OpenSandbox(options_, egress_);
    if (!sandbox) return sandbox.error();
    RehearseAnswering();
    if (core::Result<void> ready = AwaitSpare(**sandbox); !ready) return ready;
    if (core::Result<void> sent = channel_.Send(wire::FrameKind::kReady, {}, Sending()); !sent)
      return sent;
    const std::optional<HostReader::Order> order = host_.AwaitOrder();
    if (!order) return Gone();
    if (order->kind == HostReader::Order::Kind::kSession) {
      return ServeSession(**sandbox, order->limits);
    }
    return Run(*order, [&](const host::Request& request, const run::RunOptions& run) {
      return sandbox->get()->Run(request, run);
    });
  }

 private:
  core::Result<void> AwaitSpare(outside::Sandbox& sandbox) const {
    const core::Deadline deadline = core::Clock::now() + kReadyTimeout;
    for (;;) {
      core::Result<void> ready =
          sandbox.WaitForSpare(std::min(deadline, core::Clock::now() + kGoneCheckInterval));
      if (ready || ready.error().error_number != ETIMEDOUT) return ready;
      if (host_.gone()) return Gone();
      if (core::Clock::now() >= deadline) return ready;
    }
  }

  using Runner =
      std::function<core::Result<host::Outcome>(const host::Request&, const run::RunOptions&)>;

  core::Result<void> Run(const HostReader::Order& order, const Runner& runner,
                         bool is_cell = false) const {
    const host::Request& request = order.request;
    OutputFrames output(channel_, host_);
    run::RunOptions run;
    run.sink = &output.sink();
    run.cancel_fd = host_.cancel_fd();
    run.kill_fd = host_.gone_fd();
    // The engine's own clock starts slightly later, and ends the run. The clock of a cell is
    // stopped during a call, and that of a program while a person thinks.
    const bool stops = is_cell || core::Contains(request.functions, std::string(host::kAsksInput));
    const core::Deadline end =
        stops ? core::Deadline::max() : core::Clock::now() + request.limits.timeout;
    if (!request.functions.empty()) {
      run.call = [this, end](std::string_view name, std::string_view arguments) {
        return Call(name, arguments, end);
      };
    }
    egress_.Allow(order.egress_bounds);
    core::Result<host::Outcome> outcome = runner(request, run);
    egress_.Stop();  // nothing may follow an outcome
    if (!outcome) return outcome.error();
    DescribeNamespaces(*outcome);
    if (!output.sent()) return output.sent();
    ExplainOomKill(*outcome);
    return SendOutcome(channel_, host_, *outcome);
  }

  core::Result<void> ServeSession(outside::Sandbox& sandbox, const core::Limits& limits) const {
    sessions::SessionOptions options;
    options.limits = limits;
    const core::Result<std::shared_ptr<sessions::Session>> opened = sandbox.OpenSession(options);
    if (!opened) return opened.error();
    sessions::Session& session = **opened;
    const Runner run_cell = [&](const host::Request& request, const run::RunOptions& run) {
      return sandbox.RunCell(session, request, run);
    };
    for (;;) {
      if (!session.closed().empty()) return channel_.Send(wire::FrameKind::kEnd, {}, Sending());
      host_.ExpectOrder();
      if (core::Result<void> sent = channel_.Send(wire::FrameKind::kReady, {}, Sending()); !sent) {
        return sent;
      }
      const std::optional<HostReader::Order> order = host_.AwaitOrder();
      if (!order) return Gone();
      const bool asks = order->kind == HostReader::Order::Kind::kInquiry;
      core::Result<void> served =
          asks ? SendReply(ReplyOf(session, order->inquiry)) : Run(*order, run_cell, true);
      if (!served) return served;
    }
  }

  core::Result<void> SendReply(const wire::Reply& reply) const {
    core::Result<void> sent =
        channel_.Send(wire::FrameKind::kReply, wire::ReplyToText(reply), Sending());
    if (!sent) return sent;
    return channel_.SendContent(reply.content, Sending());
  }

  // If no answer came, the host still owes one: only outputs and the outcome are sent.
  std::string Call(std::string_view name, std::string_view arguments, core::Deadline end) const {
    if (!host_.ExpectAnswer()) return {};
    std::string call;
    wire::AppendNumber(call, static_cast<uint32_t>(name.size()));
    call.append(name).append(arguments);
    egress_.Hold();
    if (!channel_.Send(wire::FrameKind::kCall, call, Sending())) return {};
    std::optional<std::string> answer = host_.AwaitAnswer(end);
    if (!answer) return {};
    egress_.GoOn();
    return std::move(*answer);
  }

  core::Error Gone() const {
    return host_.fault().value_or(core::SystemErrorOf(EPIPE, "listen to the host", "it is gone"));
  }

  const GuestOptions& options_;
  const wire::Channel& channel_;
  EgressRelay& egress_;
  HostListener& host_;
};

}  // namespace

int ServeHost(const GuestOptions& options, wire::Channel channel) {
  EgressRelay egress(channel);
  core::Result<std::unique_ptr<HostListener>> host = HostListener::Start(channel, egress);
  const core::Result<void> served =
      host ? Service(options, channel, egress, **host).Serve() : core::Result<void>(host.error());
  if (served || (host && (*host)->gone() && !(*host)->fault())) return kGuestDone;
  const core::Result<void> sent =
      channel.Send(wire::FrameKind::kFailure, wire::FailureToText(served.error()), Sending());
  // The listener may not have noticed yet that the host is gone.
  return !sent && sent.error().error_number == EPIPE ? kGuestDone : kGuestFailed;
}

}  // namespace belljar::container::inside
