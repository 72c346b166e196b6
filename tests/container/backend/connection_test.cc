// The host's end of the line, with guests of every kind at the other: honest, silent, slow,
// hostile.
#include "container/backend/guest_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "container/inside/host_reader.h"
#include "container/wire/outcome_text.h"
#include "engine/core/socket.h"
#include "tests/container/frames.h"

namespace belljar::container::backend::connection_test {
namespace {

// A call without arguments, as the runner writes it.
constexpr char kEmptyCall[] = R"({"args":[],"kwargs":{}})";

using End = GuestConnection::End;
using std::chrono::milliseconds;
using std::chrono::seconds;

core::Deadline Soon() { return core::Clock::now() + seconds(20); }

// The other end, for a thread of its own.
class FakeGuest {
 public:
  explicit FakeGuest(core::UniqueFd socket) : socket_(std::move(socket)) {
    reader_.TakeAnswersBy([this](std::string answer) {
      answers_.push_back(std::move(answer));
      return core::Result<void>();
    });
  }

  void Send(std::string_view bytes) {
    const std::string_view parts[] = {bytes};
    (void)core::SendAll(socket_.get(), parts, Soon());
  }
  void Greet() { Send(tests::HelloBytes() + tests::FrameBytes(wire::FrameKind::kReady)); }
  // Until there is a request, or `until` of the reader; false: the host has gone.
  bool Read(const std::function<bool(const inside::HostReader&)>& until) {
    while (!until(reader_)) {
      char bytes[4096];
      const ssize_t got = read(socket_.get(), bytes, sizeof bytes);
      if (got <= 0) return false;
      EXPECT_TRUE(reader_.Take({bytes, static_cast<size_t>(got)}));
    }
    return true;
  }
  bool AwaitRequest() {
    return Read([](const inside::HostReader& reader) { return reader.has_order(); });
  }
  bool AwaitCancel() {
    return Read([](const inside::HostReader& reader) { return reader.cancelled(); });
  }
  // Empty: the host has gone without one.
  std::string AwaitAnswer() {
    const bool came = Read([&](const inside::HostReader&) { return !answers_.empty(); });
    return came ? std::exchange(answers_, {}).back() : "";
  }
  std::string Call(std::string_view name, std::string_view arguments = kEmptyCall) {
    Send(tests::CallBytes(name, arguments));
    return AwaitAnswer();
  }
  bool has_answer() const { return !answers_.empty(); }
  // As long as the host is there.
  void Stay() {
    Read([](const inside::HostReader&) { return false; });
  }

 private:
  core::UniqueFd socket_;
  inside::HostReader reader_;
  std::vector<std::string> answers_;
};

std::string OutcomeFrame(const host::Outcome& outcome = {.status = host::Status::kOk}) {
  return tests::FrameBytes(wire::FrameKind::kOutcome, wire::OutcomeToText(outcome));
}

class Connection : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    request.source = "1";
    request.limits.timeout = seconds(20);
  }
  void TearDown() override {
    connection.reset();
    over = true;
    over.notify_all();
    if (guest.joinable()) guest.join();
  }

  void Start(std::function<void(FakeGuest&)> behave, milliseconds grace = seconds(10)) {
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    ASSERT_TRUE(pair);
    core::Result<wire::Channel> channel = wire::Channel::OfSocket(std::move(pair->first));
    ASSERT_TRUE(channel);
    GuestTerms terms;
    terms.grace = grace;
    connection = std::make_unique<GuestConnection>(std::move(*channel), terms);
    guest = std::thread(
        [behave, fake = std::make_shared<FakeGuest>(std::move(pair->second))] { behave(*fake); });
  }

  // One that greets, and then does as told.
  core::Result<host::Outcome> Run(std::function<void(FakeGuest&)> behave,
                                  milliseconds grace = seconds(10)) {
    Start(
        [behave](FakeGuest& fake) {
          fake.Greet();
          behave(fake);
        },
        grace);
    const core::Result<void> ready = connection->AwaitReady({Soon()});
    EXPECT_TRUE(ready) << ready.error().ToString();
    return connection->Run(request, options);
  }

  // Whose function "ask" answers `answer`.
  void GiveFunction() {
    request.functions = {"ask"};
    options.call = [this](std::string_view name, std::string_view arguments) {
      called.emplace_back(std::string(name) + " " + std::string(arguments));
      return answer;
    };
  }
  // What is wrong with the bytes that a guest sends after it got its request.
  std::string FaultOf(const std::string& bytes) {
    const core::Result<host::Outcome> outcome = Run([bytes](FakeGuest& fake) {
      if (!fake.AwaitRequest()) return;
      fake.Send(bytes);
      fake.Stay();
    });
    EXPECT_TRUE(outcome);
    EXPECT_EQ(connection->end(), End::kFault);
    EXPECT_EQ(outcome->status, host::Status::kKilled);
    const std::string fault = outcome->error->message;
    TearDown();
    return fault;
  }

