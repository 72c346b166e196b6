// Limits that are changed while the server runs: all of a change or nothing, within the ranges of
// the configuration.
#include "server/live_limits.h"

#include <gtest/gtest.h>

#include <vector>

#include "server/config/settings.h"
#include "server/rest/open_api.h"

namespace belljar::server::live_limits_test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;

class LiveLimitsTest : public testing::Test {
 protected:
  std::string Refusal(const Json& patch) {
    const std::string before = limits_.Get().dump();
    const auto changed = limits_.Set(patch);
    EXPECT_EQ(limits_.Get().dump(), before) << patch;
    return changed ? "changed" : changed.error().detail;
  }

  ServerConfig config_;
  CallQueue queue_{{.running = 4, .waiting = 64}};
  SessionRegistry sessions_{config_.sessions};
  LiveLimits limits_{config_, queue_, sessions_};
};

TEST_F(LiveLimitsTest, AreThoseOfTheConfigurationAtFirst) {
  EXPECT_EQ(Json(limits_.Get()),
            Json({{"running", 4},
                  {"waiting", 64},
                  {"sessions",
                   {{"per_token", 8}, {"total", 100}, {"idle", 1800.0}, {"lifetime", 43200.0}}}}));
}

TEST_F(LiveLimitsTest, ChangeTogetherAndOnlyWhatIsNamed) {
  const auto changed = limits_.Set(
      {{"waiting", 128}, {"running", 4}, {"sessions", {{"idle", 90.5}, {"total", 20}}}});
  ASSERT_TRUE(changed) << changed.error().ToString();
  std::string told;
  for (const auto& [setting, value] : *changed)
    told.append(setting).append("=").append(value).append(" ");
  EXPECT_EQ(told, "execution.queue=128 sessions.most=20 sessions.idle=90500ms ");
  EXPECT_EQ(queue_.options().waiting, 128u);
  EXPECT_EQ(queue_.options().running, 4u);
  EXPECT_EQ(sessions_.limits().total, 20u);
  EXPECT_EQ(sessions_.limits().idle, milliseconds(90'500));
  EXPECT_EQ(sessions_.limits().lifetime, config_.sessions.lifetime);
  EXPECT_TRUE(limits_.Set(Json::object())->empty());
}

TEST_F(LiveLimitsTest, WhatIsWrongIsSaidAndNothingChanges) {
  const std::pair<Json, const char*> kWrong[] = {
      {Json::array(), "must be a JSON object"},
      {1, "must be a JSON object"},
      {{{"runing", 1}}, "did you mean \"running\"?"},
      {{{"waiting", "128"}}, "waiting must be a number"},
      {{{"waiting", nullptr}}, "waiting must be a number"},
      {{{"waiting", true}}, "waiting must be a number"},
      {{{"waiting", -1}}, "from 0 to 100000"},
      {{{"waiting", 1.5}}, "from 0 to 100000"},
      {{{"waiting", 1e300}}, "from 0 to 100000"},
      {{{"waiting", 100'001}}, "from 0 to 100000"},
      {{{"running", 0}}, "from 1 to 4"},
      {{{"running", 5}}, "from 1 to 4, the value at the start"},
      {{{"sessions", 1}}, "sessions must be an object"},
      {{{"sessions", {{"checkpoints", 1}}}}, "sessions.checkpoints"},
      {{{"sessions", {{"per_token", 0}}}}, "sessions.per_token: write a whole number from 1"},
      {{{"sessions", {{"idle", 0.5}}}}, "sessions.idle: write one from 1s"},
      {{{"sessions", {{"lifetime", 1e9}}}}, "sessions.lifetime: write seconds"},
      {{{"waiting", 1}, {"sessions", {{"total", 0}}}}, "sessions.total"},
  };
  for (const auto& [patch, sentence] : kWrong) {
    EXPECT_NE(Refusal(patch).find(sentence), std::string::npos)
        << patch << " was answered by: " << Refusal(patch);
  }
}

TEST_F(LiveLimitsTest, TheDocumentHasTheRangesOfTheSettings) {
  std::vector<rest::Operation> operations = rest::Operations({});
  std::erase_if(operations, [](const rest::Operation& operation) {
    return operation.answering != rest::Answering::kChangeLimits;  // others need tools
  });
  const nlohmann::ordered_json document = rest::OpenApi(operations, {}, {}, "1", false);
  const Json members = document["components"]["schemas"]["LimitsChange"]["properties"];
  const Json& sessions = members["sessions"]["properties"];
  struct Member {
    Json schema;
    const char* setting;
    double scale = 1;  // seconds of milliseconds
  };
  const Member kMembers[] = {{members["waiting"], "execution.queue"},
                             {sessions["per_token"], "sessions.per_token"},
                             {sessions["total"], "sessions.most"},
                             {sessions["idle"], "sessions.idle", 1000},
                             {sessions["lifetime"], "sessions.lifetime", 1000}};
  for (const Member& member : kMembers) {
    const config::Setting& setting = *config::FindSetting(member.setting);
    EXPECT_EQ(member.schema["minimum"].get<double>() * member.scale, setting.min) << member.setting;
    EXPECT_EQ(member.schema["maximum"].get<double>() * member.scale, setting.max) << member.setting;
  }
  EXPECT_EQ(members.size() + sessions.size(), 3u + 4u);
}

}  // namespace
}  // namespace belljar::server::live_limits_test
