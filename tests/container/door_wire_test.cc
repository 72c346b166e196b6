// What goes over the line of a container's door, and what is refused of it: a guest that ignores
// windows, takes numbers twice, opens without end, goes on after its end.
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

#include "container/wire/door_ledger.h"
#include "container/wire/door_traffic.h"
#include "container/wire/guest_reader.h"
#include "container/wire/host_reader.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/socket.h"
#include "tests/container/frames.h"

namespace belljar {
namespace {

using Side = DoorLedger::Side;

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
    const Result<void> taken = ledger.Take(frame);
    ASSERT_TRUE(taken) << taken.error().ToString();
  }
  void ExpectFault(const Frame& frame, const std::string& what) {
    const Result<void> taken = ledger.Take(frame);
    ASSERT_FALSE(taken) << what;
    EXPECT_NE(taken.error().ToString().find(what), std::string::npos) << taken.error().ToString();
  }
  const DoorStream& Stream(uint32_t number) { return ledger.streams().at(number); }

  DoorLedger ledger{Side::kHost, {.at_a_time = 3, .in_all = 5}};
  std::string frames;
};

TEST_F(HostLedger, AStreamGoesItsWay) {
  Take(OpenFrame(1));
  EXPECT_EQ(ledger.TakeOpened(), std::vector<uint32_t>{1});
  EXPECT_TRUE(ledger.TakeOpened().empty());
  Take(DataFrame(1, "hello"));
  EXPECT_EQ(Stream(1).Waiting(), "hello");
  ledger.Pass(1, 2, frames);
  EXPECT_EQ(Stream(1).Waiting(), "llo");
  ledger.Send(1, "answer", frames);
  ledger.Close(1, kSendsNoMore, frames);
  Take(WindowFrame(1, 6));
  Take(CloseFrame(1, kSendsNoMore));
  ledger.Pass(1, 3, frames);
  ledger.Close(1, kTakesNoMore, frames);
  EXPECT_EQ(ledger.streams().size(), 1u) << "it still takes";
  Take(CloseFrame(1, kTakesNoMore));
  EXPECT_TRUE(ledger.streams().empty());

  const std::vector<Frame> told = Decoded(frames);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].payload, DataFrame(1, "answer").payload);
  EXPECT_EQ(told[1].payload, CloseFrame(1, kSendsNoMore).payload);
  EXPECT_EQ(told[2].payload, CloseFrame(1, kTakesNoMore).payload);
}

TEST_F(HostLedger, GrantsGoOutByQuartersOfAWindow) {
  Take(OpenFrame(1));
  const std::string piece(kDoorPiece, 'x');
  for (size_t sent = 0; sent < kDoorWindow; sent += kDoorPiece) Take(DataFrame(1, piece));
  EXPECT_EQ(Stream(1).may_come, 0u);
  ExpectFault(DataFrame(1, "x"), "past its window");
  ledger.Pass(1, kDoorWindow / 4 - 1, frames);
  EXPECT_TRUE(frames.empty());
  ledger.Pass(1, 1, frames);
  ASSERT_EQ(Decoded(frames).size(), 1u);
  EXPECT_EQ(Decoded(frames)[0].payload, WindowFrame(1, kDoorWindow / 4).payload);
  EXPECT_EQ(Stream(1).may_come, kDoorWindow / 4);
  Take(DataFrame(1, piece));
}

