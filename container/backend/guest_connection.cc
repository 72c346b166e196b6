#include "container/backend/guest_connection.h"

#include <algorithm>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/host/version.h"

namespace belljar::container::backend {
namespace {

// Time between asking a guest to end and killing it.
constexpr std::chrono::seconds kCancelGrace{2};

// Indexes into the watched descriptors; the cancellation comes first.
constexpr size_t kChannelIn = 1;
constexpr size_t kInterrupt = 3;
constexpr size_t kKill = 4;
constexpr size_t kOfEgress = 5;

constexpr char kAskSession[] = "ask a container's session";

bool IsReadable(int fd) {
  pollfd readable{fd, POLLIN, 0};
  return fd >= 0 && poll(&readable, 1, 0) > 0;
}

wire::Hello Expected(const GuestTerms& terms) {
  return {wire::kContainerProtocol, host::kBelljarVersion, host::kPythonVersion, terms.profile,
          terms.isolation,          terms.policy};
}

}  // namespace

GuestTerms GuestTerms::Of(const core::Profile& profile, std::string isolation, std::string policy,
                          egress::EgressService* egress_service) {
  GuestTerms terms;
  terms.profile = profile.name;
  terms.isolation = std::move(isolation);
  terms.policy = std::move(policy);
  terms.has_workspace = profile.workspace.has_value();
  terms.displays = profile.artifacts;
  terms.egress_service = egress_service;
  return terms;
}

GuestConnection::GuestConnection(wire::Channel channel, GuestTerms terms)
    : terms_(std::move(terms)),
      channel_(std::move(channel)),
      reader_(std::make_unique<GuestReader>(Expected(terms_))) {}

core::Result<void> GuestConnection::AwaitReady(const waiting::Wait& wait) {
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
                                                 const run::RunOptions& options) {
  const auto start = core::Clock::now();
  waiting::InterruptCheck interrupts(options.interrupted);
  const waiting::Wait wait{start + request.limits.timeout + terms_.grace, options.cancel_fd,
                           &interrupts};
  if (session_ && HasEnded()) return core::MakeError(kAskSession, "its container has ended");
  if (core::Result<void> opened = OpenEgress(request); !opened) return opened.error();
  streamed_stdout_ = streamed_stderr_ = 0;
  // Assumed until known otherwise.
  is_broken_ = session_.has_value();
  GuestReader::EgressFrames egress;
  if (egress_) egress = [this](const wire::Frame& frame) { return egress_->Take(frame); };
  calls_.emplace(request, options.call);
  reader_->Expect({request.limits, terms_.has_workspace, terms_.displays}, std::move(egress),
                  &*calls_);
  // Half a request would end a session.
  const waiting::Wait sending = session_ ? waiting::Wait{wait.deadline, options.kill_fd} : wait;
  if (core::Result<void> sent = SendRequest(request, sending); !sent) {
    if (sent.error().error_number == EPIPE && HasReportedEnd()) return *reader_->failure();
    // Cancelled before it began; any other error is this machine's.
    if (sent.error().error_number != ECANCELED) return sent.error();
    end_ = End::kCancelled;
    return Ended(request);
  }
  end_ = Watch(wait, options);
  egress::EgressRecord network = egress_ ? egress_->Close() : egress::EgressRecord();
  is_broken_ = session_ && (end_ != End::kOutcome || has_hung_up_);
  if (end_ == End::kFailure) return *reader_->failure();
  if (options.sink_gets_the_rest) Stream(options);
  host::Outcome outcome = end_ == End::kOutcome ? std::move(reader_->outcome()) : Ended(request);
  // Bounded by the measured time.
  const auto spent =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - start);
  if (end_ != End::kOutcome) outcome.usage.wall_time = spent;
  outcome.usage.wall_time = std::min(outcome.usage.wall_time, spent);
  outcome.isolation.mode = terms_.isolation;
  outcome.isolation.policy = terms_.policy;
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
                                                const waiting::Wait& wait) {
  core::Result<std::string> text =
      wire::RequestToText(request, egress_ ? egress_->bounds() : wire::EgressBounds());
  if (!text) {
    is_broken_ = false;  // nothing has been sent
    return text.error();
  }
  return SendOrder(wire::FrameKind::kRequest, *text, wire::RequestContent(request), wait);
}