  // One that reads nothing as long as the test lasts.
  std::function<void(FakeGuest&)> TakingNothing() {
    return [this](FakeGuest&) { over.wait(false); };
  }

  host::Request request;
  run::RunOptions options;
  std::string answer = R"({"value":1})";
  std::vector<std::string> called;
  std::atomic<bool> over = false;
  std::unique_ptr<GuestConnection> connection;
  std::thread guest;
};

TEST_F(Connection, AnHonestRun) {
  std::string seen;
  run::OutputSink sink{[&](std::string_view text) { seen += text; }, {}};
  options.sink = &sink;
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "one "));
    fake.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "two") + OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_EQ(outcome->stdout_stream.text, "one two");
  EXPECT_EQ(outcome->isolation.mode, "standard");
  EXPECT_EQ(outcome->isolation.policy, "on");
  EXPECT_EQ(outcome->limits.timeout, request.limits.timeout);
  EXPECT_EQ(seen, "one two");
}

TEST_F(Connection, ATimeThatCannotBeIsNotBelieved) {
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    host::Outcome claim{.status = host::Status::kOk};
    claim.usage.wall_time = std::chrono::hours(100);
    fake.Send(OutcomeFrame(claim));
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_LT(outcome->usage.wall_time, std::chrono::hours(1));
}

// However far it has come by then, what it has said is kept.
TEST_F(Connection, ASilentGuestIsTimedOut) {
  std::string seen;
  run::OutputSink sink{[&](std::string_view text) { seen += text; }, {}};
  options.sink = &sink;
  request.limits.timeout = milliseconds(50);
  const core::Result<host::Outcome> outcome = Run(
      [](FakeGuest& fake) {
        if (!fake.AwaitRequest()) return;
        fake.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "so far"));
        fake.Stay();
      },
      milliseconds(300));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kTimeout);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_EQ(outcome->error->message, "stopped after 50ms of wall time");
  EXPECT_EQ(outcome->stdout_stream.text, seen);
}

TEST_F(Connection, AGuestThatTricklesIsTimedOutToo) {
  request.limits.timeout = milliseconds(50);
  const core::Result<host::Outcome> outcome = Run(
      [](FakeGuest& fake) {
        if (!fake.AwaitRequest()) return;
        const std::string frame = OutcomeFrame();
        for (int i = 0; i < 100; ++i) {
          fake.Send(std::string_view(frame).substr(static_cast<size_t>(i), 1));
          std::this_thread::sleep_for(milliseconds(10));  // sleeps: it trickles
        }
      },
      milliseconds(200));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
}

TEST_F(Connection, AGuestThatNeverStopsIsStoppedAtTheLimit) {
  request.limits.output = core::Bytes::Kibi(256);
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    const std::string frame =
        tests::FrameBytes(wire::FrameKind::kStandardError, std::string(1000, 'x'));
    for (int i = 0; i < 1000; ++i) fake.Send(frame);
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kFault);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_NE(outcome->error->message.find("standard error beyond its limit"), std::string::npos);
  EXPECT_LE(outcome->stderr_stream.text.size(), request.limits.output.count);
}

TEST_F(Connection, AGuestThatClosesHasLeftWhatItSaid) {
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::FrameBytes(wire::FrameKind::kStandardError, "last words") +
              OutcomeFrame().substr(0, 30));
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kClosed);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->stderr_stream.text, "last words");
}

TEST_F(Connection, WhatIsNoFrameIsAFault) {
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send("Traceback (most recent call last):\n");
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kFault);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
}

// Clients take a notification that comes with the answer of its call for a stray one.
TEST_F(Connection, WhatIsLeftGoesToASinkOnlyWhereItIsWanted) {
  for (const bool wanted : {true, false}) {
    std::string seen;
    run::OutputSink sink{[&](std::string_view text) { seen += text; }, {}};
    options.sink = &sink;
    options.sink_gets_the_rest = wanted;
    const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
      if (!fake.AwaitRequest()) return;
      fake.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "rest") + "no frame");
      fake.Stay();
    });
    ASSERT_TRUE(outcome);
    EXPECT_EQ(connection->end(), End::kFault);
    EXPECT_EQ(outcome->stdout_stream.text, "rest");
    EXPECT_EQ(seen, wanted ? "rest" : "");
    TearDown();
  }
}

