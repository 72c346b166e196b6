// What goes over the line of a container's egress proxy, and what is refused of it: a guest that
// ignores windows, takes numbers twice, opens without end, goes on after its end.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/backend/guest_reader.h"
#include "container/inside/host_reader.h"
#include "container/wire/egress_ledger.h"
#include "container/wire/egress_traffic.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/socket.h"
#include "tests/container/frames.h"

namespace belljar::container::wire::egress_wire_test {
namespace {

using Side = EgressLedger::Side;

std::vector<Frame> Decoded(const std::string& bytes) {
  FrameDecoder decoder;
  decoder.Feed(bytes);
  std::vector<Frame> frames;
  while (std::optional<Frame> frame = decoder.Next()) frames.push_back(std::move(*frame));
  EXPECT_TRUE(decoder.empty());
  return frames;
}

// A host's ledger, and what the test says as its guest.
class HostLedger : public testing::Test {
 protected:
  void Take(const Frame& frame) {
    const core::Result<void> taken = ledger.Take(frame);
    ASSERT_TRUE(taken) << taken.error().ToString();
  }
  void ExpectFault(const Frame& frame, const std::string& what) {
    const core::Result<void> taken = ledger.Take(frame);
    ASSERT_FALSE(taken) << what;
    EXPECT_NE(taken.error().ToString().find(what), std::string::npos) << taken.error().ToString();
  }
  const EgressStream& Stream(uint32_t number) { return ledger.streams().at(number); }

  EgressLedger ledger{Side::kHost, {.at_a_time = 3, .in_all = 5}};
  std::string frames;
};

TEST_F(HostLedger, AStreamGoesItsWay) {
  Take(tests::OpenFrame(1));
  EXPECT_EQ(ledger.TakeOpened(), std::vector<uint32_t>{1});
  EXPECT_TRUE(ledger.TakeOpened().empty());
  Take(tests::DataFrame(1, "hello"));
  EXPECT_EQ(Stream(1).Waiting(), "hello");
  ledger.Pass(1, 2, frames);
  EXPECT_EQ(Stream(1).Waiting(), "llo");
  ledger.Send(1, "answer", frames);
  ledger.Close(1, kSendsNoMore, frames);
  Take(tests::WindowFrame(1, 6));
  Take(tests::CloseFrame(1, kSendsNoMore));
  ledger.Pass(1, 3, frames);
  ledger.Close(1, kTakesNoMore, frames);
  EXPECT_EQ(ledger.streams().size(), 1u) << "it still takes";
  Take(tests::CloseFrame(1, kTakesNoMore));
  EXPECT_TRUE(ledger.streams().empty());

  const std::vector<Frame> sent = Decoded(frames);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].payload, tests::DataFrame(1, "answer").payload);
  EXPECT_EQ(sent[1].payload, tests::CloseFrame(1, kSendsNoMore).payload);
  EXPECT_EQ(sent[2].payload, tests::CloseFrame(1, kTakesNoMore).payload);
}

TEST_F(HostLedger, GrantsGoOutByQuartersOfAWindow) {
  Take(tests::OpenFrame(1));
  const std::string piece(kEgressPiece, 'x');
  for (size_t sent = 0; sent < kEgressWindow; sent += kEgressPiece)
    Take(tests::DataFrame(1, piece));
  EXPECT_EQ(Stream(1).may_come, 0u);
  ExpectFault(tests::DataFrame(1, "x"), "beyond its window");
  ledger.Pass(1, kEgressWindow / 4 - 1, frames);
  EXPECT_TRUE(frames.empty());
  ledger.Pass(1, 1, frames);
  ASSERT_EQ(Decoded(frames).size(), 1u);
  EXPECT_EQ(Decoded(frames)[0].payload, tests::WindowFrame(1, kEgressWindow / 4).payload);
  EXPECT_EQ(Stream(1).may_come, kEgressWindow / 4);
  Take(tests::DataFrame(1, piece));
}

