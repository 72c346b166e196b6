// The host's end of a session's line, with guests that lie at the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

#include "container/backend/guest_connection.h"
#include "container/backend/guest_reader.h"
#include "container/inside/host_reader.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "container/wire/session_text.h"
#include "engine/core/socket.h"
#include "tests/container/frames.h"
#include "tests/support/support.h"

namespace belljar::container::backend::session_connection_test {
namespace {

using End = GuestConnection::End;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Kind = wire::Inquiry::Kind;

core::Deadline Soon() { return core::Clock::now() + seconds(20); }

std::string Ready() { return tests::FrameBytes(wire::FrameKind::kReady); }
std::string SessionEnd() { return tests::FrameBytes(wire::FrameKind::kEnd); }
std::string OutcomeFrame() {
  return tests::FrameBytes(wire::FrameKind::kOutcome,
                           wire::OutcomeToText({.status = host::Status::kOk}));
}
std::string ReplyFrames(const wire::Reply& reply) {
  std::string bytes = tests::FrameBytes(wire::FrameKind::kReply, wire::ReplyToText(reply));
  if (!reply.content.empty()) {
    bytes += tests::FrameBytes(wire::FrameKind::kContent, reply.content);
  }
  return bytes;
}
wire::Reply Content(std::string content) { return {{}, std::move(content), {}}; }

// The guest's end: greets, opens its session, and answers each order with what the test says.
class Session : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    request.source = "1";
    request.limits.timeout = seconds(20);
  }
  void TearDown() override {
    connection.reset();
    if (guest.joinable()) guest.join();
  }

  // `answers`: to the session, and to each order after it. After the last, the guest closes.
  core::Result<void> Open(std::vector<std::string> answers) {
    TearDown();
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    connection = std::make_unique<GuestConnection>(
        tests::Had(wire::Channel::OfSocket(std::move(pair->first))), GuestTerms());
    guest =
        std::thread([answers = std::move(answers),
                     socket = std::make_shared<core::UniqueFd>(std::move(pair->second))]() mutable {
          inside::HostReader reader;
          const auto send = [&](std::string_view bytes) {
            const std::string_view parts[] = {bytes};
            (void)core::SendAll(socket->get(), parts, Soon());
          };
          send(tests::HelloBytes() + Ready());
          for (const std::string& answer : answers) {
            while (!reader.TakeOrder()) {
              char bytes[4096];
              const ssize_t got = read(socket->get(), bytes, sizeof bytes);
              if (got <= 0) return;
              EXPECT_TRUE(reader.Take({bytes, static_cast<size_t>(got)}));
            }
            send(answer);
          }
        });
    EXPECT_TRUE(connection->AwaitReady({Soon()}));
    return connection->OpenSession(request.limits, {Soon()});
  }

  core::Result<host::Outcome> Run() { return connection->Run(request, {}); }
  core::Result<wire::Reply> Ask(Kind kind) { return connection->Inquire({kind, "", {}, {}}, -1); }

  std::string FaultOfReply(Kind kind, const std::string& bytes) {
    EXPECT_TRUE(Open({Ready(), bytes + Ready()}));
    const core::Result<wire::Reply> reply = Ask(kind);
    EXPECT_FALSE(reply);
    EXPECT_TRUE(connection->HasEnded());
    return reply ? "" : reply.error().ToString();
  }

  host::Request request;
  std::unique_ptr<GuestConnection> connection;
  std::thread guest;
};

TEST_F(Session, CellsAndInquiriesInTurn) {
  const std::string output = tests::FrameBytes(wire::FrameKind::kStandardOutput, "one");
  ASSERT_TRUE(
      Open({Ready(), output + OutcomeFrame() + Ready(),
            ReplyFrames(Content("{\"variables\":[]}")) + Ready(), OutcomeFrame() + SessionEnd()}));
  const core::Result<host::Outcome> first = Run();
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(first->stdout_stream.text, "one");
  EXPECT_FALSE(connection->HasEnded());
  EXPECT_EQ(tests::Had(Ask(Kind::kVariables)).content, "{\"variables\":[]}");
  const core::Result<host::Outcome> last = Run();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->stdout_stream.text, "");  // not that of the first
  EXPECT_EQ(last->status, host::Status::kOk);
  EXPECT_TRUE(connection->HasEnded());
  EXPECT_FALSE(Run());
}

