#include "server/calls/pending_lines.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/support/support.h"

namespace belljar::server::pending_lines_test {
namespace {

using std::chrono::milliseconds;

TEST(PendingLinesTest, WhoNeverAnswersEndsTheInput) {
  PendingLines lines(milliseconds(20));
  std::vector<uint64_t> asked;
  const AskForLine ask = lines.For("anna", nullptr, [&](uint64_t id, const std::string& prompt) {
    asked.push_back(id);
    EXPECT_EQ(prompt, "? ");
  });
  EXPECT_EQ(ask("? "), std::nullopt);
  // The time is for all questions of a call.
  EXPECT_EQ(ask("? "), std::nullopt);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(lines.Answer("anna", asked[0], "late"));
}

TEST(PendingLinesTest, OnlyItsOwnerAnswersAndOnlyOnce) {
  PendingLines lines;
  const AskForLine ask = lines.For("anna", nullptr, [&](uint64_t id, const std::string&) {
    EXPECT_FALSE(lines.Answer("ben", id, "other"));
    EXPECT_FALSE(lines.Answer("anna", id + 1, "none"));
    EXPECT_TRUE(lines.Answer("anna", id, "mine"));
    EXPECT_FALSE(lines.Answer("anna", id, "again"));
  });
  EXPECT_EQ(ask(""), "mine");
}

TEST(PendingLinesTest, ALongLineIsCutBetweenCharacters) {
  PendingLines lines;
  const std::string longer(PendingLines::kMaxLine - 1, 'x');
  const AskForLine ask = lines.For("anna", nullptr, [&](uint64_t id, const std::string&) {
    (void)lines.Answer("anna", id, longer + "\xc3\xa4 and more");
  });
  EXPECT_EQ(ask(""), longer);
}

TEST(PendingLinesTest, ACancelledCallWaitsForNothing) {
  PendingLines lines;
  const auto cancellation = std::make_shared<Cancellation>();
  std::thread canceller;
  const AskForLine ask = lines.For("anna", cancellation, [&](uint64_t, const std::string&) {
    canceller = std::thread([&] { cancellation->Cancel(); });
  });
  EXPECT_EQ(ask(""), std::nullopt);
  canceller.join();
}

}  // namespace
}  // namespace belljar::server::pending_lines_test
