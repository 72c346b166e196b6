// The stdio transport against a handler that only records: lines in, lines out.
#include "server/stdio/stdio_transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/support.h"

namespace belljar::server::stdio::stdio_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Answers each message with itself; "slow" and "big" are answered when the test says so.
class Echo final : public MessageHandler {
 public:
  void Handle(IncomingMessage message, std::shared_ptr<Reply> reply) override {
    const std::lock_guard lock(mutex_);
    taken_.push_back(message.text);
    if (message.text == "slow") {
      held_.push_back(std::move(reply));
    } else if (message.text == "silent") {
      reply->Finish({Answer::Kind::kAccepted});
    } else if (message.text == "talk") {
      reply->Notify("progress");
      reply->Finish({Answer::Kind::kResult, "done"});
    } else {
      reply->Finish({Answer::Kind::kResult, message.text});
    }
  }
  bool End(const Caller&, const std::string& conversation) override {
    const std::lock_guard lock(mutex_);
    ended_ += conversation;
    return true;
  }

  std::vector<std::string> taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
  }
  std::string ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  std::vector<std::shared_ptr<Reply>> held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> taken_;
  std::vector<std::shared_ptr<Reply>> held_;
  std::string ended_;
};

enum class Kind { kPipes, kSockets };

class Stdio : public testing::TestWithParam<Kind> {
 protected:
  Stdio() {
    int in[2], out[2];
    if (GetParam() == Kind::kPipes) {
      EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
      EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    } else {
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, in), 0);
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, out), 0);
    }
    server_in_ = core::UniqueFd(in[0]), client_out_ = core::UniqueFd(in[1]);
    client_in_ = core::UniqueFd(out[0]), server_out_ = core::UniqueFd(out[1]);
    stop_ = core::UniqueFd(eventfd(0, 0));
    transport_.emplace(server_in_.get(), server_out_.get(), echo_);
    thread_ = std::thread([this] { end_ = *transport_->Run(stop_.get()); });
  }
  ~Stdio() override { Stop(); }

  void Stop() {
    if (!thread_.joinable()) return;
    eventfd_write(stop_.get(), 1);
    Join();
  }
  StdioTransport::End Join() {
    thread_.join();
    return end_;
  }
  void Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t wrote = write(client_out_.get(), text.data(), text.size());
      ASSERT_GT(wrote, 0);
      text.remove_prefix(static_cast<size_t>(wrote));
    }
  }
  // The next line without its newline; "" after `within` without one.
  std::string Line(milliseconds within = tests::Hang()) {
    const auto end = std::chrono::steady_clock::now() + within;
    // What was looked through once is not again: a line may have 80 MiB.
    size_t newline = buffer_.find('\n');
    while (newline == buffer_.npos) {
      pollfd readable{client_in_.get(), POLLIN, 0};
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return "";
      poll(&readable, 1, static_cast<int>(std::chrono::ceil<milliseconds>(left).count()));
      if (!(readable.revents & (POLLIN | POLLHUP))) continue;
      char bytes[65536];
      const ssize_t got = read(client_in_.get(), bytes, sizeof bytes);
      if (got <= 0) return "";
      const size_t had = buffer_.size();
      buffer_.append(bytes, static_cast<size_t>(got));
      newline = buffer_.find('\n', had);
    }
    const std::string line = buffer_.substr(0, newline);
    buffer_.erase(0, newline + 1);
    return line;
  }
  void AwaitTaken(size_t count) {
    EXPECT_TRUE(tests::Eventually([&] { return echo_.taken().size() >= count; }));
  }

  core::UniqueFd server_in_, client_out_, client_in_, server_out_, stop_;
  Echo echo_;
  std::optional<StdioTransport> transport_;
  std::thread thread_;
  StdioTransport::End end_ = StdioTransport::End::kStopped;
  std::string buffer_;
};

INSTANTIATE_TEST_SUITE_P(, Stdio, testing::Values(Kind::kPipes, Kind::kSockets), [](auto& info) {
  return info.param == Kind::kPipes ? "Pipes" : "Sockets";
});

TEST_P(Stdio, LinesHoweverTheyArrive) {
  Send("one\ntwo\r\n\n  \nth");
  EXPECT_EQ(Line(), "one");
  EXPECT_EQ(Line(), "two\r");
  Send("ree\nfour");
  EXPECT_EQ(Line(), "three");
  Send("\n");
  EXPECT_EQ(Line(), "four");
  EXPECT_EQ(echo_.taken().size(), 4u);
}

