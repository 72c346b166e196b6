// The table of events: their JSON, their names in filters, and docs/events.md, which has the table.
#include "server/events/event.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "server/events/trace_context.h"

namespace belljar::server::events::event_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::system_clock;

Event At(int64_t ms, EventData data) {
  return {system_clock::time_point(milliseconds(ms)), "team-a", std::move(data)};
}

TEST(Events, HaveTypeTimeAndFields) {
  ExecutionEnded ended;
  ended.execution = "e1";
  ended.tool = "execute_code";
  ended.profile = "basic";
  ended.status = "exception";
  ended.error_type = "ValueError";
  ended.wall_time = std::chrono::microseconds(1500);
  ended.max_rss_bytes = 7;
  EXPECT_EQ(Json::parse(ToJson(At(1'700'000'000'042, ended))),
            Json::parse(R"({"type":"execution.ended","timestamp":"2023-11-14T22:13:20.042Z",
                            "caller":"team-a",
                            "data":{"execution":"e1","tool":"execute_code","profile":"basic",
                                    "status":"exception","error_type":"ValueError",
                                    "wall_time":0.0015,"cpu_time":0.0,"max_rss_bytes":7}})"));
}

TEST(Events, LeaveOutWhatTheyLackUnlessItIsAlwaysThere) {
  const Json refused =
      Json::parse(ToJson(At(0, ExecutionRefused{"e", "t", "policy", {"BJ201"}, "s"})))["data"];
  EXPECT_EQ(refused["rules"], Json::array({"BJ201"}));
  EXPECT_EQ(refused["session"], "s");
  const Json busy =
      Json::parse(ToJson(At(0, ExecutionRefused{"e", "t", "queue_full", {}, {}})))["data"];
  EXPECT_EQ(busy, Json({{"execution", "e"}, {"tool", "t"}, {"reason", "queue_full"}}));
  EXPECT_EQ(Json::parse(ToJson(At(0, Gap{"restart", std::nullopt})))["data"],
            Json({{"cause", "restart"}, {"missed", nullptr}}));
}

// Whatever a guest prints: no line and no event of a stream ends there.
TEST(Events, AreOneLineOfAscii) {
  const std::string text =
      ToJson(At(0, ExecutionOutput{"e", "a\nid: forged\r\n\n\u2028\u0085\x01\xff\u00e9"}));
  for (const char c : text) {
    EXPECT_GE(c, ' ');
    EXPECT_LT(c, 0x7f);
  }
  EXPECT_EQ(Json::parse(text)["data"]["text"], "a\nid: forged\r\n\n\u2028\u0085\x01\ufffd\u00e9");
}

TEST(Events, AreNamedByPatterns) {
  for (const char* good : {"*", "execution.*", "execution.ended", "gap", "job.*", "job.ended"}) {
    EXPECT_TRUE(IsEventPattern(good)) << good;
  }
  for (const char* bad : {"", "execution", "execution.", "executions.*", "Execution.ended", "**",
                          "execution.ended ", "job.\n", ".*"}) {
    EXPECT_FALSE(IsEventPattern(bad)) << bad;
  }
  EXPECT_TRUE(Matches("session.*", "session.opened"));
  EXPECT_FALSE(Matches("session.*", "sessions.opened"));
  EXPECT_FALSE(Matches("session.opened", "session.closed"));
}

TEST(Events, AreInThePageAsInTheTable) {
  std::ifstream file(BELLJAR_SOURCE_DIR "/docs/events.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  ASSERT_FALSE(page.empty());
  std::string table;
  for (const EventKind& kind : EventKinds()) {
    std::string fields;
    for (const EventKind::Field& field : kind.fields) {
      if (!fields.empty()) fields += ", ";
      fields += "`" + field.name + "`";
      if (!field.meaning.empty()) fields += " (" + field.meaning + ")";
    }
    table += "| `" + kind.name + "` | " + kind.meaning + " | " + fields + " |\n";
  }
  EXPECT_NE(page.find(table), std::string::npos) << "the table should be:\n" << table;
}

// --- trace context -------------------------------------------------------------------------------

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00f067aa0ba902b7";

TEST(TraceContexts, AreReadAsW3cWritesThem) {
  const std::string known = std::string("00-") + kTrace + "-" + kParent;
  const auto sampled = TraceContext::Parse(known + "-01");
  ASSERT_TRUE(sampled);
  EXPECT_EQ(sampled->trace_id, kTrace);
  EXPECT_EQ(sampled->parent_id, kParent);
  EXPECT_TRUE(sampled->sampled);
  EXPECT_FALSE(TraceContext::Parse(known + "-00")->sampled);
  EXPECT_TRUE(TraceContext::Parse(known + "-0b")->sampled);
  const std::string later = std::string("cc-") + kTrace + "-" + kParent + "-01";
  EXPECT_TRUE(TraceContext::Parse(later));
  EXPECT_TRUE(TraceContext::Parse(later + "-what-will-come"));
  EXPECT_FALSE(TraceContext::Parse(later + "."));
}

TEST(TraceContexts, ThatAreMalformedAreNone) {
  const std::string good = std::string("00-") + kTrace + "-" + kParent + "-01";
  ASSERT_TRUE(TraceContext::Parse(good));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = 'G';
    EXPECT_FALSE(TraceContext::Parse(bad)) << bad;
    EXPECT_FALSE(TraceContext::Parse(good.substr(0, i)));
  }
  EXPECT_FALSE(TraceContext::Parse(good + "-more"));
  EXPECT_FALSE(TraceContext::Parse("ff" + good.substr(2)));
  EXPECT_FALSE(TraceContext::Parse("00-" + std::string(32, '0') + "-" + kParent + "-01"));
  EXPECT_FALSE(
      TraceContext::Parse(std::string("00-") + kTrace + "-" + std::string(16, '0') + "-01"));
}

}  // namespace
}  // namespace belljar::server::events::event_test