TEST_F(HostLedger, WhatIsKeptIsBounded) {
  Take(OpenFrame(1));
  size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    const size_t size = std::min(Stream(1).may_come, kDoorPiece);
    if (size > 0) Take(DataFrame(1, std::string(size, 'x')));
    most = std::max(most, Stream(1).arrived.size());
    ledger.Pass(1, std::min<size_t>(Stream(1).Waiting().size(), 20'000), frames);
  }
  EXPECT_LE(most, kDoorWindow + kDoorWindow / 2);
}

TEST_F(HostLedger, NumbersAreInTurnAndTakenOnce) {
  ExpectFault(OpenFrame(0), "out of turn");
  ExpectFault(OpenFrame(2), "out of turn");
  Take(OpenFrame(1));
  ExpectFault(OpenFrame(1), "out of turn");
  Take(CloseFrame(1, kBothWays));
  ledger.Close(1, kBothWays, frames);
  ASSERT_TRUE(ledger.streams().empty());
  ExpectFault(OpenFrame(1), "out of turn");
  ExpectFault(DataFrame(1, "x"), "a stream that there is not");
  ExpectFault(WindowFrame(1, 1), "a stream that there is not");
  ExpectFault(CloseFrame(1, kSendsNoMore), "a stream that there is not");
  ExpectFault(OpenFrame(3), "out of turn");
  Take(OpenFrame(2));
}

TEST_F(HostLedger, StreamsAreBoundedAtATimeAndInAll) {
  for (uint32_t number = 1; number <= 3; ++number) Take(OpenFrame(number));
  ExpectFault(OpenFrame(4), "more streams than there may be");
  // It counts as long as the host has not let go of it, whatever the guest says.
  Take(CloseFrame(1, kBothWays));
  ExpectFault(OpenFrame(4), "more streams than there may be");
  ledger.Close(1, kBothWays, frames);
  Take(OpenFrame(4));
  for (const uint32_t number : {2u, 3u, 4u}) {
    Take(CloseFrame(number, kBothWays));
    ledger.Close(number, kBothWays, frames);
  }
  Take(OpenFrame(5));
  Take(OpenFrame(6));  // the one too many, which the record is to show
  ExpectFault(OpenFrame(7), "more streams than there may be");
}

TEST_F(HostLedger, WithoutADoorNothingIsOpened) {
  DoorLedger none(Side::kHost, {});
  EXPECT_FALSE(none.Take(OpenFrame(1)));
}

TEST_F(HostLedger, WhatIsClosedStaysSo) {
  Take(OpenFrame(1));
  Take(CloseFrame(1, kSendsNoMore));
  ExpectFault(DataFrame(1, "x"), "after it was closed");
  ExpectFault(CloseFrame(1, kSendsNoMore), "after it was closed");
  ExpectFault(CloseFrame(1, kBothWays), "after it was closed");
  ledger.Send(1, "x", frames);
  Take(WindowFrame(1, 1));
  ledger.Send(1, "x", frames);
  Take(CloseFrame(1, kTakesNoMore));
  ExpectFault(WindowFrame(1, 1), "after it was closed");
}

TEST_F(HostLedger, WhatComesForOneThatTakesNoMoreIsDroppedAndNeverGranted) {
  Take(OpenFrame(1));
  Take(DataFrame(1, "waiting"));
  ledger.Close(1, kTakesNoMore, frames);
  EXPECT_EQ(Stream(1).arrived.capacity(), std::string().capacity());
  const std::string piece(kDoorPiece, 'x');
  for (int i = 0; i < 7; ++i) Take(DataFrame(1, piece));
  EXPECT_EQ(Stream(1).Waiting(), "");
  Take(DataFrame(1, piece.substr(7)));
  ExpectFault(DataFrame(1, "x"), "past its window");
}

TEST_F(HostLedger, NoMoreIsGrantedThanWasSent) {
  Take(OpenFrame(1));
  ExpectFault(WindowFrame(1, 0), "of no bytes");
  ExpectFault(WindowFrame(1, 1), "more than was sent");
  ledger.Send(1, "abc", frames);
  ExpectFault(WindowFrame(1, 4), "more than was sent");
  ExpectFault(WindowFrame(1, UINT32_MAX), "more than was sent");
  Take(WindowFrame(1, 3));
  ExpectFault(WindowFrame(1, 1), "more than was sent");
}

TEST_F(HostLedger, FramesHaveTheirLengths) {
  Take(OpenFrame(1));
  const std::string one = NumberBytes(1);
  for (const Frame& frame :
       {Frame{FrameKind::kDoorOpen, ""}, Frame{FrameKind::kDoorOpen, NumberBytes(2) + "x"},
        Frame{FrameKind::kDoorOpen, "\2\0\0"}, Frame{FrameKind::kDoorData, one},
        Frame{FrameKind::kDoorData, ""}, Frame{FrameKind::kDoorWindow, one},
        Frame{FrameKind::kDoorData, one + std::string(kDoorPiece + 1, 'x')},
        Frame{FrameKind::kDoorWindow, one + "\1\0\0"}, Frame{FrameKind::kDoorClose, one},
        Frame{FrameKind::kDoorClose, one + "\1\1"}, Frame{FrameKind::kReady, ""}}) {
    ExpectFault(frame, "of a length that it cannot have");
  }
  for (const int ways : {0, 4, 7, 255}) ExpectFault(CloseFrame(1, ways), "of no way");
}

TEST(GuestLedger, OnlyTheGuestOpens) {
  DoorLedger guest(Side::kGuest, {.at_a_time = 2, .in_all = 3});
  EXPECT_FALSE(guest.Take(OpenFrame(1)));
  std::string frames;
  ASSERT_TRUE(guest.may_open());
  EXPECT_EQ(guest.Open(frames), 1u);
  EXPECT_EQ(guest.Open(frames), 2u);
  EXPECT_FALSE(guest.may_open());
  ASSERT_TRUE(guest.Take(CloseFrame(1, kBothWays)));
  EXPECT_FALSE(guest.may_open()) << "it is open on this side";
  guest.Close(1, kBothWays, frames);
  EXPECT_EQ(guest.Open(frames), 3u);
  EXPECT_FALSE(guest.has_opened_all());
  ASSERT_TRUE(guest.Take(CloseFrame(2, kBothWays)));
  guest.Close(2, kBothWays, frames);
  EXPECT_EQ(guest.Open(frames), 4u);
  EXPECT_TRUE(guest.has_opened_all());
}

TEST(Ledgers, OfBothSidesUnderstandEachOther) {
  const DoorBounds bounds{.at_a_time = 4, .in_all = 100};
  DoorLedger guest(Side::kGuest, bounds), host(Side::kHost, bounds);
  const auto pass_on = [](std::string& frames, DoorLedger& to) {
    for (const Frame& frame : Decoded(std::exchange(frames, {}))) {
      const Result<void> taken = to.Take(frame);
      ASSERT_TRUE(taken) << taken.error().ToString();
    }
  };
  std::string to_host, to_guest;
  for (int round = 0; round < 50; ++round) {
    const uint32_t number = guest.Open(to_host);
    guest.Send(number, std::string(kDoorPiece, 'q'), to_host);
    pass_on(to_host, host);
    host.Pass(number, kDoorPiece, to_guest);
    for (int i = 0; i < 4; ++i) host.Send(number, std::string(kDoorPiece, 'a'), to_guest);
    host.Close(number, round % 2 == 0 ? kSendsNoMore : kBothWays, to_guest);
    pass_on(to_guest, guest);
    guest.Pass(number, 4 * kDoorPiece, to_host);
    guest.Close(number, kBothWays, to_host);
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
    Take(OpenFrame(1));
    auto pair = CreateSocketPair(SOCK_STREAM);
    ASSERT_TRUE(pair);
    for (const uint32_t number : traffic.TakeOpened()) {
      traffic.Give(number, std::move(pair->first), frames);
    }
    proxy = std::move(pair->second);
  }
  void Take(const Frame& frame) {
    const Result<void> taken = traffic.Take(frame);
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

  DoorTraffic traffic{Side::kHost, {.at_a_time = 3, .in_all = 5}};
  std::string frames;
  UniqueFd proxy;
};

TEST_F(HostTraffic, BytesGoBothWaysAndEachEndsByItself) {
  Take(DataFrame(1, "hello"));
  EXPECT_TRUE(Moved().empty());
  EXPECT_EQ(Received(), "hello");
  Take(CloseFrame(1, kSendsNoMore));
  ASSERT_EQ(Moved().size(), 1u);
  EXPECT_EQ(Received(), "") << "an end";
  ASSERT_EQ(write(proxy.get(), "answer", 6), 6);
  std::vector<Frame> said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, DataFrame(1, "answer").payload);
  proxy.Reset();
  said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, CloseFrame(1, kSendsNoMore).payload);
  Take(CloseFrame(1, kTakesNoMore));
  EXPECT_EQ(Streams(), 0u);
}