TEST_F(HostLedger, WhatIsKeptIsBounded) {
  Take(tests::OpenFrame(1));
  size_t max = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t size = std::min(Stream(1).may_come, kEgressPiece);
    if (size > 0) Take(tests::DataFrame(1, std::string(size, 'x')));
    max = std::max(max, Stream(1).arrived.size());
    ledger.Pass(1, std::min<size_t>(Stream(1).Waiting().size(), 20'000), frames);
  }
  EXPECT_LE(max, kEgressWindow + kEgressWindow / 2);
}

TEST_F(HostLedger, NumbersAreInTurnAndTakenOnce) {
  ExpectFault(tests::OpenFrame(0), "out of order");
  ExpectFault(tests::OpenFrame(2), "out of order");
  Take(tests::OpenFrame(1));
  ExpectFault(tests::OpenFrame(1), "out of order");
  Take(tests::CloseFrame(1, kBothDirections));
  ledger.Close(1, kBothDirections, frames);
  ASSERT_TRUE(ledger.streams().empty());
  ExpectFault(tests::OpenFrame(1), "out of order");
  ExpectFault(tests::DataFrame(1, "x"), "an unknown stream");
  ExpectFault(tests::WindowFrame(1, 1), "an unknown stream");
  ExpectFault(tests::CloseFrame(1, kSendsNoMore), "an unknown stream");
  ExpectFault(tests::OpenFrame(3), "out of order");
  Take(tests::OpenFrame(2));
}

TEST_F(HostLedger, StreamsAreBoundedAtATimeAndInAll) {
  for (uint32_t number = 1; number <= 3; ++number) Take(tests::OpenFrame(number));
  ExpectFault(tests::OpenFrame(4), "too many streams");
  // It counts as long as the host has not let go of it, whatever the guest says.
  Take(tests::CloseFrame(1, kBothDirections));
  ExpectFault(tests::OpenFrame(4), "too many streams");
  ledger.Close(1, kBothDirections, frames);
  Take(tests::OpenFrame(4));
  for (const uint32_t number : {2u, 3u, 4u}) {
    Take(tests::CloseFrame(number, kBothDirections));
    ledger.Close(number, kBothDirections, frames);
  }
  Take(tests::OpenFrame(5));
  Take(tests::OpenFrame(6));  // the one too many, which the record is to show
  ExpectFault(tests::OpenFrame(7), "too many streams");
}

TEST_F(HostLedger, WithoutAnEgressProxyNothingIsOpened) {
  EgressLedger none(Side::kHost, {});
  EXPECT_FALSE(none.Take(tests::OpenFrame(1)));
}

TEST_F(HostLedger, WhatIsClosedStaysSo) {
  Take(tests::OpenFrame(1));
  Take(tests::CloseFrame(1, kSendsNoMore));
  ExpectFault(tests::DataFrame(1, "x"), "after it was closed");
  ExpectFault(tests::CloseFrame(1, kSendsNoMore), "after it was closed");
  ExpectFault(tests::CloseFrame(1, kBothDirections), "after it was closed");
  ledger.Send(1, "x", frames);
  Take(tests::WindowFrame(1, 1));
  ledger.Send(1, "x", frames);
  Take(tests::CloseFrame(1, kTakesNoMore));
  ExpectFault(tests::WindowFrame(1, 1), "after it was closed");
}

TEST_F(HostLedger, WhatComesForOneThatTakesNoMoreIsDroppedAndNeverGranted) {
  Take(tests::OpenFrame(1));
  Take(tests::DataFrame(1, "waiting"));
  ledger.Close(1, kTakesNoMore, frames);
  EXPECT_EQ(Stream(1).arrived.capacity(), std::string().capacity());
  const std::string piece(kEgressPiece, 'x');
  for (int i = 0; i < 7; ++i) Take(tests::DataFrame(1, piece));
  EXPECT_EQ(Stream(1).Waiting(), "");
  Take(tests::DataFrame(1, piece.substr(7)));
  ExpectFault(tests::DataFrame(1, "x"), "beyond its window");
}

TEST_F(HostLedger, NoMoreIsGrantedThanWasSent) {
  Take(tests::OpenFrame(1));
  ExpectFault(tests::WindowFrame(1, 0), "without data");
  ExpectFault(tests::WindowFrame(1, 1), "more than was sent");
  ledger.Send(1, "abc", frames);
  ExpectFault(tests::WindowFrame(1, 4), "more than was sent");
  ExpectFault(tests::WindowFrame(1, UINT32_MAX), "more than was sent");
  Take(tests::WindowFrame(1, 3));
  ExpectFault(tests::WindowFrame(1, 1), "more than was sent");
}

TEST_F(HostLedger, FramesHaveTheirLengths) {
  Take(tests::OpenFrame(1));
  const std::string one = tests::NumberBytes(1);
  for (const Frame& frame :
       {Frame{FrameKind::kEgressOpen, ""},
        Frame{FrameKind::kEgressOpen, tests::NumberBytes(2) + "x"},
        Frame{FrameKind::kEgressOpen, "\2\0\0"}, Frame{FrameKind::kEgressData, one},
        Frame{FrameKind::kEgressData, ""}, Frame{FrameKind::kEgressWindow, one},
        Frame{FrameKind::kEgressData, one + std::string(kEgressPiece + 1, 'x')},
        Frame{FrameKind::kEgressWindow, one + "\1\0\0"}, Frame{FrameKind::kEgressClose, one},
        Frame{FrameKind::kEgressClose, one + "\1\1"}, Frame{FrameKind::kReady, ""}}) {
    ExpectFault(frame, "with an invalid length");
  }
  for (const int ways : {0, 4, 7, 255})
    ExpectFault(tests::CloseFrame(1, ways), "without a direction");
}

TEST(GuestLedger, OnlyTheGuestOpens) {
  EgressLedger guest(Side::kGuest, {.at_a_time = 2, .in_all = 3});
  EXPECT_FALSE(guest.Take(tests::OpenFrame(1)));
  std::string frames;
  ASSERT_TRUE(guest.may_open());
  EXPECT_EQ(guest.Open(frames), 1u);
  EXPECT_EQ(guest.Open(frames), 2u);
  EXPECT_FALSE(guest.may_open());
  ASSERT_TRUE(guest.Take(tests::CloseFrame(1, kBothDirections)));
  EXPECT_FALSE(guest.may_open()) << "it is open on this side";
  guest.Close(1, kBothDirections, frames);
  EXPECT_EQ(guest.Open(frames), 3u);
  EXPECT_FALSE(guest.has_opened_all());
  ASSERT_TRUE(guest.Take(tests::CloseFrame(2, kBothDirections)));
  guest.Close(2, kBothDirections, frames);
  EXPECT_EQ(guest.Open(frames), 4u);
  EXPECT_TRUE(guest.has_opened_all());
}

TEST(Ledgers, OfBothSidesUnderstandEachOther) {
  const EgressBounds bounds{.at_a_time = 4, .in_all = 100};
  EgressLedger guest(Side::kGuest, bounds), host(Side::kHost, bounds);
  const auto pass_on = [](std::string& frames, EgressLedger& to) {
    for (const Frame& frame : Decoded(std::exchange(frames, {}))) {
      const core::Result<void> taken = to.Take(frame);
      ASSERT_TRUE(taken) << taken.error().ToString();
    }
  };
  std::string to_host, to_guest;
  for (int round = 0; round < 50; ++round) {
    const uint32_t number = guest.Open(to_host);
    guest.Send(number, std::string(kEgressPiece, 'q'), to_host);
    pass_on(to_host, host);
    host.Pass(number, kEgressPiece, to_guest);
    for (int i = 0; i < 4; ++i) host.Send(number, std::string(kEgressPiece, 'a'), to_guest);
    host.Close(number, round % 2 == 0 ? kSendsNoMore : kBothDirections, to_guest);
    pass_on(to_guest, guest);
    guest.Pass(number, 4 * kEgressPiece, to_host);
    guest.Close(number, kBothDirections, to_host);
    pass_on(to_host, host);
    if (round % 2 == 0) host.Close(number, kTakesNoMore, to_guest);
    pass_on(to_guest, guest);
    EXPECT_TRUE(guest.streams().empty());
    EXPECT_TRUE(host.streams().empty());
  }
}

// --- the traffic --------------------------------------------------------------------------------

// A host's, with the other end of the first stream's socket.
class HostTraffic : public testing::Test {
 protected:
  void SetUp() override {
    Take(tests::OpenFrame(1));
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    ASSERT_TRUE(pair);
    for (const uint32_t number : traffic.TakeOpened()) {
      traffic.Give(number, std::move(pair->first), frames);
    }
    proxy = std::move(pair->second);
  }
  void Take(const Frame& frame) {
    const core::Result<void> taken = traffic.Take(frame);
    ASSERT_TRUE(taken) << taken.error().ToString();
  }
  // What it has to say, having waited for something or not at all.
  std::vector<Frame> Moved(bool waits = false) {
    std::vector<pollfd> watched;
    traffic.Watch(true, watched);
    poll(watched.data(), watched.size(), waits ? 20'000 : 0);
    traffic.Move(watched, frames);
    return Decoded(std::exchange(frames, {}));
  }
  std::string Received() {
    std::string bytes(1 << 20, 0);
    const ssize_t got = recv(proxy.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got < 0 ? "nothing" : bytes.substr(0, static_cast<size_t>(got));
  }
  size_t Streams() const { return traffic.ledger().streams().size(); }

  EgressTraffic traffic{Side::kHost, {.at_a_time = 3, .in_all = 5}};
  std::string frames;
  core::UniqueFd proxy;
};

TEST_F(HostTraffic, BytesGoBothWaysAndEachEndsByItself) {
  Take(tests::DataFrame(1, "hello"));
  EXPECT_TRUE(Moved().empty());
  EXPECT_EQ(Received(), "hello");
  Take(tests::CloseFrame(1, kSendsNoMore));
  ASSERT_EQ(Moved().size(), 1u);
  EXPECT_EQ(Received(), "") << "an end";
  ASSERT_EQ(write(proxy.get(), "answer", 6), 6);
  std::vector<Frame> said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, tests::DataFrame(1, "answer").payload);
  proxy.Reset();
  said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, tests::CloseFrame(1, kSendsNoMore).payload);
  Take(tests::CloseFrame(1, kTakesNoMore));
  EXPECT_EQ(Streams(), 0u);
}

TEST_F(HostTraffic, OneThatTheGuestHasDoneWithIsLetGoUnasked) {
  Take(tests::CloseFrame(1, kBothDirections));
  traffic.Move({}, frames);
  EXPECT_EQ(Streams(), 0u);
  EXPECT_EQ(Received(), "") << "an end";
}

TEST_F(HostTraffic, AProxyThatHangsUpIsAnEndOfBothWays) {
  ASSERT_EQ(write(proxy.get(), "last", 4), 4);
  proxy.Reset();
  std::vector<Frame> said;
  for (int i = 0; i < 3 && said.size() < 2; ++i) {
    for (Frame& frame : Moved(true)) said.push_back(std::move(frame));
  }
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].payload, tests::DataFrame(1, "last").payload);
  EXPECT_EQ(said[1].payload, tests::CloseFrame(1, kBothDirections).payload);
  Take(tests::DataFrame(1, "under way"));
  EXPECT_TRUE(Moved().empty());
  Take(tests::CloseFrame(1, kBothDirections));
  EXPECT_EQ(Streams(), 0u);
}

