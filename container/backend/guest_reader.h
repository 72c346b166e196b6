// GuestReader: what the host reads of a guest, strictly: in its order, within its bounds. No
// descriptor and no clock: bytes go in, an outcome comes out or a fault.
//
//   GuestReader reader(expected);
//   reader.Take(bytes) …                     until stage() is kWaiting: a worker waits
//   reader.Expect(bounds);                   the request is on its way
//   reader.Take(bytes) …                     until it is kEnded
//   if (reader.failure()) …                  its machine failed; else outcome()
//
// The frames of an egress proxy are handed on, where there is one, while the request runs; who
// takes them judges them (EgressLedger). A call of a function, where there are any, waits in here
// to be made (TakeCall), and until it is answered there is no other.
//
// What it keeps at most: one frame, one call, the outputs as far as the limits go, what is
// displayed as far as the profile goes, and of files what is ever taken along
// (engine/outside/workspace.h).
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
#include "engine/core/result.h"
#include "engine/host/outcome.h"
#include "engine/outside/function_calls.h"

namespace belljar::container::backend {

class GuestReader {
 public:
  enum class Stage {
    kGreeting,   // hello is to come
    kPreparing,  // ready is
    kWaiting,    // nothing is, until a request has been sent
    kRunning,    // output, calls, and the outcome
    kContent,    // what the outcome's artifacts hold
    kEnded,      // nothing is any more
  };

  explicit GuestReader(wire::Hello expected) : expected_(std::move(expected)) {}
  GuestReader(const GuestReader&) = delete;

  // An error is a fault.
  using EgressFrames = std::function<core::Result<void>(const wire::Frame&)>;

  // Precondition: kWaiting, or kPreparing for a guest that gets its request ahead of its being
  // ready. `egress`, called by Take; empty: there is none. `calls` is borrowed; null: there are
  // none.
  void Expect(wire::OutcomeBounds bounds, EgressFrames egress = {},
              const outside::FunctionCalls* calls = nullptr);

  // Bytes as they came. After an error, which says what was wrong with them, there is nothing more
  // to read: what has been taken of the outputs until then stays.
  core::Result<void> Take(std::string_view bytes);

  // Of a function of the request's, with arguments of bounded size, and nothing known of them.
  struct Call {
    std::string name;
    std::string arguments;
  };
  // One that has come since the last was answered, once.
  std::optional<Call> TakeCall() { return std::exchange(call_, std::nullopt); }
  // All of its answer has been sent: there may be another.
  void Answered() { is_called_ = false; }

  Stage stage() const { return stage_; }
  const std::optional<core::Error>& failure() const { return failure_; }
  // Whole in kEnded without a failure; its outputs grow before that.
  host::Outcome& outcome() { return outcome_; }

 private:
  size_t MaxLength(wire::FrameKind kind) const;
  core::Result<void> TakeFrame(const wire::Frame& frame);
  core::Result<void> TakeOutput(const wire::Frame& frame, std::string& text);
  core::Result<void> TakeOutcome(std::string_view text);
  core::Result<void> ReadCall(std::string_view payload);
  void EndWhenComplete();

  const wire::Hello expected_;
  Stage stage_ = Stage::kGreeting;
  bool expects_ = false;
  wire::FrameDecoder frames_;
  wire::OutcomeBounds bounds_;
  EgressFrames egress_;
  const outside::FunctionCalls* calls_ = nullptr;
  std::optional<Call> call_;
  bool is_called_ = false;  // one has come, and has not been answered
  host::Outcome outcome_;
  wire::Content content_;
  std::optional<core::Error> failure_;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_GUEST_READER_H_