TEST_F(HostTraffic, OneThatTheGuestHasDoneWithIsLetGoUnasked) {
  Take(CloseFrame(1, kBothWays));
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
  EXPECT_EQ(said[0].payload, DataFrame(1, "last").payload);
  EXPECT_EQ(said[1].payload, CloseFrame(1, kBothWays).payload);
  Take(DataFrame(1, "under way"));
  EXPECT_TRUE(Moved().empty());
  Take(CloseFrame(1, kBothWays));
  EXPECT_EQ(Streams(), 0u);
}

TEST_F(HostTraffic, OneThatEndedItsSideAndHungUpLaterIsSeenToo) {
  ASSERT_EQ(shutdown(proxy.get(), SHUT_WR), 0);
  ASSERT_EQ(Moved(true).size(), 1u);
  proxy.Reset();
  const std::vector<Frame> said = Moved(true);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].payload, CloseFrame(1, kTakesNoMore).payload);
}

TEST_F(HostTraffic, AProxyIsToldThatNobodyTakesItsAnswer) {
  Take(CloseFrame(1, kTakesNoMore));
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
  EXPECT_EQ(sent, kDoorWindow);
  std::vector<pollfd> watched;
  traffic.Watch(true, watched);
  proxy.Reset();
  EXPECT_EQ(poll(watched.data(), watched.size(), 0), 0)
      << "it is not asked for what it may not say";
  Take(WindowFrame(1, kDoorPiece));
  EXPECT_EQ(Moved(true).size(), 1u);
}