TEST_F(HostTraffic, OneThatEndedItsSideAndHungUpLaterIsSeenToo) {
  ASSERT_EQ(shutdown(proxy.get(), SHUT_WR), 0);
  ASSERT_EQ(Moved(true).size(), 1u);
  proxy.Reset();
  const std::vector<Frame> said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, tests::CloseFrame(1, kTakesNoMore).payload);
}

TEST_F(HostTraffic, AProxyLearnsThatNobodyReadsItsAnswer) {
  Take(tests::CloseFrame(1, kTakesNoMore));
  ASSERT_EQ(Moved().size(), 1u);
  EXPECT_EQ(send(proxy.get(), "x", 1, MSG_NOSIGNAL), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(HostTraffic, NoMoreIsReadThanTheGuestHasGranted) {
  const std::string much(1 << 16, 'x');
  size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    (void)!send(proxy.get(), much.data(), much.size(), MSG_DONTWAIT);
    for (const Frame& frame : Moved()) sent += frame.payload.size() - 4;
  }
  EXPECT_EQ(sent, kEgressWindow);
  std::vector<pollfd> watched;
  traffic.Watch(true, watched);
  proxy.Reset();
  EXPECT_EQ(poll(watched.data(), watched.size(), 0), 0)
      << "it is not asked for what it may not say";
  Take(tests::WindowFrame(1, kEgressPiece));
  EXPECT_EQ(Moved(true).size(), 1u);
}

TEST_F(HostTraffic, WithoutASocketItIsOverAtOnce) {
  Take(tests::OpenFrame(2));
  for (const uint32_t number : traffic.TakeOpened()) traffic.Give(number, core::UniqueFd(), frames);
  ASSERT_EQ(Decoded(frames).size(), 1u);
  EXPECT_EQ(Decoded(frames)[0].payload, tests::CloseFrame(2, kBothDirections).payload);
}

// --- the readers --------------------------------------------------------------------------------

std::string OutcomeBytes() {
  return tests::FrameBytes(FrameKind::kOutcome, OutcomeToText({.status = host::Status::kOk}));
}

struct Guest {
  Guest() { EXPECT_TRUE(reader.Take(tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady))); }
  void Expect(bool egress) {
    backend::GuestReader::EgressFrames frames;
    if (egress) {
      frames = [this](const Frame& frame) {
        ++taken;
        return ledger.Take(frame);
      };
    }
    reader.Expect({}, std::move(frames));
  }
  backend::GuestReader reader{tests::ExpectedHello()};
  EgressLedger ledger{Side::kHost, {.at_a_time = 2, .in_all = 5}};
  int taken = 0;
};

