#include "container/backend/guest_connection.h"

#include <algorithm>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/host/version.h"

namespace belljar::container::backend {
namespace {

// Between asking a guest to end and killing it.
constexpr std::chrono::seconds kCancelGrace{2};

// Indexes into the watched descriptors; the cancellation comes first.
constexpr size_t kChannelIn = 1;
constexpr size_t kOfEgress = 3;

wire::Hello Expected(const GuestTerms& terms) {
  return {wire::kContainerProtocol, host::kBelljarVersion, host::kPythonVersion, terms.profile,
          terms.isolation,          terms.language};
}

}  // namespace

GuestTerms GuestTerms::Of(const core::Profile& profile, std::string isolation, std::string language,
                          egress::EgressService* egress_service) {
  GuestTerms terms;
  terms.profile = profile.name;
  terms.isolation = std::move(isolation);
  terms.language = std::move(language);
  terms.has_workspace = profile.workspace.has_value();
  terms.displays = profile.artifacts;
  terms.egress_service = egress_service;
  return terms;
}

GuestConnection::GuestConnection(wire::Channel channel, GuestTerms terms)
    : terms_(std::move(terms)),
      channel_(std::move(channel)),
      reader_(std::make_unique<GuestReader>(Expected(terms_))) {}

core::Result<void> GuestConnection::AwaitReady(const outside::Wait& wait) {
  while (reader_->stage() != GuestReader::Stage::kWaiting) {
    core::Result<std::string> bytes = channel_.Receive(wait);
    if (!bytes) return bytes.error();
    if (bytes->empty())
      return core::MakeError("wait for a container", "it ended before it was ready");
    if (core::Result<void> taken = reader_->Take(*bytes); !taken) return taken;
    if (reader_->failure()) return *reader_->failure();
  }
  return {};
}

core::Result<host::Outcome> GuestConnection::Run(const host::Request& request,
                                                 const outside::RunOptions& options) {
  const auto start = core::Clock::now();
  outside::InterruptCheck interrupts(options.interrupted);
  const outside::Wait wait{start + request.limits.timeout + terms_.grace, options.cancel_fd,
                           &interrupts};
  if (core::Result<void> opened = OpenEgress(request); !opened) return opened.error();
  GuestReader::EgressFrames egress;
  if (egress_) egress = [this](const wire::Frame& frame) { return egress_->Take(frame); };
  calls_.emplace(request, options.call);
  reader_->Expect({request.limits, terms_.has_workspace, terms_.displays}, std::move(egress),
                  &*calls_);
  if (core::Result<void> sent = SendRequest(request, wait); !sent) {
    if (sent.error().error_number == EPIPE && HasReportedEnd()) return *reader_->failure();
    // Cancelled before it began; any other error is the machine's.
    if (sent.error().error_number != ECANCELED) return sent.error();
    end_ = End::kCancelled;
    return Ended(request);
  }
  end_ = Watch(wait, options);
  egress::EgressRecord network = egress_ ? egress_->Close() : egress::EgressRecord();
  if (end_ == End::kFailure) return *reader_->failure();
  if (options.sink_gets_the_rest) Stream(options);
  host::Outcome outcome = end_ == End::kOutcome ? std::move(reader_->outcome()) : Ended(request);
  // Bounded by the measured time.
  const auto spent =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - start);
  if (end_ != End::kOutcome) outcome.usage.wall_time = spent;
  outcome.usage.wall_time = std::min(outcome.usage.wall_time, spent);
  outcome.isolation.mode = terms_.isolation;
  outcome.isolation.language = terms_.language;
  outcome.network = std::move(network.events);
  outcome.network_left_out = network.left_out;
  return outcome;
}

core::Result<void> GuestConnection::OpenEgress(const host::Request& request) {
  core::Result<std::optional<egress::AllowList>> narrower =
      egress::Narrower(terms_.egress_service, request);
  if (!narrower) return narrower.error();
  const bool runs = request.mode == host::Request::Mode::kRun;
  if (terms_.egress_service && runs) egress_.emplace(*terms_.egress_service, std::move(*narrower));
  return {};
}

core::Result<void> GuestConnection::SendRequest(const host::Request& request,
                                                const outside::Wait& wait) const {
  core::Result<std::string> text =
      wire::RequestToText(request, egress_ ? egress_->bounds() : wire::EgressBounds());
  if (!text) return text.error();
  core::Result<void> sent = channel_.Send(wire::FrameKind::kRequest, *text, wait);
  for (const std::string_view part : wire::RequestContent(request)) {
    if (sent) sent = channel_.SendContent(part, wait);
  }
  if (sent || sent.error().error_number == ECANCELED) return sent;
  const bool is_late = sent.error().error_number == ETIMEDOUT;
  return core::SystemErrorOf(sent.error().error_number, "send a request to a container",
                             is_late ? "it does not read it" : "it has ended");
}

// For a guest that ended before it had the whole request. What it sent before is still there.
bool GuestConnection::HasReportedEnd() {
  std::optional<End> end;
  for (;;) {
    const core::Result<std::optional<std::string>> bytes = channel_.ReceiveNow();
    if (!bytes || !*bytes) break;
    if ((end = Take(**bytes))) break;
  }
  if (end == End::kFailure) end_ = End::kFailure;
  return end == End::kFailure;
}

