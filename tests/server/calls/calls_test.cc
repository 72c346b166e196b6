// Calls: what observers are told of a call, however it ends.
#include "server/calls/calls.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "server/calls/observer.h"
#include "tests/server/witness.h"

namespace belljar::server::calls_test {
namespace {

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
  tests::Witness witness(false);
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
  tests::Witness witness(false);
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