TEST(GuestReaderEgress, FramesGoToTheEgressProxyBetweenOutputsWhileItRuns) {
  Guest guest;
  guest.Expect(true);
  const std::string bytes = tests::FrameBytes(tests::OpenFrame(1)) +
                            tests::FrameBytes(FrameKind::kStandardOutput, "a") +
                            tests::FrameBytes(tests::DataFrame(1, "b")) +
                            tests::FrameBytes(FrameKind::kStandardOutput, "c") +
                            tests::FrameBytes(tests::CloseFrame(1, kSendsNoMore)) + OutcomeBytes();
  for (const char byte : bytes) ASSERT_TRUE(guest.reader.Take({&byte, 1}));
  EXPECT_EQ(guest.reader.stage(), backend::GuestReader::Stage::kEnded);
  EXPECT_EQ(guest.taken, 3);
  EXPECT_EQ(guest.reader.outcome().stdout_stream.text, "ac");
  EXPECT_EQ(guest.ledger.streams().at(1).Waiting(), "b");
}

TEST(GuestReaderEgress, WhatTheLedgerRefusesIsAFault) {
  Guest guest;
  guest.Expect(true);
  EXPECT_FALSE(guest.reader.Take(tests::FrameBytes(tests::OpenFrame(1)) +
                                 tests::FrameBytes(tests::DataFrame(2, "x"))));
}

