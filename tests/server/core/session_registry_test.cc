// Whose sessions there are, how many, and when they go: without sandboxes, with a clock of the
// test's.
#include "server/core/session_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "tests/support/support.h"

namespace belljar::server::session_registry_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class FakeSession final : public RegisteredSession {
 public:
  explicit FakeSession(std::string id) : id_(std::move(id)) {}
  const std::string& id() const override { return id_; }
  std::string ended() const override { return ended_by_itself; }
  void Close(const std::string& why) override { closed = why; }
  uint64_t family_memory() const override {
    ++measured;
    return memory;
  }
  const std::string& family() const override { return family_name.empty() ? id_ : family_name; }

  uint64_t memory = 0;
  mutable int measured = 0;
  std::string family_name;
  std::string ended_by_itself;
  std::optional<std::string> closed;

 private:
  const std::string id_;
};

class SessionRegistryTest : public testing::Test {
 protected:
  SessionsConfig config_;
  std::chrono::steady_clock::time_point now_{hours(1)};

  SessionRegistry::Clocks Clocks() {
    return {[this] { return now_; },
            [this] {
              return std::chrono::system_clock::time_point(
                  std::chrono::duration_cast<std::chrono::system_clock::duration>(
                      now_.time_since_epoch()));
            }};
  }
  SessionRegistry& registry() {
    if (!registry_) registry_.emplace(config_, Clocks());
    return *registry_;
  }

  std::string Why(const core::Result<SessionRegistry::Use>& found) {
    return found ? "found" : found.error().ToString();
  }
  std::shared_ptr<FakeSession> Open(const std::string& owner, const std::string& id) {
    auto places = registry().Reserve(owner);
    if (!places) {
      ADD_FAILURE() << places.error().ToString();
      return nullptr;
    }
    auto session = std::make_shared<FakeSession>(id);
    registry().Add(*places, session);
    return session;
  }

 private:
  std::optional<SessionRegistry> registry_;
};

TEST_F(SessionRegistryTest, OnlyItsOwnerFindsListsAndClosesIt) {
  const auto session = Open("a", "one");
  EXPECT_EQ(Why(registry().Find("a", "one")), "found");
  const std::string unknown = "there is no session \"two\"; list_sessions lists yours";
  EXPECT_EQ(Why(registry().Find("a", "two")), unknown);
  EXPECT_EQ(Why(registry().Find("b", "one")),
            "there is no session \"one\"; list_sessions lists yours")
      << "as one that does not exist";
  EXPECT_TRUE(registry().List("b").empty());
  EXPECT_FALSE(registry().Close("b", "one", "stolen"));
  EXPECT_FALSE(session->closed);
  ASSERT_EQ(registry().List("a").size(), 1u);
  EXPECT_EQ(registry().List("a")[0].session, session);
  EXPECT_TRUE(registry().Close("a", "one", "by close_session"));
  EXPECT_EQ(session->closed, "by close_session");
  EXPECT_EQ(Why(registry().Find("a", "one")),
            "session \"one\" was closed at 1970-01-01 01:00:00 UTC: by close_session; what it held "
            "is lost");
  EXPECT_EQ(Why(registry().Find("b", "one")),
            "there is no session \"one\"; list_sessions lists yours")
      << "nor is anyone else told what it was";
}

TEST_F(SessionRegistryTest, SomeOfAllAreClosedUsedOrNot) {
  const auto ann = Open("ann", "1"), ann_too = Open("ann", "2"), bob = Open("bob", "1");
  const auto use = registry().Find("ann", "1");
  registry().CloseIf(
      [](const std::string& owner, const RegisteredSession& session) {
        return owner == "ann" && session.id() == "1";
      },
      "its token was removed");
  EXPECT_NE(Why(registry().Find("ann", "1")).find("its token was removed"), std::string::npos);
  EXPECT_EQ(Why(registry().Find("ann", "2")), "found");
  EXPECT_EQ(Why(registry().Find("bob", "1")), "found");
  EXPECT_EQ(registry().open(), 2u);
}

TEST_F(SessionRegistryTest, AnIdleOneIsClosed) {
  const auto session = Open("a", "one");
  now_ += minutes(29);
  EXPECT_EQ(Why(registry().Find("a", "one")), "found");
  now_ += minutes(29);
  registry().CloseDue();
  EXPECT_FALSE(session->closed);
  now_ += minutes(1);
  registry().CloseDue();
  EXPECT_EQ(session->closed, "nobody had used it for 30 minutes");
  now_ += minutes(2);
  EXPECT_EQ(
      Why(registry().Find("a", "one")),
      "session \"one\" was closed at 1970-01-01 01:59:00 UTC: nobody had used it for 30 minutes; "
      "what it held is lost");
  EXPECT_EQ(registry().open(), 0u);
}