TEST_F(Connection, AFailureIsAnError) {
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::FrameBytes(wire::FrameKind::kFailure,
                                wire::FailureToText(core::MakeError("take a worker", "none"))));
    fake.Stay();
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(connection->end(), End::kFailure);
  EXPECT_EQ(outcome.error().ToString(), "in the container: take a worker: none");
}

TEST_F(Connection, CancelledBeforeTheRequestIsWholeItIsOverAtOnce) {
  const core::UniqueFd cancel(eventfd(1, EFD_CLOEXEC));
  options.cancel_fd = cancel.get();
  request.source = std::string(16 << 20, '#');
  const core::Result<host::Outcome> outcome = Run(TakingNothing());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kCancelled);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
}

TEST_F(Connection, AGuestIsCancelledAndAnswers) {
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  options.cancel_fd = cancel.get();
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    eventfd_write(cancel.get(), 1);
    if (!fake.AwaitCancel()) return;
    host::Outcome cancelled{.status = host::Status::kKilled};
    cancelled.error =
        host::GuestError{.type = "Cancelled", .message = "heard", .traceback = "", .hint = ""};
    fake.Send(OutcomeFrame(cancelled));
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(outcome->error->message, "heard");
}

TEST_F(Connection, AGuestThatDoesNotHearIsLeft) {
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  options.cancel_fd = cancel.get();
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    eventfd_write(cancel.get(), 1);
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kCancelled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
}

// --- functions of the caller's ------------------------------------------------------------------

