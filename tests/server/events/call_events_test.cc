// From calls to events: each execution that is submitted ends once, by running or by being refused.
#include "server/events/call_events.h"

#include <gtest/gtest.h>
#include <time.h>

#include <future>
#include <stdexcept>

#include "server/calls/calls.h"
#include "server/calls/observer.h"
#include "tests/server/call_records.h"

namespace belljar::server::events::call_events_test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// A tool that does what the test says.
class FakeTool : public Tool {
 public:
  explicit FakeTool(bool runs_code = true) : runs_code_(runs_code) {
    description_.name = runs_code ? "execute_code" : "validate_code";
  }
  const ToolDescription& description() const override { return description_; }
  bool uses_worker() const override { return true; }
  bool runs_code() const override { return runs_code_; }
  core::Result<ToolResult> Call(const ToolCall& call) override { return on_call(call); }

  std::function<core::Result<ToolResult>(const ToolCall&)> on_call =
      [](const ToolCall&) -> core::Result<ToolResult> { return ToolResult(); };

 private:
  const bool runs_code_;
  ToolDescription description_;
};

ToolResult Faulty(ToolResult::Fault fault) {
  ToolResult result;
  result.is_error = true;
  result.fault = fault;
  return result;
}

class CallEventsTest : public ::testing::Test {
 protected:
  CallEventsTest() {
    hub_.AddListener([this](const std::shared_ptr<const Event>& event) {
      const std::lock_guard lock(mutex_);
      told_.push_back(event);
    });
  }
  // What is told of one call of the tool, as "execution.submitted execution.started …".
  std::string Told(FakeTool& tool, bool cancelled = false) {
    std::promise<void> ended;
    ToolCall call;
    call.caller.name = "a";
    call.traceparent = "00-trace";
    call.cancellation = std::make_shared<Cancellation>();
    if (cancelled) call.cancellation->Cancel();
    const auto refusal = calls_.Start(tool, std::move(call),
                                      [&](const core::Result<ToolResult>&) { ended.set_value(); });
    if (!refusal) ended.get_future().wait();
    EXPECT_TRUE(refusal || queue_.Drain(steady_clock::now() + seconds(20)));
    return Names();
  }
  std::string Names() {
    const std::lock_guard lock(mutex_);
    std::string names;
    for (const auto& event : told_) {
      names += (names.empty() ? "" : " ") + std::string(NameOf(event->data));
    }
    return names;
  }
  template <typename Kind>
  const Kind* Find() {
    const std::lock_guard lock(mutex_);
    for (const auto& event : told_) {
      if (const auto* found = std::get_if<Kind>(&event->data)) return found;
    }
    return nullptr;
  }
  // As tools/code_parameters.cc does it.
  void RecordAtTheEnd(const ToolCall& call, host::Outcome outcome) {
    call.deferred->Add([this, execution = call.execution, outcome = std::move(outcome)] {
      CallRecord record = tests::RecordOf(outcome);
      record.caller = "a";
      record.execution = execution->id();
      execution->SetRecorded();
      events_.Called(record);
    });
  }

  EventHub hub_{{}};
  CallEvents events_{hub_};
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Event>> told_;
  CallQueue queue_{{.running = 1, .waiting = 0}};
  Calls calls_{queue_, {}, &events_};
};

TEST_F(CallEventsTest, AnExecutionIsSubmittedStartedAndEnds) {
  FakeTool tool;
  std::string id;
  tool.on_call = [&](const ToolCall& call) -> core::Result<ToolResult> {
    id = call.execution->id();
    RecordAtTheEnd(call, tests::GoodOutcome());
    return ToolResult();
  };
  EXPECT_EQ(Told(tool), "execution.submitted execution.started execution.ended");
  EXPECT_EQ(id.size(), 36u);
  const auto* submitted = Find<ExecutionSubmitted>();
  EXPECT_EQ(submitted->execution, id);
  EXPECT_EQ(submitted->traceparent, "00-trace");
  EXPECT_EQ(Find<ExecutionStarted>()->execution, id);
  const auto* ended = Find<ExecutionEnded>();
  EXPECT_EQ(ended->execution, id);
  EXPECT_EQ(ended->status, "ok");
  EXPECT_EQ(ended->profile, "basic");
  EXPECT_EQ(ended->cpu_time, std::chrono::microseconds(900));
}