core::Result<void> GuestConnection::SendOrder(wire::FrameKind kind, std::string_view text,
                                              const std::vector<std::string_view>& content,
                                              const waiting::Wait& wait) {
  // Left over from the previous cell: a cancellation, or an answer that came too late.
  core::Result<void> sent = channel_.SendFrames(outbox_, wait);
  outbox_.clear();
  answering_ = 0;
  if (sent) sent = channel_.Send(kind, text, wait);
  for (const std::string_view part : content) {
    if (sent) sent = channel_.SendContent(part, wait);
  }
  if (sent || sent.error().error_number == ECANCELED) return sent;
  const bool is_late = sent.error().error_number == ETIMEDOUT;
  return core::SystemErrorOf(sent.error().error_number, "send a request to a container",
                             is_late ? "the container does not read it" : "it has ended");
}

// --- sessions ------------------------------------------------------------------------------------

core::Result<void> GuestConnection::OpenSession(const core::Limits& limits,
                                                const waiting::Wait& wait) {
  session_ = limits;
  reader_->ExpectSession();
  core::Result<void> sent =
      SendOrder(wire::FrameKind::kSession, wire::SessionToText(limits), {}, wait);
  if (!sent) return sent;
  return AwaitSettled(wait);
}

core::Result<wire::Reply> GuestConnection::Inquire(const wire::Inquiry& inquiry, int kill_fd) {
  if (HasEnded()) return core::MakeError(kAskSession, "its container has ended");
  core::Result<std::string> text = wire::InquiryToText(inquiry);
  if (!text) return text.error();
  is_broken_ = true;
  const waiting::Wait wait{core::Clock::now() + session_->timeout + terms_.grace, kill_fd};
  reader_->ExpectReply(wire::ReplyBounds::Of(inquiry.kind, *session_));
  core::Result<void> done =
      SendOrder(wire::FrameKind::kInquiry, *text, wire::InquiryContent(inquiry), wait);
  if (done) done = AwaitSettled(wait);
  if (!done) return done.error();
  is_broken_ = false;
  return std::move(reader_->reply());
}

// Waits until the guest is ready for the next order, or says that its session has ended.
core::Result<void> GuestConnection::AwaitSettled(const waiting::Wait& wait) {
  while (reader_->stage() != GuestReader::Stage::kWaiting) {
    if (reader_->failure()) return *reader_->failure();
    if (reader_->stage() == GuestReader::Stage::kEnded) {
      return reader_->has_reply() ? core::Result<void>()
                                  : core::MakeError(kAskSession, "it has ended");
    }
    core::Result<std::string> bytes = channel_.Receive(wait);
    if (!bytes) return bytes.error();
    if (bytes->empty()) return core::SystemErrorOf(EPIPE, kAskSession, "its container has ended");
    if (core::Result<void> taken = reader_->Take(*bytes); !taken) return taken;
  }
  return {};
}

// A waiting guest sends nothing.
bool GuestConnection::HasEnded() const {
  return is_broken_ || reader_->stage() != GuestReader::Stage::kWaiting ||
         IsReadable(channel_.fd());
}

// --- the end of a run ----------------------------------------------------------------------------

// For a guest that ended before it had the whole request. What it sent before can still be read.
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