TEST_F(Connection, CallsAreAnsweredAgainAndAgainAfterWhatCameBefore) {
  GiveFunction();
  std::string seen;
  run::OutputSink sink{[&](std::string_view text) { seen += text; }, {}};
  options.sink = &sink;
  options.call = [&](std::string_view name, std::string_view arguments) {
    seen += "[" + std::string(name) + std::string(arguments) + "]";
    return answer;
  };
  std::string answers;
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    for (const char* argument : {"1", "2", "3"}) {
      fake.Send(tests::FrameBytes(wire::FrameKind::kStandardOutput, "before "));
      answers += fake.Call("ask", "{\"args\":[" + std::string(argument) + "],\"kwargs\":{}}");
    }
    fake.Send(OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(seen, R"(before [ask{"args":[1],"kwargs":{}}]before [ask{"args":[2],"kwargs":{}}])"
                  R"(before [ask{"args":[3],"kwargs":{}}])");
  EXPECT_EQ(answers, answer + answer + answer);
}

TEST_F(Connection, ACallThatTricklesIsOneOnceItIsWhole) {
  GiveFunction();
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    const std::string call = tests::CallBytes("ask", R"({"args":[],"kwargs":{}})");
    for (const char& byte : call) {
      fake.Send({&byte, 1});
      std::this_thread::sleep_for(milliseconds(1));  // sleeps: it trickles
    }
    if (fake.AwaitAnswer().empty()) return;
    fake.Send(OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_THAT(called, testing::ElementsAre(R"(ask {"args":[],"kwargs":{}})"));
}

TEST_F(Connection, ACallThatIsRefusedIsAFault) {
  GiveFunction();
  answer = run::kRefusedCall;
  EXPECT_THAT(FaultOf(tests::CallBytes("ask", kEmptyCall)), testing::HasSubstr("no runner makes"));
}

TEST_F(Connection, CallsThatMayNotBeAreFaults) {
  EXPECT_THAT(FaultOf(tests::CallBytes("ask", kEmptyCall)),
              testing::HasSubstr("call is not allowed here"));
  GiveFunction();
  EXPECT_THAT(FaultOf(tests::CallBytes("other", kEmptyCall)), testing::HasSubstr("does not offer"));
  EXPECT_THAT(FaultOf(wire::EncodeFrameHeader(wire::FrameKind::kCall, 0xffffffff)),
              testing::HasSubstr("call is too long"));
  EXPECT_THAT(FaultOf(tests::CallBytes("ask", kEmptyCall) + tests::CallBytes("ask", kEmptyCall)),
              testing::HasSubstr("call is not allowed here"));
  EXPECT_TRUE(called.empty());
  request.mode = host::Request::Mode::kValidate;
  EXPECT_THAT(FaultOf(tests::CallBytes("ask", kEmptyCall)),
              testing::HasSubstr("call is not allowed here"));
  EXPECT_TRUE(called.empty());
}

TEST_F(Connection, AfterItsOutcomeAGuestCallsNobody) {
  GiveFunction();
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::CallBytes("ask", kEmptyCall) + OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  // Nor for one that it did not wait for.
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_TRUE(called.empty());
  TearDown();
  EXPECT_THAT(FaultOf(OutcomeFrame() + tests::CallBytes("ask", kEmptyCall)),
              testing::HasSubstr("call is not allowed here"));
  EXPECT_TRUE(called.empty());
}

TEST_F(Connection, HostileArgumentsNeverReachTheFunction) {
  GiveFunction();
  const std::string deep(200, '[');
  std::vector<std::string> answers;
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    for (const std::string& arguments :
         {std::string("{"), std::string("NaN"), std::string(R"({"a":1,"a":2})"), deep,
          std::string("\"\xff\""), std::string("1e999"), std::string(1, '\0')}) {
      answers.push_back(fake.Call("ask", arguments));
    }
    fake.Send(OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(answers.size(), 7u);
  for (const std::string& each : answers) {
    EXPECT_THAT(each, testing::HasSubstr("not plain data"));
  }
  EXPECT_TRUE(called.empty());
}

TEST_F(Connection, AnAnswerThatIsTooLargeIsSaidToBe) {
  GiveFunction();
  request.limits.result = core::Bytes{1000};
  answer = "\"" + std::string(1000, 'x') + "\"";
  std::string got;
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    got = fake.Call("ask");
    fake.Send(OutcomeFrame());
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_THAT(got, testing::HasSubstr("exceeds the 1000"));
}

// It calls again and again, and takes no answer: there is one at a time, and its time is over.
TEST_F(Connection, AGuestThatTakesNoAnswerIsTimedOut) {
  GiveFunction();
  request.limits.timeout = milliseconds(50);
  request.limits.result = core::Bytes::Mebi(16);
  answer = "\"" + std::string(8 << 20, 'x') + "\"";
  const core::Result<host::Outcome> outcome = Run(
      [this](FakeGuest& fake) {
        if (!fake.AwaitRequest()) return;
        fake.Send(tests::CallBytes("ask", kEmptyCall));
        over.wait(false);
      },
      milliseconds(200));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kTimeout);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_EQ(called.size(), 1u);
  TearDown();
  over = false;
  const core::Result<host::Outcome> again = Run([this](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::CallBytes("ask", kEmptyCall));
    std::this_thread::sleep_for(milliseconds(100));  // sleeps: a moment later
    fake.Send(tests::CallBytes("ask", kEmptyCall));
    over.wait(false);
  });
  ASSERT_TRUE(again);
  EXPECT_EQ(connection->end(), End::kFault);
  EXPECT_EQ(called.size(), 2u);
}

// One that never says that its time is over has no more of it for calling.
TEST_F(Connection, CallsDoNotMakeTheTimeLonger) {
  GiveFunction();
  request.limits.timeout = milliseconds(50);
  options.call = [this](std::string_view, std::string_view) {
    called.emplace_back();
    std::this_thread::sleep_for(milliseconds(20));  // sleeps: each call takes some of its time
    return answer;
  };
  const core::Result<host::Outcome> outcome = Run(
      [](FakeGuest& fake) {
        if (!fake.AwaitRequest()) return;
        while (!fake.Call("ask").empty()) {
        }
      },
      milliseconds(200));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kTimeout);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_LT(called.size(), 14u) << "of 20 ms, in 50 and 200 ms";
}

// What the guest has said of its run while a function took longer than all of it counts.
TEST_F(Connection, AfterALongCallTheGuestIsHeard) {
  GiveFunction();
  request.limits.timeout = milliseconds(50);
  options.call = [this](std::string_view, std::string_view) {
    std::this_thread::sleep_for(milliseconds(500));  // sleeps: longer than all of its time
    return answer;
  };
  const core::Result<host::Outcome> outcome = Run(
      [](FakeGuest& fake) {
        if (!fake.AwaitRequest()) return;
        host::Outcome timeout{.status = host::Status::kTimeout};
        timeout.error =
            host::GuestError{.type = "Timeout", .message = "heard", .traceback = "", .hint = ""};
        fake.Send(tests::CallBytes("ask", kEmptyCall));
        std::this_thread::sleep_for(milliseconds(100));  // sleeps: during the call
        fake.Send(OutcomeFrame(timeout));
        fake.Stay();
      },
      milliseconds(200));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(outcome->error->message, "heard");
}

TEST_F(Connection, WithoutAnAnswerTheGuestIsCancelled) {
  GiveFunction();
  const core::UniqueFd cancel(eventfd(0, EFD_CLOEXEC));
  options.cancel_fd = cancel.get();
  options.call = [&](std::string_view, std::string_view) {
    eventfd_write(cancel.get(), 1);
    return std::string();
  };
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    fake.Send(tests::CallBytes("ask", kEmptyCall));
    if (!fake.AwaitCancel()) return;
    EXPECT_FALSE(fake.has_answer());
    fake.Send(OutcomeFrame({.status = host::Status::kKilled}));
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
}