GuestConnection::End GuestConnection::Watch(outside::Wait wait,
                                            const outside::RunOptions& options) {
  const core::Deadline last_call = wait.deadline;
  outside::InterruptCheck& interrupts = *wait.interrupts;
  bool cancelled = false;
  for (;;) {
    const core::Result<void> came = AwaitAny(wait);
    if (came) {
      const bool has_come = watched_[kChannelIn].revents != 0;
      if (const std::optional<End> end = has_come ? Read() : std::nullopt) return *end;
      if (has_come) Stream(options);
      if (egress_) egress_->Move(std::span(watched_).subspan(kOfEgress), outbox_);
      // No functions are called for a run that is over, so a guest cannot extend its time again and
      // again.
      if (!cancelled && core::Clock::now() < last_call && AnswerCall()) {
        interrupts.CheckSoon();
        // A message that has arrived in the meantime may be the outcome, which must still be read.
        wait.deadline = std::max(wait.deadline, core::Clock::now() + terms_.grace);
      }
    } else if (came.error().error_number == ECANCELED) {
      cancelled = true;
      // A guest that cannot be told is killed anyway.
      wait = {std::min(wait.deadline, core::Clock::now() + kCancelGrace)};
      outbox_ += wire::EncodeFrameHeader(wire::FrameKind::kCancel, 0);
    } else if (came.error().error_number == ETIMEDOUT) {
      return cancelled ? End::kCancelled : End::kTimeout;
    } else {
      return End::kClosed;
    }
    Flush();
    // It never stops sending.
    if (core::Clock::now() >= wait.deadline) return cancelled ? End::kCancelled : End::kTimeout;
  }
}

core::Result<void> GuestConnection::AwaitAny(const outside::Wait& wait) {
  watched_ = {{wait.cancel_fd, POLLIN, 0},
              {channel_.fd(), POLLIN, 0},
              {outbox_.empty() ? -1 : channel_.out_fd(), POLLOUT, 0}};
  if (egress_) egress_->Watch(outbox_.size() < wire::EgressTraffic::kEnoughToSend, watched_);
  return outside::WaitForAny(watched_, wait);
}

// May take any time; the guest's clock keeps running, and its messages are kept. False: there is no
// call.
bool GuestConnection::AnswerCall() {
  const std::optional<GuestReader::Call> call = reader_->TakeCall();
  if (!call) return false;
  const std::string answer = calls_->Answer(call->name, call->arguments);
  // Without an answer the guest waits to be cancelled.
  if (answer.empty()) return true;
  outbox_ += wire::EncodeFrameHeader(wire::FrameKind::kAnswer, answer.size()) + answer;
  answering_ = outbox_.size();
  return true;
}

// A guest that no longer reads may still have sent its outcome.
void GuestConnection::Flush() {
  const core::Result<size_t> sent = channel_.SendNow(outbox_);
  const size_t gone = sent ? *sent : outbox_.size();
  outbox_.erase(0, gone);
  if (answering_ > 0 && gone >= answering_) reader_->Answered();
  answering_ -= std::min(answering_, gone);
}

std::optional<GuestConnection::End> GuestConnection::Read() {
  const core::Result<std::optional<std::string>> bytes = channel_.ReceiveNow();
  if (!bytes) return End::kClosed;
  return *bytes ? Take(**bytes) : std::nullopt;
}

std::optional<GuestConnection::End> GuestConnection::Take(const std::string& bytes) {
  if (bytes.empty()) return End::kClosed;
  if (core::Result<void> taken = reader_->Take(bytes); !taken) {
    fault_ = taken.error().ToString();
    return End::kFault;
  }
  if (reader_->stage() != GuestReader::Stage::kEnded) return std::nullopt;
  return reader_->failure() ? End::kFailure : End::kOutcome;
}

void GuestConnection::Stream(const outside::RunOptions& options) {
  if (!options.sink) return;
  const auto pass = [](const std::string& text, size_t& streamed, const auto& sink) {
    if (text.size() > streamed && sink) sink(std::string_view(text).substr(streamed));
    streamed = text.size();
  };
  const host::Outcome& outcome = reader_->outcome();
  pass(outcome.stdout_stream.text, streamed_stdout_, options.sink->on_stdout);
  pass(outcome.stderr_stream.text, streamed_stderr_, options.sink->on_stderr);
}

// The outcome if the guest has not sent one. Its output is kept as far as it arrived.
host::Outcome GuestConnection::Ended(const host::Request& request) {
  host::Outcome outcome;
  outcome.limits = request.limits;
  outcome.stdout_stream.text = std::move(reader_->outcome().stdout_stream.text);
  outcome.stderr_stream.text = std::move(reader_->outcome().stderr_stream.text);
  switch (end_) {
    case End::kTimeout:
      host::SetStopped(
          outcome, host::Status::kTimeout, "Timeout",
          "stopped after " + core::FormatDuration(request.limits.timeout) + " of wall time",
          "make the program do less, or raise the timeout");
      break;
    case End::kCancelled: host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled"); break;
    case End::kFault:
      host::SetKilled(outcome, host::KillCause::kUnreadable,
                      "the container sent an invalid answer: " + fault_);
      break;
    default:
      host::SetKilled(outcome, host::KillCause::kContainerEnded,
                      "the container ended in the middle of the run");
      break;
  }
  return outcome;
}

}  // namespace belljar::container::backend