TEST_F(SessionRegistryTest, WhoAsksTooLateIsToldEvenIfTheTimerIs) {
  Open("a", "one");
  now_ += minutes(31);
  EXPECT_NE(Why(registry().Find("a", "one")).find("nobody had used it for 30 minutes"),
            std::string::npos);
}

TEST_F(SessionRegistryTest, OneInUseIsNotClosedForItsAge) {
  const auto session = Open("a", "one");
  {
    const auto use = registry().Find("a", "one");
    ASSERT_TRUE(use);
    now_ += minutes(40);
    registry().CloseDue();
    EXPECT_FALSE(session->closed);
    EXPECT_TRUE(registry().List("a")[0].is_used);
    now_ += hours(12);
    registry().CloseDue();
    EXPECT_FALSE(session->closed);
    EXPECT_EQ(
        Why(registry().Find("a", "one")),
        "session \"one\" has reached its lifetime of 12 hours and closes when its last call ends");
  }
  registry().CloseDue();
  EXPECT_EQ(session->closed, "it had reached its lifetime of 12 hours");
}

TEST_F(SessionRegistryTest, ACopyOfAUseIsOneMore) {
  const auto session = Open("a", "one");
  std::optional<SessionRegistry::Use> copy;
  {
    const auto use = registry().Find("a", "one");
    ASSERT_TRUE(use);
    copy.emplace(*use);
  }
  now_ += minutes(40);
  registry().CloseDue();
  EXPECT_FALSE(session->closed);
  copy.reset();
  now_ += minutes(29);
  registry().CloseDue();
  EXPECT_FALSE(session->closed) << "idle since its last use";
}

TEST_F(SessionRegistryTest, AnOwnerHasAFewAtMost) {
  config_.per_owner = 2;
  Open("a", "one");
  Open("a", "two");
  const auto third = registry().Reserve("a");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().ToString(),
            "the limit is 2 open sessions for each caller, and 2 are open: close_session closes "
            "one, and list_sessions lists them");
  Open("b", "other");
  EXPECT_TRUE(registry().Close("a", "one", "by close_session"));
  EXPECT_FALSE(registry().Reserve("a", 2));
  EXPECT_TRUE(registry().Reserve("a"));
}

TEST_F(SessionRegistryTest, APlaceIsTakenWhileItsSessionIsOpened) {
  config_.per_owner = 1;
  {
    const auto places = registry().Reserve("a");
    ASSERT_TRUE(places);
    EXPECT_FALSE(registry().Reserve("a"));
  }
  EXPECT_TRUE(registry().Reserve("a")) << "it was not opened";
}

TEST_F(SessionRegistryTest, AFullServerClosesTheLongestIdleOfWhoHasMost) {
  config_.total = 4;
  const auto oldest = Open("b", "b1");
  now_ += minutes(1);
  const auto first = Open("a", "a1");
  now_ += minutes(1);
  const auto second = Open("a", "a2");
  now_ += minutes(1);
  Open("a", "a3");
  {
    const auto use = registry().Find("a", "a1");
    now_ += minutes(5);
    Open("b", "b2");
    EXPECT_FALSE(first->closed) << "it is in use";
    EXPECT_FALSE(oldest->closed) << "b has less than a";
    EXPECT_EQ(
        second->closed,
        "the server was full, and nobody had used it for 6 minutes: another caller needed room");
  }
  // Both have two now: neither loses one to the other.
  const auto refused = registry().Reserve("b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().ToString(),
            "the limit of this server is 4 open sessions, and none of them is idle: "
            "call again later");
  EXPECT_TRUE(registry().Reserve("c")) << "who has none gets one";
  EXPECT_NE(Why(registry().Find("a", "a2")).find("the server was full"), std::string::npos);
}

TEST_F(SessionRegistryTest, MemoryOfAllIsTakenFromWhoHasMost) {
  config_.total_memory = core::Bytes{100};
  const auto older = Open("a", "a1"), newer = Open("a", "a2"), used = Open("a", "a3");
  const auto other = Open("b", "b1");
  older->memory = newer->memory = 30;
  used->memory = 20;
  other->memory = 40;
  const auto use = registry().Find("a", "a3");
  now_ += minutes(1);
  EXPECT_TRUE(registry().Reserve("c"));
  EXPECT_EQ(older->closed,
            "the server's memory for sessions was full, and nobody had used it for 1 minute: "
            "another caller needed room");
  EXPECT_FALSE(newer->closed) << "90 are left";
  newer->memory = 50;
  EXPECT_TRUE(registry().Reserve("c")) << "measured a moment ago";
  EXPECT_EQ(newer->measured, 1);
  now_ += seconds(3);
  const auto refused = registry().Reserve("a");
  ASSERT_FALSE(refused) << "it has the most itself";
  EXPECT_EQ(refused.error().ToString(),
            "the sessions of this server have reached the limit of 100 for the memory of all "
            "together: close one of yours with close_session, or call again later");
  EXPECT_FALSE(newer->closed);
  EXPECT_FALSE(other->closed) << "it has less";
  EXPECT_TRUE(registry().Close("a", "a2", "by close_session"));
  EXPECT_TRUE(registry().Reserve("a")) << "at once";
  other->memory = 300;
  used->memory = 120;
  now_ += seconds(3);
  EXPECT_FALSE(registry().Reserve("c")) << "what is used stays";
  EXPECT_TRUE(other->closed);
  EXPECT_FALSE(used->closed);
}