TEST(GuestReaderEgress, WithoutAnEgressProxyTheyAreRefusedByTheirHeaders) {
  for (const FrameKind kind : {FrameKind::kEgressOpen, FrameKind::kEgressData,
                               FrameKind::kEgressWindow, FrameKind::kEgressClose}) {
    Guest guest;
    guest.Expect(false);
    const core::Result<void> taken = guest.reader.Take(EncodeFrameHeader(kind, 5));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("is not allowed here"), std::string::npos);
  }
}

TEST(GuestReaderEgress, LongerOnesThanTheirKindAreRefusedByTheirHeaders) {
  for (const auto& [kind, length] : {std::pair{FrameKind::kEgressOpen, size_t{5}},
                                     {FrameKind::kEgressData, kEgressPiece + 5},
                                     {FrameKind::kEgressWindow, size_t{9}},
                                     {FrameKind::kEgressClose, size_t{6}}}) {
    Guest guest;
    guest.Expect(true);
    EXPECT_TRUE(guest.reader.Take(EncodeFrameHeader(kind, length - 1)));
    Guest other;
    other.Expect(true);
    const core::Result<void> taken = other.reader.Take(EncodeFrameHeader(kind, length));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("is too long"), std::string::npos);
    EXPECT_EQ(other.taken, 0);
  }
}