TEST_F(CallEventsTest, TheClassOfAnExceptionIsNoTextOfTheProgram) {
  const std::pair<const char*, const char*> kTypes[] = {
      {"KeyError", "KeyError"}, {"Timeout", "Timeout"}, {"Root_password_is_hunter2", "other"}};
  for (const auto& [type, told] : kTypes) {
    told_.clear();
    host::Outcome outcome = tests::GoodOutcome();
    outcome.error = host::GuestError{type, "", 1, 1, 1, 1, "", ""};
    CallRecord record = tests::RecordOf(outcome);
    record.execution = "an id";
    events_.Called(record);
    ASSERT_TRUE(Find<ExecutionEnded>());
    EXPECT_EQ(Find<ExecutionEnded>()->error_type, told);
  }
}

TEST_F(CallEventsTest, WhatNeverRanIsRefused) {
  const std::pair<ToolResult::Fault, const char*> kFaults[] = {
      {ToolResult::Fault::kArguments, "arguments"},
      {ToolResult::Fault::kNotFound, "not_found"},
      {ToolResult::Fault::kConflict, "conflict"},
      {ToolResult::Fault::kUnavailable, "unavailable"},
  };
  for (const auto& [fault, reason] : kFaults) {
    EventHub hub({});
    CallEvents events(hub);
    std::string names;
    hub.AddListener([&](const std::shared_ptr<const Event>& event) {
      names += std::string(NameOf(event->data)) + " ";
      if (const auto* refused = std::get_if<ExecutionRefused>(&event->data)) {
        names += refused->reason;
      }
    });
    FakeTool tool;
    ToolCall call;
    call.caller.name = "a";
    ObservedExecution execution(&events, tool, call);
    execution.Submit();
    execution.Start();
    {
      host::DeferredTasks deferred;
      execution.End(Faulty(fault), deferred);
    }
    EXPECT_EQ(names,
              std::string("execution.submitted execution.started execution.refused ") + reason);
  }
}

TEST_F(CallEventsTest, AToolThatThrowsAndACancelledCallEndToo) {
  FakeTool tool;
  tool.on_call = [](const ToolCall&) -> core::Result<ToolResult> {
    throw std::runtime_error("broken");
  };
  EXPECT_EQ(Told(tool), "execution.submitted execution.started execution.refused");
  EXPECT_EQ(Find<ExecutionRefused>()->reason, "failure");
}

TEST_F(CallEventsTest, ACallThatWasCancelledWhileItWaitedIsRefused) {
  FakeTool tool;
  EXPECT_EQ(Told(tool, true), "execution.submitted execution.started execution.refused");
  EXPECT_EQ(Find<ExecutionRefused>()->reason, "cancelled");
}

TEST_F(CallEventsTest, TheQueueRefusesAfterTheSubmission) {
  queue_.Drain(steady_clock::now());
  FakeTool tool;
  EXPECT_EQ(Told(tool), "execution.submitted execution.refused");
  EXPECT_EQ(Find<ExecutionRefused>()->reason, "closing");
}

TEST_F(CallEventsTest, OtherToolsAreNoExecutions) {
  FakeTool tool(false);
  tool.on_call = [&](const ToolCall& call) -> core::Result<ToolResult> {
    EXPECT_EQ(call.execution->id(), "");
    EXPECT_FALSE(call.execution->WantsOutput());
    const host::Outcome outcome = tests::GoodOutcome();
    CallRecord record = tests::RecordOf(outcome);
    record.execution = {};
    events_.Called(record);
    return ToolResult();
  };
  EXPECT_EQ(Told(tool), "");
}

TEST_F(CallEventsTest, ARefusalByThePolicyNamesItsRules) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.status = host::Status::kRefused;
  outcome.findings = {{"BJ201"}, {"BJ201"}, {"BJ101"}};
  events_.Called(tests::RecordOf(outcome));
  EXPECT_EQ(Names(), "execution.refused");
  EXPECT_EQ(Find<ExecutionRefused>()->reason, "policy");
  EXPECT_EQ(Find<ExecutionRefused>()->rules, (std::vector<std::string>{"BJ201", "BJ101"}));
}