TEST_F(HostTraffic, WithoutASocketItIsOverAtOnce) {
  Take(OpenFrame(2));
  for (const uint32_t number : traffic.TakeOpened()) traffic.Give(number, UniqueFd(), frames);
  ASSERT_EQ(Decoded(frames).size(), 1u);
  EXPECT_EQ(Decoded(frames)[0].payload, CloseFrame(2, kBothWays).payload);
}

// --- the readers --------------------------------------------------------------------------------

std::string OutcomeBytes() {
  return FrameBytes(FrameKind::kOutcome, OutcomeToText({.status = Status::kOk}));
}

struct Guest {
  Guest() { EXPECT_TRUE(reader.Take(HelloBytes() + FrameBytes(FrameKind::kReady))); }
  void Expect(bool door) {
    GuestReader::DoorFrames frames;
    if (door) {
      frames = [this](const Frame& frame) {
        ++taken;
        return ledger.Take(frame);
      };
    }
    reader.Expect({}, std::move(frames));
  }
  GuestReader reader{ExpectedHello()};
  DoorLedger ledger{Side::kHost, {.at_a_time = 2, .in_all = 5}};
  int taken = 0;
};

TEST(GuestReaderDoor, FramesGoToTheDoorBetweenOutputsWhileItRuns) {
  Guest guest;
  guest.Expect(true);
  const std::string bytes = FrameBytes(OpenFrame(1)) + FrameBytes(FrameKind::kStandardOutput, "a") +
                            FrameBytes(DataFrame(1, "b")) +
                            FrameBytes(FrameKind::kStandardOutput, "c") +
                            FrameBytes(CloseFrame(1, kSendsNoMore)) + OutcomeBytes();
  for (const char byte : bytes) ASSERT_TRUE(guest.reader.Take({&byte, 1}));
  EXPECT_EQ(guest.reader.stage(), GuestReader::Stage::kEnded);
  EXPECT_EQ(guest.taken, 3);
  EXPECT_EQ(guest.reader.outcome().stdout_stream.text, "ac");
  EXPECT_EQ(guest.ledger.streams().at(1).Waiting(), "b");
}

TEST(GuestReaderDoor, WhatTheLedgerRefusesIsAFault) {
  Guest guest;
  guest.Expect(true);
  EXPECT_FALSE(guest.reader.Take(FrameBytes(OpenFrame(1)) + FrameBytes(DataFrame(2, "x"))));
}

TEST(GuestReaderDoor, WithoutADoorTheyAreRefusedByTheirHeaders) {
  for (const FrameKind kind : {FrameKind::kDoorOpen, FrameKind::kDoorData, FrameKind::kDoorWindow,
                               FrameKind::kDoorClose}) {
    Guest guest;
    guest.Expect(false);
    const Result<void> taken = guest.reader.Take(EncodeFrameHeader(kind, 5));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("has no place here"), std::string::npos);
  }
}

