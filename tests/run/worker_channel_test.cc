// What a worker says while it runs, word by word, and what a hostile one may try.
#include "engine/run/worker_channel.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/socket.h"

namespace belljar::run::worker_channel_test {
namespace {

// A call without arguments, as the runner writes it.
constexpr char kEmptyCall[] = R"({"args":[],"kwargs":{}})";

using Message = WorkerChannel::Message;

std::string Signal(uint32_t kind, uint32_t step, uint32_t value) {
  return std::string(core::AsBytes(core::WorkerSignal{kind, step, value}));
}

std::string Call(const std::string& name, const std::string& arguments) {
  return Signal(core::WorkerSignal::kCall, static_cast<uint32_t>(name.size()),
                static_cast<uint32_t>(arguments.size())) +
         name + arguments;
}

class WorkerChannelTest : public testing::Test {
 protected:
  WorkerChannelTest() {
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    host_ = std::move(pair->first);
    worker_ = std::move(pair->second);
    request_.functions = {"lookup"};
    request_.limits.result = core::Bytes{1000};
    call_ = [this](std::string_view name, std::string_view arguments) {
      calls_.emplace_back(name, arguments);
      return answer_;
    };
  }

  void Say(std::string_view bytes) {
    ASSERT_EQ(send(worker_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until there is a word, or nothing more to read.
  Message Receive() {
    for (;;) {
      pollfd readable{host_.get(), POLLIN, 0};
      const Message word = channel().Move();
      if (word != Message::kNothing || poll(&readable, 1, 0) != 1) return word;
    }
  }
  std::string Answered() {
    if (!channel().Answer()) return "refused";
    while (channel().events() == POLLOUT) {
      if (channel().Move() != Message::kNothing) return "nonsense";
    }
    uint32_t size = 0;
    EXPECT_TRUE(core::ReceiveExactly(worker_.get(), &size, sizeof size));
    std::string text(size, '\0');
    EXPECT_TRUE(core::ReceiveExactly(worker_.get(), text.data(), text.size()));
    return text;
  }
  WorkerChannel& channel() {
    if (!channel_) channel_.emplace(host_.get(), request_, call_, false);
    return *channel_;
  }

  core::UniqueFd host_;
  core::UniqueFd worker_;
  host::Request request_;
  FunctionCall call_;
  std::string answer_ = R"({"value":1})";
  std::vector<std::pair<std::string, std::string>> calls_;
  std::optional<WorkerChannel> channel_;
};

TEST_F(WorkerChannelTest, NothingIsNoWord) { EXPECT_EQ(Receive(), Message::kNothing); }

TEST_F(WorkerChannelTest, DoneIsHeard) {
  Say(Signal(core::WorkerSignal::kDone, 0, 0));
  EXPECT_EQ(Receive(), Message::kDone);
}

TEST_F(WorkerChannelTest, OnlyWhereModulesAreLeftOutItMayStartOver) {
  Say(Signal(core::WorkerSignal::kStartOver, 0, 0));
  EXPECT_EQ(Receive(), Message::kMalformed);
  channel_.emplace(host_.get(), request_, call_, false, true);
  Say(Signal(core::WorkerSignal::kStartOver, 0, 0));
  EXPECT_EQ(Receive(), Message::kStartOver);
}

TEST_F(WorkerChannelTest, CallsAreAnsweredAgainAndAgain) {
  for (int i = 0; i < 3; ++i) {
    Say(Call("lookup", R"({"args":[1],"kwargs":{}})"));
    ASSERT_EQ(Receive(), Message::kCall);
    EXPECT_EQ(Answered(), R"({"value":1})");
  }
  ASSERT_EQ(calls_.size(), 3u);
  EXPECT_EQ(calls_[2].first, "lookup");
  EXPECT_EQ(calls_[2].second, R"({"args":[1],"kwargs":{}})");
  Say(Signal(core::WorkerSignal::kDone, 0, 0));
  EXPECT_EQ(Receive(), Message::kDone);
}

TEST_F(WorkerChannelTest, WordsThatComeByteByByteAreHeardOnceWhole) {
  const std::string call = Call("lookup", kEmptyCall);
  Say(call.substr(0, sizeof(core::WorkerSignal)));
  for (size_t i = sizeof(core::WorkerSignal); i + 1 < call.size(); ++i) {
    Say(call.substr(i, 1));
    ASSERT_EQ(Receive(), Message::kNothing) << "after byte " << i;
  }
  Say(call.substr(call.size() - 1));
  EXPECT_EQ(Receive(), Message::kCall);
}

TEST_F(WorkerChannelTest, AnnouncedBytesAreNotMadeRoomFor) {
  request_.limits.result = core::Bytes{UINT32_MAX};
  Say(Signal(core::WorkerSignal::kCall, 6, UINT32_MAX - 1));
  EXPECT_EQ(Receive(), Message::kNothing);  // and the test has not taken 4 GiB
  Say("lookup");
  EXPECT_EQ(Receive(), Message::kNothing);
  close(worker_.Release());
  EXPECT_EQ(Receive(), Message::kEnd);
}

TEST_F(WorkerChannelTest, WhatIsNoWordIsNonsense) {
  const std::string arguments(1001, ' ');
  const std::vector<std::pair<const char*, std::string>> kSaid = {
      {"a byte", "x"},
      {"less than the beginning of a word", Signal(core::WorkerSignal::kDone, 0, 0).substr(0, 11)},
      {"another kind", Signal(0x12345678, 0, 0)},
      {"sealed once more", Signal(core::WorkerSignal::kSealed, 0, 0)},
      {"a name without end", Signal(core::WorkerSignal::kCall, core::kMaxFunctionName + 1, 2)},
      {"no name", Signal(core::WorkerSignal::kCall, 0, 2)},
      {"no arguments", Signal(core::WorkerSignal::kCall, 6, 0)},
      {"too many arguments", Signal(core::WorkerSignal::kCall, 6, 1001)},
      {"sizes whose sum overflows", Signal(core::WorkerSignal::kCall, UINT32_MAX, UINT32_MAX)},
      {"a function of no request", Call("other", "{}")},
      {"the beginning of a name", Call("look", "{}")},
      {"a name with more behind it", Call(std::string("lookup\0x", 8), "{}")}};
  for (const auto& [what, said] : kSaid) {
    channel_.reset();
    Say(said);
    EXPECT_EQ(Receive(), Message::kMalformed) << what;
    char rest[4096];
    while (recv(host_.get(), rest, sizeof rest, MSG_DONTWAIT) > 0) {
    }
  }
  EXPECT_TRUE(calls_.empty());
}

TEST_F(WorkerChannelTest, WithoutFunctionsACallIsNonsense) {
  call_ = nullptr;
  Say(Call("lookup", kEmptyCall));
  EXPECT_EQ(Receive(), Message::kMalformed);
}

TEST_F(WorkerChannelTest, WhatIsOnlyValidatedCallsNobody) {
  request_.mode = host::Request::Mode::kValidate;
  Say(Call("lookup", kEmptyCall));
  EXPECT_EQ(Receive(), Message::kMalformed);
}

// Half an answer, or an empty one, would be for the program to judge.
TEST_F(WorkerChannelTest, WithoutAnAnswerTheWorkerIsLeftWaiting) {
  answer_ = "";
  Say(Call("lookup", kEmptyCall) + Call("lookup", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_TRUE(channel().Answer());
  EXPECT_EQ(channel().events(), 0);
  char byte;
  EXPECT_EQ(recv(worker_.get(), &byte, 1, MSG_DONTWAIT), -1);
  pollfd watched{host_.get(), channel().events(), 0};
  EXPECT_EQ(poll(&watched, 1, 0), 0);
  close(worker_.Release());
  EXPECT_EQ(poll(&watched, 1, 0), 1);
  EXPECT_EQ(channel().Move(), Message::kEnd);
  EXPECT_EQ(calls_.size(), 1u);
}

TEST_F(WorkerChannelTest, HostileArgumentsNeverReachTheFunction) {
  std::string deep;
  for (size_t i = 0; i < 200; ++i) deep += "[";
  for (const std::string& arguments :
       {std::string("{"), std::string("NaN"), std::string(R"({"a":1,"a":2})"), deep,
        std::string("\"\xff\""), std::string("1e999")}) {
    Say(Call("lookup", arguments));
    ASSERT_EQ(Receive(), Message::kCall);
    EXPECT_NE(Answered().find("not plain data"), std::string::npos) << arguments;
  }
  EXPECT_TRUE(calls_.empty());
}

TEST_F(WorkerChannelTest, AnAnswerThatIsTooLargeIsSaidToBe) {
  answer_ = "{\"value\":\"" + std::string(1000, 'x') + "\"}";
  Say(Call("lookup", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_NE(Answered().find("lookup(): its answer exceeds the 1000"), std::string::npos);
}

// A call that had begun: the program has to know which of them it was.
TEST_F(WorkerChannelTest, AnAnswerOfACallThatHadBegunKeepsItsNumber) {
  request_.functions = {"+lookup", "@await"};
  answer_ = R"({"ended":7,"value":")" + std::string(1000, 'x') + "\"}";
  Say(Call("@await", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  const auto answer = nlohmann::json::parse(Answered());
  EXPECT_EQ(answer["ended"], 7);
  EXPECT_EQ(answer["error"]["message"], "the function's answer exceeds the 1000 limit of a result");
}

TEST_F(WorkerChannelTest, ACallThatIsRefusedEndsTheRun) {
  request_.functions = {"+lookup", "@await"};
  Say(Call("+lookup", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_EQ(Answered(), answer_) << "control";
  answer_ = kRefusedCall;
  Say(Call("@await", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_EQ(Answered(), "refused");
  EXPECT_EQ(calls_.size(), 2u);
}

// A coroutine function cannot be called as a plain one, nor the other way round.
TEST_F(WorkerChannelTest, AFunctionIsCalledInItsOwnWay) {
  request_.functions = {"lookup", "+fetch", "@await"};
  for (const char* const name : {"fetch", "+lookup", "@cancel", "+", "+@await"}) {
    channel_.reset();
    Say(Call(name, kEmptyCall));
    EXPECT_EQ(Receive(), Message::kMalformed) << name;
  }
  EXPECT_TRUE(calls_.empty());
}

TEST(FunctionCallsTest, WhenTheClockStandsStill) {
  for (const bool is_cell : {false, true}) {
    EXPECT_TRUE(FunctionCalls::StopsClock("@input", is_cell));
    EXPECT_EQ(FunctionCalls::StopsClock("lookup", is_cell), is_cell);
    EXPECT_EQ(FunctionCalls::StopsClock("@await", is_cell), is_cell);
    EXPECT_FALSE(FunctionCalls::StopsClock("@await_until", is_cell));
  }
}

// It holds nobody up: what does not fit waits for poll, and the run's other ends are looked at.
TEST_F(WorkerChannelTest, AWorkerThatTakesNoAnswerIsNotWaitedFor) {
  request_.limits.result = core::Bytes::Mebi(16);
  answer_ = "\"" + std::string(8 << 20, 'x') + "\"";
  Say(Call("lookup", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_TRUE(channel().Answer());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(channel().Move(), Message::kNothing);
  EXPECT_EQ(channel().events(), POLLOUT);
  close(worker_.Release());
  EXPECT_EQ(channel().Move(), Message::kEnd);
}

// While an answer is on its way the worker has nothing to say, so nothing is read.
TEST_F(WorkerChannelTest, ASecondCallWaitsForTheFirstAnswer) {
  Say(Call("lookup", kEmptyCall) + Call("lookup", kEmptyCall));
  ASSERT_EQ(Receive(), Message::kCall);
  EXPECT_EQ(Answered(), answer_);
  EXPECT_EQ(Receive(), Message::kCall);
  EXPECT_EQ(Answered(), answer_);
  EXPECT_EQ(calls_.size(), 2u);
}

}  // namespace
}  // namespace belljar::run::worker_channel_test
