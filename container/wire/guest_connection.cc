#include "container/wire/guest_connection.h"

#include <algorithm>
#include <utility>

#include "container/wire/request_text.h"
#include "engine/core/version.h"

namespace belljar {
namespace {

// Between telling a guest to end and ending it.
constexpr std::chrono::seconds kCancelGrace{2};

// Places in what is watched; the cancellation is the first.
constexpr size_t kLineIn = 1;
constexpr size_t kOfDoor = 3;

Hello Expected(const GuestTerms& terms) {
  return {kContainerProtocol, kBelljarVersion, kPythonVersion,
          terms.profile,      terms.isolation, terms.language};
}

}  // namespace

GuestTerms GuestTerms::Of(const Profile& profile, std::string isolation, std::string language,
                          DoorService* doors) {
  GuestTerms terms;
  terms.profile = profile.name;
  terms.isolation = std::move(isolation);
  terms.language = std::move(language);
  terms.has_workspace = profile.workspace.has_value();
  terms.displays = profile.artifacts;
  terms.doors = doors;
  return terms;
}

GuestConnection::GuestConnection(Line line, GuestTerms terms)
    : terms_(std::move(terms)),
      line_(std::move(line)),
      reader_(std::make_unique<GuestReader>(Expected(terms_))) {}

Result<void> GuestConnection::AwaitReady(const Wait& wait) {
  while (reader_->stage() != GuestReader::Stage::kWaiting) {
    Result<std::string> bytes = line_.Receive(wait);
    if (!bytes) return bytes.error();
    if (bytes->empty()) return MakeError("wait for a container", "it ended before it was ready");
    if (Result<void> taken = reader_->Take(*bytes); !taken) return taken;
    if (reader_->failure()) return *reader_->failure();
  }
  return {};
}

Result<Outcome> GuestConnection::Run(const Request& request, const RunOptions& options) {
  const auto start = Clock::now();
  InterruptCheck interrupts(options.interrupted);
  const Wait wait{start + request.limits.timeout + terms_.grace, options.cancel_fd, &interrupts};
  if (Result<void> opened = OpenDoor(request); !opened) return opened.error();
  GuestReader::DoorFrames door;
  if (door_) door = [this](const Frame& frame) { return door_->Take(frame); };
  calls_.emplace(request, options.call);
  reader_->Expect({request.limits, terms_.has_workspace, terms_.displays}, std::move(door),
                  &*calls_);
  if (Result<void> sent = SendRequest(request, wait); !sent) {
    if (sent.error().error_number == EPIPE && HasSaidWhy()) return *reader_->failure();
    // Cancelled before it had begun; anything else is the machine's.
    if (sent.error().error_number != ECANCELED) return sent.error();
    end_ = End::kCancelled;
    return Ended(request);
  }
  end_ = Watch(wait, options);
  DoorRecord network = door_ ? door_->Close() : DoorRecord();
  if (end_ == End::kFailure) return *reader_->failure();
  if (options.sink_gets_the_rest) Stream(options);
  Outcome outcome = end_ == End::kOutcome ? std::move(reader_->outcome()) : Ended(request);
  // It cannot have taken longer than it did.
  const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  if (end_ != End::kOutcome) outcome.usage.wall_time = spent;
  outcome.usage.wall_time = std::min(outcome.usage.wall_time, spent);
  outcome.isolation.mode = terms_.isolation;
  outcome.isolation.language = terms_.language;
  outcome.network = std::move(network.events);
  outcome.network_left_out = network.left_out;
  return outcome;
}

Result<void> GuestConnection::OpenDoor(const Request& request) {
  Result<std::optional<AllowList>> narrower = Narrower(terms_.doors, request);
  if (!narrower) return narrower.error();
  const bool runs = request.mode == Request::Mode::kRun;
  if (terms_.doors && runs) door_.emplace(*terms_.doors, std::move(*narrower));
  return {};
}

Result<void> GuestConnection::SendRequest(const Request& request, const Wait& wait) const {
  Result<std::string> text = RequestToText(request, door_ ? door_->bounds() : DoorBounds());
  if (!text) return text.error();
  Result<void> sent = line_.Send(FrameKind::kRequest, *text, wait);
  for (const std::string_view part : RequestContent(request)) {
    if (sent) sent = line_.SendContent(part, wait);
  }
  if (sent || sent.error().error_number == ECANCELED) return sent;
  const bool is_late = sent.error().error_number == ETIMEDOUT;
  return SystemErrorOf(sent.error().error_number, "send a request to a container",
                       is_late ? "it does not take it" : "it has ended");
}

// Of one that has ended before it had the whole request. What it sent by then is still there.
bool GuestConnection::HasSaidWhy() {
  std::optional<End> end;
  for (;;) {
    const Result<std::optional<std::string>> bytes = line_.ReceiveNow();
    if (!bytes || !*bytes) break;
    if ((end = Take(**bytes))) break;
  }
  if (end == End::kFailure) end_ = End::kFailure;
  return end == End::kFailure;
}

GuestConnection::End GuestConnection::Watch(Wait wait, const RunOptions& options) {
  const Deadline last_call = wait.deadline;
  InterruptCheck& interrupts = *wait.interrupts;
  bool cancelled = false;
  for (;;) {
    const Result<void> came = AwaitAny(wait);
    if (came) {
      const bool has_come = watched_[kLineIn].revents != 0;
      if (const std::optional<End> end = has_come ? Read() : std::nullopt) return *end;
      if (has_come) Stream(options);
      if (door_) door_->Move(std::span(watched_).subspan(kOfDoor), outbox_);
      // Nothing is called for a run that is over, so no guest has its time made longer again and
      // again.
      if (!cancelled && Clock::now() < last_call && AnswerCall()) {
        interrupts.Hurry();
        // What the guest has said meanwhile may be the outcome, and wants its way out.
        wait.deadline = std::max(wait.deadline, Clock::now() + terms_.grace);
      }
    } else if (came.error().error_number == ECANCELED) {
      cancelled = true;
      // One that cannot be told is ended all the same.
      wait = {std::min(wait.deadline, Clock::now() + kCancelGrace)};
      outbox_ += EncodeFrameHeader(FrameKind::kCancel, 0);
    } else if (came.error().error_number == ETIMEDOUT) {
      return cancelled ? End::kCancelled : End::kTimeout;
    } else {
      return End::kClosed;
    }
    Flush();
    // One that never stops sending.
    if (Clock::now() >= wait.deadline) return cancelled ? End::kCancelled : End::kTimeout;
  }
}

Result<void> GuestConnection::AwaitAny(const Wait& wait) {
  watched_ = {{wait.cancel_fd, POLLIN, 0},
              {line_.fd(), POLLIN, 0},
              {outbox_.empty() ? -1 : line_.out_fd(), POLLOUT, 0}};
  if (door_) door_->Watch(outbox_.size() < DoorTraffic::kEnoughToSend, watched_);
  return WaitForAny(watched_, wait);
}

// May take any time; the guest's clock goes on, and its word is still there afterwards. False:
// there is no call.
bool GuestConnection::AnswerCall() {
  const std::optional<GuestReader::Call> call = reader_->TakeCall();
  if (!call) return false;
  const std::string answer = calls_->Answer(call->name, call->arguments);
  // Without one the guest waits to be cancelled.
  if (answer.empty()) return true;
  outbox_ += EncodeFrameHeader(FrameKind::kAnswer, answer.size()) + answer;
  answering_ = outbox_.size();
  return true;
}

// One that takes nothing any more may still have sent its outcome.
void GuestConnection::Flush() {
  const Result<size_t> sent = line_.SendNow(outbox_);
  const size_t gone = sent ? *sent : outbox_.size();
  outbox_.erase(0, gone);
  if (answering_ > 0 && gone >= answering_) reader_->Answered();
  answering_ -= std::min(answering_, gone);
}

std::optional<GuestConnection::End> GuestConnection::Read() {
  const Result<std::optional<std::string>> bytes = line_.ReceiveNow();
  if (!bytes) return End::kClosed;
  return *bytes ? Take(**bytes) : std::nullopt;
}

std::optional<GuestConnection::End> GuestConnection::Take(const std::string& bytes) {
  if (bytes.empty()) return End::kClosed;
  if (Result<void> taken = reader_->Take(bytes); !taken) {
    fault_ = taken.error().ToString();
    return End::kFault;
  }
  if (reader_->stage() != GuestReader::Stage::kEnded) return std::nullopt;
  return reader_->failure() ? End::kFailure : End::kOutcome;
}

void GuestConnection::Stream(const RunOptions& options) {
  if (!options.sink) return;
  const auto pass = [](const std::string& text, size_t& streamed, const auto& sink) {
    if (text.size() > streamed && sink) sink(std::string_view(text).substr(streamed));
    streamed = text.size();
  };
  const Outcome& outcome = reader_->outcome();
  pass(outcome.stdout_stream.text, streamed_stdout_, options.sink->on_stdout);
  pass(outcome.stderr_stream.text, streamed_stderr_, options.sink->on_stderr);
}

// What there is to say when the guest has not said it. Its outputs are kept as far as they came.
Outcome GuestConnection::Ended(const Request& request) {
  Outcome outcome;
  outcome.limits = request.limits;
  outcome.stdout_stream.text = std::move(reader_->outcome().stdout_stream.text);
  outcome.stderr_stream.text = std::move(reader_->outcome().stderr_stream.text);
  outcome.status = end_ == End::kTimeout ? Status::kTimeout : Status::kKilled;
  switch (end_) {
    case End::kTimeout:
      outcome.error = Stopped(
          "Timeout", "stopped after " + FormatDuration(request.limits.timeout) + " of wall time",
          "make the program do less, or raise the timeout");
      break;
    case End::kCancelled: outcome.error = Stopped("Cancelled", "cancelled", ""); break;
    case End::kFault:
      outcome.error =
          Stopped("Killed", "what the container answered was not readable: " + fault_, "");
      break;
    default:
      outcome.error = Stopped("Killed", "the container ended in the middle of the run", "");
      break;
  }
  return outcome;
}

}  // namespace belljar