TEST_F(CallEventsTest, WhatHappenedMeanwhileComesBeforeTheEnd) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.status = host::Status::kMemoryLimit;
  outcome.container = host::ContainerReport{.runtime = "runsc", .warm = false};
  outcome.network.resize(40);
  for (host::NetworkEvent& each : outcome.network) each.host = "evil.example";
  outcome.network[0].allowed = true;
  outcome.session =
      host::SessionReport{.id = "s1", .cell = 3, .checkpoint = "c2", .restored = true};
  events_.Called(tests::RecordOf(outcome));
  std::string names = "container.started";
  for (int i = 0; i < 16; ++i) names += " network.refused";
  EXPECT_EQ(Names(), names + " execution.limit session.restored execution.ended");
  EXPECT_EQ(Find<ExecutionLimit>()->limit, "memory");
  EXPECT_EQ(Find<SessionRestored>()->checkpoint, "c2");
  EXPECT_EQ(Find<ExecutionEnded>()->cell, 3u);
}

TEST_F(CallEventsTest, AWarmContainerWasNotStartedForIt) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.container = host::ContainerReport{.runtime = "runsc", .warm = true};
  outcome.stdout_stream.dropped_bytes = 1;
  events_.Called(tests::RecordOf(outcome));
  EXPECT_EQ(Names(), "execution.limit execution.ended");
  EXPECT_EQ(Find<ExecutionLimit>()->limit, "output");
}

TEST_F(CallEventsTest, AFailureOfTheServerIsAnEnd) {
  const host::Outcome outcome = tests::GoodOutcome();
  CallRecord record = tests::RecordOf(outcome);
  record.outcome = nullptr;
  record.failure = "no worker";
  events_.Called(record);
  EXPECT_EQ(Names(), "execution.ended");
  EXPECT_EQ(Find<ExecutionEnded>()->status, "failure");
}

TEST_F(CallEventsTest, SessionsAreOpenedBranchedRestoredAndGo) {
  for (const char* action :
       {"opened", "branched", "rolled_back", "files_written", "closed", "evicted"}) {
    events_.SessionChanged({action, "a", "s1", "basic", "detail"});
  }
  EXPECT_EQ(Names(),
            "session.opened session.opened session.restored session.closed session.evicted");
  EXPECT_EQ(Find<SessionEvicted>()->reason, "detail");
}

// Events contain no code, output or messages; texts chosen by others are truncated.
TEST_F(CallEventsTest, NothingSecretIsTold) {
  host::Outcome outcome = tests::GoodOutcome();
  outcome.status = host::Status::kException;
  outcome.error = host::GuestError{std::string(5000, 'E'), "hunter2", 1, 1, 1, 1, "hunter2", ""};
  events_.Called(tests::RecordOf(outcome));
  const std::string json = ToJson(*told_.at(0));
  EXPECT_EQ(json.find("hunter2"), std::string::npos);
  EXPECT_LT(json.size(), 1000u);
}

TEST_F(CallEventsTest, OutputIsPassedOnInWholeCharactersToThoseWhoAsk) {
  EventHub::Reader reader = hub_.Open("a", std::nullopt, true);
  std::string text;
  // Three bytes each: a piece of 16 KiB would end in the middle of one.
  for (int i = 0; i < 20'000; ++i) text += "\u20ac";
  events_.Printed({"e1", "execute_code", "a", "", ""}, text);
  std::string got;
  for (const EventHub::Item& item : hub_.Read(reader, 1000, 1 << 30).items) {
    const std::string& piece = std::get<ExecutionOutput>(item.event->data).text;
    EXPECT_LE(piece.size(), 16u << 10);
    EXPECT_EQ(piece.size() % 3, 0u);
    got += piece;
  }
  EXPECT_EQ(got, text);
}

}  // namespace
}  // namespace belljar::server::events::call_events_test
