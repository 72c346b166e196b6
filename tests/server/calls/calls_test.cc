// Calls: what observers are told of a call, however it ends.
#include "server/calls/calls.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "server/calls/observer.h"
#include "tests/support/support.h"

namespace belljar::server::calls_test {
namespace {

class Witness : public CallObserver {
 public:
  void Called(const CallRecord&) override {}
  void Submitted(const ExecutionRecord& record) override { Note("submitted", record); }
  void Started(const ExecutionRecord& record) override { Note("started", record); }
  void Refused(const ExecutionRecord& record) override { Note("refused", record); }
  std::string Seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void Note(const char* what, const ExecutionRecord& record) {
    const std::lock_guard lock(mutex_);
    seen_ += std::string(what) + " " + std::string(record.caller);
    seen_ += record.reason.empty() ? "\n" : " " + std::string(record.reason) + "\n";
  }
  mutable std::mutex mutex_;
  std::string seen_;
};

// Runs until it is let go.
class CodeTool : public Tool {
 public:
  CodeTool() { description_.name = "execute_code"; }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return true; }
  core::Result<ToolResult> Call(const ToolCall& call) override {
    reached_.set_value();
    let_go_.get_future().wait();
    call.execution->SetRecorded();
    return ToolResult();
  }
  void AwaitCall() { reached_.get_future().wait(); }
  void LetGo() { let_go_.set_value(); }

 private:
  ToolDescription description_;
  std::promise<void> reached_, let_go_;
};

ToolCall CallOf(const char* caller) {
  ToolCall call;
  call.caller.name = caller;
  return call;
}

TEST(Calls, ACallThatIsDroppedWhenTheQueueStopsHasItsEnd) {
  Witness witness;
  CodeTool tool;
  CallQueue queue({.running = 1, .waiting = 8});
  Calls calls(queue, {}, &witness);
  ASSERT_FALSE(calls.Start(tool, CallOf("ann"), [](const core::Result<ToolResult>&) {}));
  tool.AwaitCall();
  // The one that runs ends once the one that waits has been dropped.
  auto held = std::shared_ptr<void>(nullptr, [&](void*) { tool.LetGo(); });
  ASSERT_FALSE(calls.Start(tool, CallOf("bob"), [held](const core::Result<ToolResult>&) {
    ADD_FAILURE() << "it was not dropped";
  }));
  held.reset();
  queue.Stop();
  EXPECT_EQ(witness.Seen(), "submitted ann\nstarted ann\nsubmitted bob\nrefused bob closing\n");
}

TEST(Calls, ACallThatTheQueueRefusesEndsOnce) {
  Witness witness;
  CodeTool tool;
  CallQueue queue({.running = 1, .waiting = 8});
  queue.Stop();
  Calls calls(queue, {}, &witness);
  const auto refusal = calls.Start(tool, CallOf("ann"), [](const core::Result<ToolResult>&) {});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, CallQueue::Refusal::Reason::kClosing);
  EXPECT_EQ(witness.Seen(), "submitted ann\nrefused ann closing\n");
}

}  // namespace
}  // namespace belljar::server::calls_test