TEST_P(Stdio, BytesOfAnyKindReachTheHandler) {
  const std::string bytes("a\0\xff\x1b[31m", 8);
  Send(bytes + "\n");
  EXPECT_EQ(Line(), bytes);
}

TEST_P(Stdio, NotificationsComeBeforeTheAnswerAndSilenceIsSilent) {
  Send("silent\ntalk\n");
  EXPECT_EQ(Line(), "progress");
  EXPECT_EQ(Line(), "done");
}

TEST_P(Stdio, AnAnswerMayComeLaterAndFromElsewhere) {
  Send("slow\nquick\n");
  EXPECT_EQ(Line(), "quick");
  std::thread([&] { echo_.held()[0]->Finish({Answer::Kind::kResult, "at last"}); }).join();
  EXPECT_EQ(Line(), "at last");
}

TEST_P(Stdio, ALineOfTenMegabytesIsALine) {
  const std::string line(10 << 20, 'x');
  std::thread sender([&] { Send(line + "\n"); });
  EXPECT_EQ(Line(), line);
  sender.join();
}

TEST_P(Stdio, ALineThatIsTooLongIsAnErrorAndTheNextOneWorks) {
  std::thread sender([&] {
    Send(std::string(StdioTransport::kMaxLine.count + 1, 'x'));
    Send(std::string(1 << 20, 'y') + "\nnext\n");
  });
  EXPECT_NE(Line().find("longer than 20 MiB"), std::string::npos);
  EXPECT_EQ(Line(), "next");
  sender.join();
  EXPECT_EQ(echo_.taken().size(), 1u);
}

TEST_P(Stdio, TheClientsEndEndsItsCalls) {
  Send("slow\nhalf a li");
  AwaitTaken(1);
  client_out_.Reset();
  EXPECT_EQ(Join(), StdioTransport::End::kPeer);
  EXPECT_EQ(echo_.ended(), "stdio");
  EXPECT_EQ(echo_.taken().back(), "half a li");
}

TEST_P(Stdio, AClientThatOnlyStopsReadingIsGoneToo) {
  Send("slow\n");
  AwaitTaken(1);
  client_in_.Reset();
  EXPECT_EQ(Join(), StdioTransport::End::kPeer);
  EXPECT_EQ(echo_.ended(), "stdio");
}

TEST_P(Stdio, StopLeavesCallsRunningAndTheirAnswersArrive) {
  Send("slow\n");
  AwaitTaken(1);
  eventfd_write(stop_.get(), 1);
  EXPECT_EQ(Join(), StdioTransport::End::kStopped);
  EXPECT_EQ(echo_.ended(), "");
  echo_.held()[0]->Finish({Answer::Kind::kResult, "drained"});
  EXPECT_EQ(Line(), "drained");
}

// Far more than a pipe holds, and nobody reads: whoever answers goes on.
TEST_P(Stdio, AClientThatDoesNotReadBlocksNobody) {
  Send("slow\n");
  AwaitTaken(1);
  const std::string part(1 << 20, 'p');
  for (int i = 0; i < 16; ++i) echo_.held()[0]->Notify(part);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(Line(), part);
  Send("after\n");
  EXPECT_EQ(Line(), "after");
}

TEST_P(Stdio, OneAnswerIsAsLongAsItIs) {
  Send("slow\n");
  AwaitTaken(1);
  const std::string answer(80 << 20, 'a');
  echo_.held()[0]->Finish({Answer::Kind::kResult, answer});
  EXPECT_TRUE(Line() == answer);
  Send("after\n");
  EXPECT_EQ(Line(), "after");
}

TEST_P(Stdio, AClientThatNeverReadsIsCutOff) {
  Send("slow\n");
  AwaitTaken(1);
  const std::string part(8 << 20, 'p');
  for (int i = 0; i < 12; ++i) echo_.held()[0]->Notify(part);
  Send("x\n");
  EXPECT_EQ(Join(), StdioTransport::End::kPeer);
}

TEST_P(Stdio, AReplyAfterTheEndGoesNowhere) {
  Send("slow\n");
  AwaitTaken(1);
  Stop();
  const auto held = echo_.held();
  transport_.reset();
  held[0]->Notify("late");
  held[0]->Finish({Answer::Kind::kResult, "late"});
  EXPECT_EQ(Line(milliseconds(50)), "");
}

TEST_P(Stdio, TheFlagsOfTheDescriptorsStay) {
  EXPECT_EQ(fcntl(server_out_.get(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace belljar::server::stdio::stdio_test