TEST_F(Session, AnOutcomeCountsAlsoOfAGuestThatThenCloses) {
  ASSERT_TRUE(Open({Ready(), OutcomeFrame()}));
  const core::Result<host::Outcome> outcome = Run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kOk);
  EXPECT_TRUE(connection->HasEnded());
}

TEST_F(Session, WhatIsOutOfTurnIsAFault) {
  for (const std::string& bytes :
       {Ready(), SessionEnd(), ReplyFrames(Content("{}")), OutcomeFrame() + OutcomeFrame(),
        OutcomeFrame() + Ready() + OutcomeFrame(), OutcomeFrame() + Ready() + Ready(),
        OutcomeFrame() + SessionEnd() + Ready(),
        OutcomeFrame() + tests::FrameBytes(wire::FrameKind::kStandardOutput, "late"),
        OutcomeFrame() + tests::FrameBytes(wire::FrameKind::kReady, "with data"),
        tests::FrameBytes(wire::FrameKind::kSession, "{}"),
        tests::FrameBytes(wire::FrameKind::kInquiry, "{}")}) {
    ASSERT_TRUE(Open({Ready(), bytes}));
    const core::Result<host::Outcome> outcome = Run();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(connection->end(), End::kFault) << bytes;
    EXPECT_EQ(outcome->kill_cause, host::KillCause::kUnreadable);
    EXPECT_TRUE(connection->HasEnded());
  }
}

// It may not speak before it is asked.
TEST_F(Session, AGuestThatSpeaksWhileItWaitsHasEnded) {
  ASSERT_TRUE(Open({Ready(), OutcomeFrame() + Ready()}));
  ASSERT_TRUE(Run());
  guest.join();  // and so has closed
  EXPECT_TRUE(connection->HasEnded());
}

TEST_F(Session, OneThatCannotBeOpenedSaysWhy) {
  const core::Result<void> opened = Open(
      {tests::FrameBytes(wire::FrameKind::kFailure,
                         wire::FailureToText(core::MakeError("open a session", "no worker")))});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().ToString(), "in the container: open a session: no worker");
  EXPECT_FALSE(Open({SessionEnd()}));
  EXPECT_FALSE(Open({OutcomeFrame()}));
  EXPECT_FALSE(Open({}));
}

TEST_F(Session, OutputIsBoundedForEachCell) {
  request.limits.output = core::Bytes{6};
  const std::string output = tests::FrameBytes(wire::FrameKind::kStandardOutput, "123456");
  ASSERT_TRUE(Open({Ready(), output + OutcomeFrame() + Ready(), output + OutcomeFrame() + Ready(),
                    output + output}));
  EXPECT_EQ(Run()->stdout_stream.text, "123456");
  EXPECT_EQ(Run()->stdout_stream.text, "123456");
  EXPECT_EQ(Run()->kill_cause, host::KillCause::kUnreadable);
  EXPECT_EQ(connection->end(), End::kFault);
}

TEST_F(Session, RepliesAreJudged) {
  EXPECT_THAT(FaultOfReply(Kind::kVariables, ReplyFrames(Content("[1]"))),
              HasSubstr("its answer is not a JSON object"));
  EXPECT_THAT(FaultOfReply(Kind::kVariables, ReplyFrames(Content("no JSON"))),
              HasSubstr("its answer is not a JSON object"));
  EXPECT_THAT(FaultOfReply(Kind::kVariables, ReplyFrames({{}, "{}", {{"file", 1}}})),
              HasSubstr("files is too long"));
  EXPECT_THAT(FaultOfReply(Kind::kFiles, ReplyFrames(Content("more"))),
              HasSubstr("size is too large"));
  EXPECT_THAT(FaultOfReply(Kind::kFiles, ReplyFrames({{}, "", {{"a\nb", 1}}})),
              HasSubstr("a path contains control characters"));
  EXPECT_THAT(FaultOfReply(Kind::kReadFile,
                           tests::FrameBytes(wire::FrameKind::kReply,
                                             R"({"error":null,"files":[],"size":1000000000000})")),
              HasSubstr("size is too large"));
  EXPECT_THAT(FaultOfReply(Kind::kReadFile, tests::FrameBytes(wire::FrameKind::kReply, "{}")),
              HasSubstr("error is missing"));
  EXPECT_THAT(FaultOfReply(Kind::kReadFile, OutcomeFrame()), HasSubstr("outcome is not allowed"));
}