// --- interruptions ------------------------------------------------------------------------------

TEST_F(Connection, ANoteOfASignalCancels) {
  std::atomic<bool> noted = false;
  options.interrupted = [&] { return noted.load(); };
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    noted = true;
    if (!fake.AwaitCancel()) return;
    fake.Send(OutcomeFrame({.status = host::Status::kKilled}));
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
  EXPECT_EQ(outcome->status, host::Status::kKilled);
}

// Whose line never has nothing.
TEST_F(Connection, ANoteIsSeenAlsoWhileAGuestNeverStops) {
  std::atomic<bool> noted = false;
  options.interrupted = [&] { return noted.load(); };
  request.limits.output = core::Bytes{1ull << 40};
  const core::Result<host::Outcome> outcome = Run([&](FakeGuest& fake) {
    if (!fake.AwaitRequest()) return;
    std::atomic<bool> cancelled = false;
    std::thread sends([&] {
      while (!cancelled) fake.Send(tests::FrameBytes(wire::FrameKind::kStandardError, "x"));
    });
    noted = true;
    (void)fake.AwaitCancel();
    cancelled = true;
    sends.join();
    fake.Send(OutcomeFrame({.status = host::Status::kKilled}));
    fake.Stay();
  });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kOutcome);
}

TEST_F(Connection, ANoteIsSeenWhileTheRequestIsOnItsWay) {
  options.interrupted = [] { return true; };
  request.source = std::string(16 << 20, '#');
  const core::Result<host::Outcome> outcome = Run(TakingNothing());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(connection->end(), End::kCancelled);
  EXPECT_EQ(outcome->error->type, "Cancelled");
}

// --- guests that come to nothing ----------------------------------------------------------------

TEST_F(Connection, AGuestThatTakesNoRequestIsAnError) {
  request.source = std::string(16 << 20, '#');
  request.limits.timeout = milliseconds(50);
  const core::Result<host::Outcome> outcome = Run(TakingNothing(), milliseconds(200));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("does not read it"), std::string::npos);
}

// It has not waited for the rest, and says why.
TEST_F(Connection, AGuestThatRefusesARequestOnItsWayIsHeard) {
  request.source = std::string(16 << 20, '#');
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    int looks = 0;
    if (!fake.Read([&](const inside::HostReader&) { return looks++ > 0; })) return;
    fake.Send(tests::FrameBytes(wire::FrameKind::kFailure,
                                wire::FailureToText(core::MakeError("read a request", "no"))));
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(connection->end(), End::kFailure);
  EXPECT_EQ(outcome.error().ToString(), "in the container: read a request: no");
}

TEST_F(Connection, AGuestThatEndsBeforeItHasTheRequestIsAnError) {
  request.source = std::string(16 << 20, '#');
  const core::Result<host::Outcome> outcome = Run([](FakeGuest& fake) {
    int looks = 0;
    (void)fake.Read([&](const inside::HostReader&) { return looks++ > 0; });
  });
  ASSERT_FALSE(outcome);
  EXPECT_NE(connection->end(), End::kFailure);
  EXPECT_EQ(outcome.error().error_number, EPIPE);
}

TEST_F(Connection, AGuestThatNeverGetsReadyIsAnError) {
  Start([](FakeGuest& fake) {
    fake.Send(tests::HelloBytes());
    fake.Stay();
  });
  const core::Result<void> ready = connection->AwaitReady({core::Clock::now() + milliseconds(200)});
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().error_number, ETIMEDOUT);
}

TEST_F(Connection, AGuestThatEndsBeforeItIsReadyIsAnError) {
  Start([](FakeGuest& fake) { fake.Send(tests::HelloBytes()); });
  const core::Result<void> ready = connection->AwaitReady({Soon()});
  ASSERT_FALSE(ready);
  EXPECT_NE(ready.error().ToString().find("ended before it was ready"), std::string::npos);
}

TEST_F(Connection, WaitingForAGuestCanBeCancelled) {
  const core::UniqueFd cancel(eventfd(1, EFD_CLOEXEC));
  Start([](FakeGuest& fake) { fake.Stay(); });
  const core::Result<void> ready = connection->AwaitReady({Soon(), cancel.get()});
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().error_number, ECANCELED);
}

}  // namespace
}  // namespace belljar::container::backend::connection_test
