// GuestReader: the strict parser for what a guest sends, with fixed order and bounds. Without
// descriptors and clock: bytes go in, an outcome or a fault comes out.
//
//   GuestReader reader(expected);
//   reader.Take(bytes) …                     until stage() is kWaiting: a worker is ready
//   reader.Expect(bounds);                   the request is being sent
//   reader.Take(bytes) …                     until it is kEnded
//   if (reader.failure()) …                  its machine failed; else outcome()
//
// In a session, kWaiting comes again: reader.ExpectSession() first, then Expect for each cell, or
// ExpectReply; kEnded once the session is over.
//
// Frames of the egress proxy are passed on, if there is one, while the request runs; the receiver
// validates them (EgressLedger). A function call, if the request has functions, is kept until
// TakeCall, and there can be no other before it is answered.
//
// It stores at most: one frame, one call, the outputs within the limits, displayed artifacts within
// the profile's bound, and files up to the maximum that is collected
// (engine/workspace/workspace.h).
#ifndef BELLJAR_CONTAINER_BACKEND_GUEST_READER_H_
#define BELLJAR_CONTAINER_BACKEND_GUEST_READER_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "container/wire/content.h"
#include "container/wire/frame.h"
#include "container/wire/greeting.h"
#include "container/wire/outcome_text.h"
#include "container/wire/session_text.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/run/function_calls.h"

namespace belljar::container::backend {

class GuestReader {
 public:
  enum class Stage {
    kGreeting,   // expects hello
    kPreparing,  // expects ready
    kWaiting,    // expects nothing until a request has been sent
    kRunning,    // expects output, calls, and the outcome
    kContent,    // expects the content of the outcome's artifacts
    kEnded,      // expects nothing more
    // Sessions only.
    kReplying,      // expects the reply to an inquiry
    kReplyContent,  // expects the content of the reply
    kSettling,      // expects ready, or the session's end
  };

  explicit GuestReader(wire::Hello expected) : expected_(std::move(expected)) {}
  GuestReader(const GuestReader&) = delete;

  // An error is a fault.
  using EgressFrames = std::function<core::Result<void>(const wire::Frame&)>;

  // Precondition: kWaiting, or kPreparing for a guest that gets its request before it is ready.
  // `egress` is called by Take; empty: no proxy. `calls` is borrowed; null: no functions.
  void Expect(wire::OutcomeBounds bounds, EgressFrames egress = {},
              const run::FunctionCalls* calls = nullptr);

  // Precondition: kWaiting. The guest is being told to open a session.
  void ExpectSession();
  // Precondition: kWaiting, in a session.
  void ExpectReply(wire::ReplyBounds bounds);

  // Takes received bytes. After an error, which says what was wrong with them, nothing more can be
  // read; the outputs received before are kept.
  core::Result<void> Take(std::string_view bytes);

  // A call of one of the request's functions, with arguments of bounded size but otherwise
  // unchecked.
  struct Call {
    std::string name;
    std::string arguments;
  };
  // The call that has arrived since the last one was answered; returned once.
  std::optional<Call> TakeCall() { return std::exchange(call_, std::nullopt); }
  // The whole answer has been sent: another call may follow.
  void Answered() { is_called_ = false; }

  Stage stage() const { return stage_; }
  const std::optional<core::Error>& failure() const { return failure_; }
  // Complete once has_outcome(); its outputs grow before that.
  host::Outcome& outcome() { return outcome_; }
  bool has_outcome() const { return has_outcome_; }
  wire::Reply& reply() { return reply_; }
  bool has_reply() const { return has_reply_; }

 private:
  size_t MaxLength(wire::FrameKind kind) const;
  core::Result<void> TakeFrame(const wire::Frame& frame);
  core::Result<void> TakeOutput(const wire::Frame& frame, std::string& text);
  core::Result<void> TakeOutcome(std::string_view text);
  core::Result<void> ReadCall(std::string_view payload);
  core::Result<void> TakeReply(std::string_view text);
  core::Result<void> EndWhenComplete();

  const wire::Hello expected_;
  Stage stage_ = Stage::kGreeting;
  bool expects_ = false;
  bool is_session_ = false;
  bool has_outcome_ = false;
  bool has_reply_ = false;
  wire::FrameDecoder frames_;
  wire::OutcomeBounds bounds_;
  EgressFrames egress_;
  const run::FunctionCalls* calls_ = nullptr;
  std::optional<Call> call_;
  bool is_called_ = false;  // a call has arrived and has not been answered
  host::Outcome outcome_;
  wire::ReplyBounds reply_bounds_;
  wire::Reply reply_;
  wire::Content content_;
  std::optional<core::Error> failure_;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_GUEST_READER_H_