GuestConnection::End GuestConnection::Watch(waiting::Wait wait, const run::RunOptions& options) {
  core::Deadline last_call = wait.deadline;
  waiting::InterruptCheck& interrupts = *wait.interrupts;
  bool cancelled = false;
  for (;;) {
    const core::Result<void> came = AwaitAny(wait, options);
    if (came && watched_[kKill].revents != 0) return End::kCancelled;
    const bool is_interrupted = came && !cancelled && watched_[kInterrupt].revents != 0;
    if (came && !is_interrupted) {
      const bool has_come = watched_[kChannelIn].revents != 0;
      if (const std::optional<End> end = has_come ? Read() : std::nullopt) return *end;
      if (has_come) Stream(options);
      if (egress_) egress_->Move(std::span(watched_).subspan(kOfEgress), outbox_);
      // No functions are called for a run that is over, so a guest cannot extend its time again and
      // again.
      const core::Deadline asked = core::Clock::now();
      const std::optional<std::string> called =
          !cancelled && asked < last_call ? AnswerCall() : std::nullopt;
      if (called) {
        if (!fault_.empty()) return End::kFault;
        interrupts.CheckSoon();
        if (run::FunctionCalls::StopsClock(*called, session_.has_value())) {
          last_call += core::Clock::now() - asked;
          wait.deadline += core::Clock::now() - asked;
        }
        // A message that has arrived in the meantime may be the outcome, which must still be read.
        wait.deadline = std::max(wait.deadline, core::Clock::now() + terms_.grace);
      }
    } else if (is_interrupted || came.error().error_number == ECANCELED) {
      cancelled = true;
      // A guest that cannot be notified is killed anyway.
      const auto grace = kCancelGrace + (session_ ? options.interrupt_grace : kCancelGrace.zero());
      wait = {std::min(wait.deadline, core::Clock::now() + grace)};
      outbox_ += wire::EncodeFrameHeader(wire::FrameKind::kCancel, 0);
    } else if (came.error().error_number == ETIMEDOUT) {
      return Late(cancelled);
    } else {
      return End::kClosed;
    }
    Flush();
    // It never stops sending.
    if (core::Clock::now() >= wait.deadline) return Late(cancelled);
  }
}

GuestConnection::End GuestConnection::Late(bool cancelled) {
  if (reader_->has_outcome()) return OutcomeOfLast();
  return cancelled ? End::kCancelled : End::kTimeout;
}

core::Result<void> GuestConnection::AwaitAny(const waiting::Wait& wait,
                                             const run::RunOptions& options) {
  // Once cancelled, there is nothing to interrupt.
  const bool may_interrupt = wait.interrupts != nullptr;
  watched_ = {{wait.cancel_fd, POLLIN, 0},
              {channel_.fd(), POLLIN, 0},
              {outbox_.empty() ? -1 : channel_.out_fd(), POLLOUT, 0},
              {may_interrupt ? options.interrupt_fd : -1, POLLIN, 0},
              {options.kill_fd, POLLIN, 0}};
  if (egress_) egress_->Watch(outbox_.size() < wire::EgressTraffic::kSendThreshold, watched_);
  return waiting::WaitForAny(watched_, wait);
}

// May take any amount of time; the guest's clock keeps running, and its messages are kept. Returns
// what was called, if there is a call; with a fault, if no runner makes that call.
std::optional<std::string> GuestConnection::AnswerCall() {
  const std::optional<GuestReader::Call> call = reader_->TakeCall();
  if (!call) return std::nullopt;
  std::optional<std::string> answer = calls_->Answer(call->name, call->arguments);
  if (!answer) {
    fault_ = "a call that no runner makes";
    return call->name;
  }
  if (answer->empty() && session_) answer = run::FunctionCalls::Interrupted();
  // Without an answer, the guest waits to be cancelled.
  if (answer->empty()) return call->name;
  outbox_ += wire::EncodeFrameHeader(wire::FrameKind::kAnswer, answer->size()) + *answer;
  answering_ = outbox_.size();
  return call->name;
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
  if (bytes.empty()) {
    return reader_->has_outcome() ? OutcomeOfLast() : End::kClosed;
  }
  if (core::Result<void> taken = reader_->Take(bytes); !taken) {
    fault_ = taken.error().ToString();
    return End::kFault;
  }
  const GuestReader::Stage stage = reader_->stage();
  if (stage == GuestReader::Stage::kWaiting) return End::kOutcome;  // of a cell
  if (stage != GuestReader::Stage::kEnded) return std::nullopt;
  return reader_->failure() && !reader_->has_outcome() ? End::kFailure : End::kOutcome;
}

// A session that sends nothing more.
GuestConnection::End GuestConnection::OutcomeOfLast() {
  has_hung_up_ = true;
  return End::kOutcome;
}

void GuestConnection::Stream(const run::RunOptions& options) {
  if (!options.sink) return;
  const auto pass = [](const std::string& text, size_t& streamed, const auto& sink) {
    if (text.size() > streamed && sink) sink(std::string_view(text).substr(streamed));
    streamed = text.size();
  };
  const host::Outcome& outcome = reader_->outcome();
  pass(outcome.stdout_stream.text, streamed_stdout_, options.sink->on_stdout);
  pass(outcome.stderr_stream.text, streamed_stderr_, options.sink->on_stderr);
}

// The outcome if the guest has not sent one. Output that has arrived is kept.
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