TEST_F(SessionRegistryTest, MemoryOfBranchesCountsOnce) {
  config_.total_memory = core::Bytes{100};
  const auto one = Open("a", "one");
  now_ += seconds(1);
  const auto branch = Open("a", "branch");
  branch->family_name = "one";
  one->memory = branch->memory = 90;
  now_ += minutes(1);
  EXPECT_TRUE(registry().Reserve("a"));
  one->memory = branch->memory = 110;
  now_ += minutes(1);
  EXPECT_FALSE(registry().Reserve("a"));
  EXPECT_TRUE(registry().Reserve("b"));
  EXPECT_TRUE(one->closed);
  EXPECT_FALSE(branch->closed);
}

TEST_F(SessionRegistryTest, OneThatHasEndedByItselfSaysSo) {
  const auto session = Open("a", "one");
  session->ended_by_itself = "its process died";
  EXPECT_TRUE(registry().List("a").empty());
  EXPECT_NE(Why(registry().Find("a", "one")).find(": its process died; what"), std::string::npos);
}

TEST_F(SessionRegistryTest, NotesOnThoseThatHaveGoneAreBounded) {
  for (size_t i = 0; i <= SessionRegistry::kRemembered; ++i) {
    Open("a", std::to_string(i));
    EXPECT_TRUE(registry().Close("a", std::to_string(i), "by close_session"));
  }
  EXPECT_NE(Why(registry().Find("a", "1")).find("was closed"), std::string::npos);
  EXPECT_EQ(Why(registry().Find("a", "0")), "there is no session \"0\"; list_sessions lists yours");
}

TEST_F(SessionRegistryTest, TheListIsInTheOrderOfOpening) {
  for (const char* id : {"z", "m", "a"}) Open("a", id);
  std::string ids;
  for (const auto& each : registry().List("a")) ids += each.session->id();
  EXPECT_EQ(ids, "zma");
  now_ += seconds(90);
  EXPECT_EQ(registry().List("a")[0].idle, seconds(90));
  EXPECT_EQ(registry().List("a")[0].closes_in, minutes(30) - seconds(90));
}

TEST(SessionRegistryThread, ClosesInTimeAndAtTheEnd) {
  SessionsConfig config;
  config.idle = milliseconds(50);
  std::atomic<int> told = 0;
  auto kept = std::make_shared<FakeSession>("kept");
  {
    SessionRegistry registry(config);
    registry.SetCloseListener([&](const std::string& owner, const RegisteredSession& session,
                                  SessionRegistry::Cause cause, const std::string&) {
      EXPECT_EQ(owner, "a");
      EXPECT_EQ(cause == SessionRegistry::Cause::kEvicted, session.id() == "idle");
      ++told;
    });
    ASSERT_TRUE(registry.Start());
    auto places = registry.Reserve("a", 2);
    ASSERT_TRUE(places);
    auto idle = std::make_shared<FakeSession>("idle");
    std::optional<SessionRegistry::Use> use(registry.Add(*places, kept));
    registry.Add(*places, idle);
    EXPECT_TRUE(tests::Eventually([&] { return told > 0; }));
    EXPECT_EQ(told, 1);
    EXPECT_EQ(idle->closed, "nobody had used it for 50 milliseconds");
  }
  EXPECT_EQ(kept->closed, "the server was stopped");
  EXPECT_EQ(told, 2);
}

TEST_F(SessionRegistryTest, LimitsThatAreChangedHoldForOpenSessionsToo) {
  config_.per_owner = 3;
  config_.idle = minutes(30);
  const auto first = Open("a", "1");
  const auto second = Open("a", "2");
  SessionRegistry::Limits limits = registry().limits();
  EXPECT_EQ(limits.per_owner, 3u);
  limits.per_owner = 1;
  registry().SetLimits(limits);
  EXPECT_EQ(registry().open(), 2u);  // none is closed for it
  EXPECT_FALSE(registry().Reserve("a"));
  now_ += minutes(10);
  limits.idle = minutes(5);
  registry().SetLimits(limits);
  EXPECT_EQ(registry().open(), 0u);
  EXPECT_EQ(first->closed, "nobody had used it for 5 minutes");
  EXPECT_EQ(second->closed, "nobody had used it for 5 minutes");
  EXPECT_EQ(registry().config().idle, minutes(30));
}

}  // namespace
}  // namespace belljar::server::session_registry_test