TEST(GuestReaderDoor, LongerOnesThanTheirKindAreRefusedByTheirHeaders) {
  for (const auto& [kind, length] : {std::pair{FrameKind::kDoorOpen, size_t{5}},
                                     {FrameKind::kDoorData, kDoorPiece + 5},
                                     {FrameKind::kDoorWindow, size_t{9}},
                                     {FrameKind::kDoorClose, size_t{6}}}) {
    Guest guest;
    guest.Expect(true);
    EXPECT_TRUE(guest.reader.Take(EncodeFrameHeader(kind, length - 1)));
    Guest other;
    other.Expect(true);
    const Result<void> taken = other.reader.Take(EncodeFrameHeader(kind, length));
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().ToString().find("is too long"), std::string::npos);
    EXPECT_EQ(other.taken, 0);
  }
}

TEST(GuestReaderDoor, BeforeARunAndAfterItsOutcomeThereIsNone) {
  Guest waiting;
  EXPECT_FALSE(waiting.reader.Take(FrameBytes(OpenFrame(1))));
  Guest preparing;
  GuestReader greeted(ExpectedHello());
  ASSERT_TRUE(greeted.Take(HelloBytes()));
  EXPECT_FALSE(greeted.Take(FrameBytes(OpenFrame(1))));
  Guest ended;
  ended.Expect(true);
  ASSERT_TRUE(ended.reader.Take(FrameBytes(OpenFrame(1))));
  ASSERT_TRUE(ended.reader.Take(OutcomeBytes()));
  EXPECT_FALSE(ended.reader.Take(FrameBytes(DataFrame(1, "x"))));

  Outcome with_content{.status = Status::kOk};
  Artifact artifact;
  artifact.name = "a";
  artifact.media_type = "text/plain";
  artifact.content = "abc";
  artifact.size = 3;
  with_content.artifacts = {artifact};
  GuestReader reader(ExpectedHello());
  ASSERT_TRUE(reader.Take(HelloBytes() + FrameBytes(FrameKind::kReady)));
  reader.Expect({.limits = {}, .has_workspace = true, .displays = belljar::Bytes{0}},
                [](const Frame&) { return Result<void>(); });
  ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kOutcome, OutcomeToText(with_content))));
  EXPECT_EQ(reader.stage(), GuestReader::Stage::kContent);
  EXPECT_FALSE(reader.Take(FrameBytes(OpenFrame(1))));
}

std::string RequestBytes(const DoorBounds& door) {
  Request request;
  request.source = "1";
  return FrameBytes(FrameKind::kRequest, *RequestToText(request, door)) +
         FrameBytes(FrameKind::kContent, "1");
}

TEST(HostReaderDoor, BoundsComeWithTheRequestAndFramesAfterIt) {
  HostReader reader;
  int taken = 0;
  reader.TakeDoorBy([&](const Frame&) {
    ++taken;
    return Result<void>();
  });
  ASSERT_TRUE(reader.Take(RequestBytes({.at_a_time = 32, .in_all = 256})));
  ASSERT_TRUE(reader.has_request());
  EXPECT_EQ(reader.door_bounds().at_a_time, 32u);
  EXPECT_EQ(reader.door_bounds().in_all, 256u);
  ASSERT_TRUE(reader.Take(FrameBytes(DataFrame(1, "x"))));
  ASSERT_TRUE(reader.Take(FrameBytes(FrameKind::kCancel)));
  ASSERT_TRUE(reader.Take(FrameBytes(CloseFrame(1, kBothWays))))
      << "under way when it was cancelled";
  EXPECT_EQ(taken, 2);
  EXPECT_FALSE(reader.Take(FrameBytes(FrameKind::kCancel)));
}

TEST(HostReaderDoor, BeforeARequestAndWithoutADoorThereIsNone) {
  HostReader early;
  early.TakeDoorBy([](const Frame&) { return Result<void>(); });
  EXPECT_FALSE(early.Take(FrameBytes(DataFrame(1, "x"))));
  HostReader none;
  ASSERT_TRUE(none.Take(RequestBytes({})));
  EXPECT_EQ(none.door_bounds().at_a_time, 0u);
  EXPECT_FALSE(none.Take(FrameBytes(DataFrame(1, "x"))));
}

}  // namespace
}  // namespace belljar