TEST(GuestReaderEgress, BeforeARunAndAfterItsOutcomeThereIsNone) {
  Guest waiting;
  EXPECT_FALSE(waiting.reader.Take(tests::FrameBytes(tests::OpenFrame(1))));
  Guest preparing;
  backend::GuestReader greeted(tests::ExpectedHello());
  ASSERT_TRUE(greeted.Take(tests::HelloBytes()));
  EXPECT_FALSE(greeted.Take(tests::FrameBytes(tests::OpenFrame(1))));
  Guest ended;
  ended.Expect(true);
  ASSERT_TRUE(ended.reader.Take(tests::FrameBytes(tests::OpenFrame(1))));
  ASSERT_TRUE(ended.reader.Take(OutcomeBytes()));
  EXPECT_FALSE(ended.reader.Take(tests::FrameBytes(tests::DataFrame(1, "x"))));

  host::Outcome with_content{.status = host::Status::kOk};
  host::Artifact artifact;
  artifact.name = "a";
  artifact.media_type = "text/plain";
  artifact.content = "abc";
  artifact.size = 3;
  with_content.artifacts = {artifact};
  backend::GuestReader reader(tests::ExpectedHello());
  ASSERT_TRUE(reader.Take(tests::HelloBytes() + tests::FrameBytes(FrameKind::kReady)));
  reader.Expect({.limits = {}, .has_workspace = true, .displays = belljar::core::Bytes{0}},
                [](const Frame&) { return core::Result<void>(); });
  ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kOutcome, OutcomeToText(with_content))));
  EXPECT_EQ(reader.stage(), backend::GuestReader::Stage::kContent);
  EXPECT_FALSE(reader.Take(tests::FrameBytes(tests::OpenFrame(1))));
}

std::string RequestBytes(const EgressBounds& egress) {
  host::Request request;
  request.source = "1";
  return tests::FrameBytes(FrameKind::kRequest, *RequestToText(request, egress)) +
         tests::FrameBytes(FrameKind::kContent, "1");
}

TEST(HostReaderEgress, BoundsComeWithTheRequestAndFramesAfterIt) {
  inside::HostReader reader;
  int taken = 0;
  reader.TakeEgressBy([&](const Frame&) {
    ++taken;
    return core::Result<void>();
  });
  ASSERT_TRUE(reader.Take(RequestBytes({.at_a_time = 32, .in_all = 256})));
  const auto order = reader.TakeOrder();
  ASSERT_TRUE(order);
  EXPECT_EQ(order->egress_bounds.at_a_time, 32u);
  EXPECT_EQ(order->egress_bounds.in_all, 256u);
  ASSERT_TRUE(reader.Take(tests::FrameBytes(tests::DataFrame(1, "x"))));
  ASSERT_TRUE(reader.Take(tests::FrameBytes(FrameKind::kCancel)));
  ASSERT_TRUE(reader.Take(tests::FrameBytes(tests::CloseFrame(1, kBothDirections))))
      << "under way when it was cancelled";
  EXPECT_EQ(taken, 2);
  EXPECT_FALSE(reader.Take(tests::FrameBytes(FrameKind::kCancel)));
}

TEST(HostReaderEgress, BeforeARequestAndWithoutAnEgressProxyThereIsNone) {
  inside::HostReader early;
  early.TakeEgressBy([](const Frame&) { return core::Result<void>(); });
  EXPECT_FALSE(early.Take(tests::FrameBytes(tests::DataFrame(1, "x"))));
  inside::HostReader none;
  ASSERT_TRUE(none.Take(RequestBytes({})));
  EXPECT_EQ(none.TakeOrder()->egress_bounds.at_a_time, 0u);
  EXPECT_FALSE(none.Take(tests::FrameBytes(tests::DataFrame(1, "x"))));
}

}  // namespace
}  // namespace belljar::container::wire::egress_wire_test