// The host acts on the number of an error: a container must not choose it.
TEST_F(Session, AnErrorInAReplyIsOnlyText) {
  wire::Reply reply;
  reply.error = core::SystemErrorOf(ECANCELED, "read file", "no\x1b such file");
  ASSERT_TRUE(Open({Ready(), ReplyFrames(reply) + Ready(), ""}));  // and stays
  const wire::Reply got = tests::Had(Ask(Kind::kReadFile));
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->error_number, 0);
  EXPECT_EQ(got.error->detail, "no\\x1b such file");
  EXPECT_FALSE(connection->HasEnded());
}

TEST_F(Session, ASilentGuestIsTimedOutAndItsSessionIsOver) {
  request.limits.timeout = milliseconds(50);
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  GuestTerms terms;
  terms.grace = milliseconds(300);
  GuestConnection silent(tests::Had(wire::Channel::OfSocket(std::move(pair->first))), terms);
  const auto send = [&](const std::string& bytes) {
    const std::string_view parts[] = {bytes};
    return core::SendAll(pair->second.get(), parts, Soon());
  };
  ASSERT_TRUE(send(tests::HelloBytes() + Ready()));
  ASSERT_TRUE(silent.AwaitReady({Soon()}));
  ASSERT_TRUE(send(Ready()));
  ASSERT_TRUE(silent.OpenSession(request.limits, {Soon()}));
  const core::Result<host::Outcome> outcome = silent.Run(request, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, host::Status::kTimeout);
  EXPECT_TRUE(silent.HasEnded());
}

// --- the guest's reader --------------------------------------------------------------------------

TEST(SessionOrders, ComeOnlyInASession) {
  inside::HostReader run;
  ASSERT_TRUE(run.Take(
      tests::FrameBytes(wire::FrameKind::kRequest, *wire::RequestToText(host::Request()))));
  EXPECT_TRUE(run.has_order());
  EXPECT_FALSE(run.Take(
      tests::FrameBytes(wire::FrameKind::kRequest, *wire::RequestToText(host::Request()))));
  inside::HostReader inquiry;
  EXPECT_FALSE(inquiry.Take(tests::FrameBytes(wire::FrameKind::kInquiry, "{}")));
}

TEST(SessionOrders, ACancelOfTheCellBeforeIsVoid) {
  inside::HostReader reader;
  const std::string request =
      tests::FrameBytes(wire::FrameKind::kRequest, *wire::RequestToText(host::Request()));
  core::Limits limits;
  limits.timeout = seconds(7);
  ASSERT_TRUE(
      reader.Take(tests::FrameBytes(wire::FrameKind::kSession, wire::SessionToText(limits))));
  EXPECT_EQ(reader.TakeOrder()->limits.timeout, seconds(7));
  EXPECT_FALSE(reader.has_order());
  ASSERT_TRUE(reader.Take(request + tests::FrameBytes(wire::FrameKind::kCancel)));
  EXPECT_TRUE(reader.TakeOrder());
  EXPECT_TRUE(reader.cancelled());
  ASSERT_TRUE(reader.Take(request));
  EXPECT_TRUE(reader.TakeOrder());
  EXPECT_FALSE(reader.cancelled());
}

TEST(SessionOrders, AnInquiryIsReadAgain) {
  const wire::Inquiry inquiry{Kind::kWriteFiles, "text", 7, {{"a", "one"}, {"b/c", ""}}};
  inside::HostReader reader;
  ASSERT_TRUE(reader.Take(
      tests::FrameBytes(wire::FrameKind::kSession, wire::SessionToText(core::Limits()))));
  (void)reader.TakeOrder();
  ASSERT_TRUE(
      reader.Take(tests::FrameBytes(wire::FrameKind::kInquiry, *wire::InquiryToText(inquiry)) +
                  tests::FrameBytes(wire::FrameKind::kContent, "textone")));
  const auto order = reader.TakeOrder();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->inquiry.kind, Kind::kWriteFiles);
  EXPECT_EQ(order->inquiry.text, "text");
  EXPECT_EQ(order->inquiry.cursor, 7u);
  ASSERT_EQ(order->inquiry.files.size(), 2u);
  EXPECT_EQ(order->inquiry.files[0].content, "one");
  EXPECT_EQ(order->inquiry.files[1].path, "b/c");
}

}  // namespace
}  // namespace belljar::container::backend::session_connection_test
