// The API of Piston.
#include <gtest/gtest.h>
#include <signal.h>

#include "engine/host/base64.h"
#include "server/compatible/piston/piston.h"
#include "tests/server/compatible/compatible_support.h"

namespace belljar::server::compatible::piston_test {
namespace {

using namespace tests::compatible;

class PistonTest : public CompatibleApisTest {};

TEST_F(PistonTest, ListsTheOneRuntime) {
  const Json runtimes = Ask(WebMethod::kGet, "/api/v2/runtimes").body;
  EXPECT_EQ(runtimes, Json::array({{{"language", "python"},
                                    {"version", "3.11.2"},
                                    {"aliases", {"py", "py3", "python3"}}}}));
  EXPECT_EQ(Ask(WebMethod::kGet, "/api/v2/runtimes/").body, runtimes);
  EXPECT_EQ(
      Ask(WebMethod::kGet, "/api/v2/packages").body,
      Json::array({{{"language", "python"}, {"language_version", "3.11.2"}, {"installed", true}}}));
  for (const WebMethod method : {WebMethod::kPost, WebMethod::kDelete}) {
    const Answered refused = Ask(method, "/api/v2/packages");
    EXPECT_EQ(refused.status, 403u);
    EXPECT_TRUE(refused.body["message"].is_string());
  }
}

TEST_F(PistonTest, Executes) {
  outcomes_ = {OutcomeOf(host::Status::kOk, "out\n", "err\n")};
  const Answered answer = RunPiston({{"stdin", "in"},
                                     {"args", {"1"}},
                                     {"run_timeout", 1500},
                                     {"compile_timeout", 10000},
                                     {"compile_memory_limit", -1},
                                     {"run_memory_limit", 64 << 20}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"1"}},
                                {"timeout", 1.5},
                                {"memory_limit", 64 << 20}}));
  EXPECT_EQ(answer.body, (Json{{"run",
                                {{"stdout", "out\n"},
                                 {"stderr", "err\n"},
                                 {"output", "out\nerr\n"},
                                 {"code", 0},
                                 {"signal", nullptr},
                                 {"message", nullptr},
                                 {"status", nullptr},
                                 {"memory", 20 << 20},
                                 {"cpu_time", 125},
                                 {"wall_time", 250}}},
                               {"language", "python"},
                               {"version", "3.11.2"}}));
  RunPiston({{"run_memory_limit", -1}});
  EXPECT_FALSE(calls_.at(1).contains("memory_limit"));
  EXPECT_EQ(calls_.at(1)["timeout"], 3.0);
}

TEST_F(PistonTest, TellsHowAProgramEnded) {
  const std::tuple<host::Outcome, Json, Json, Json> cases[] = {
      {Raised(), 1, nullptr, "RE"},
      {Refused(), 1, nullptr, "RE"},
      {Stopped(host::Status::kTimeout, "x"), nullptr, "SIGKILL", "TO"},
      {Stopped(host::Status::kMemoryLimit, "x"), nullptr, "SIGKILL", "SG"},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), nullptr, "SIGSEGV", "SG"},
      {Killed(host::KillCause::kCancelled, "cancelled"), nullptr, "SIGKILL", "XX"},
  };
  for (const auto& [outcome, code, signal, status] : cases) {
    outcomes_ = {outcome};
    const Json run = RunPiston().body["run"];
    EXPECT_EQ(run["code"], code) << run;
    EXPECT_EQ(run["signal"], signal) << run;
    EXPECT_EQ(run["status"], status) << run;
  }
}

TEST_F(PistonTest, HasTheLanguagesThatAreEnabled) {
  EnableLanguages();
  const Json runtimes = Ask(WebMethod::kGet, "/api/v2/runtimes").body;
  ASSERT_EQ(runtimes.size(), 3u);
  EXPECT_EQ(runtimes[1],
            (Json{{"language", "c++"}, {"version", "12.2.0"}, {"aliases", {"cpp", "g++"}}}));
  EXPECT_EQ(runtimes[2], (Json{{"language", "bash"}, {"version", "5.2.15"}, {"aliases", {"sh"}}}));
  outcomes_ = {Compiled(OutcomeOf(host::Status::kOk, "c++\nout\n", "warnerr\n"))};
  const Json body = RunPiston({{"language", "g++"}, {"version", "10.2.0"}}).body;
  EXPECT_EQ(calls_.at(0)["language"], "cpp");
  EXPECT_FALSE(calls_.at(0).contains("profile"));
  EXPECT_EQ(compile_limits_.at(0), std::chrono::milliseconds(10000));
  EXPECT_EQ(body["language"], "c++");
  EXPECT_EQ(body["version"], "12.2.0");
  EXPECT_EQ(body["compile"]["stdout"], "c++\n");
  EXPECT_EQ(body["compile"]["stderr"], "warn");
  EXPECT_EQ(body["compile"]["code"], 0);
  EXPECT_EQ(body["compile"]["wall_time"], 150);
  EXPECT_EQ(body["run"]["output"], "out\nerr\n");
  EXPECT_EQ(body["run"]["memory"], 8 << 20);
  outcomes_ = {Compiled(Exited(1), true)};
  const Json failed = RunPiston({{"language", "cpp"}}).body;
  EXPECT_EQ(failed["compile"]["code"], 1);
  EXPECT_EQ(failed["compile"]["status"], "RE");
  EXPECT_EQ(failed["run"]["code"], nullptr);
  EXPECT_EQ(failed["run"]["output"], "");
}

TEST_F(PistonTest, RefusesWithAMessage) {
  const Json text = Json::array({{{"content", "1"}}});
  const std::pair<Json, const char*> wrong[] = {
      {{{"language", nullptr}}, "language is required as a string"},
      {{{"language", 5}}, "language is required as a string"},
      {{{"version", nullptr}}, "version is required as a string"},
      {{{"language", "rust"}},
       "\"rust-3.10.0\" runtime is unknown; see /api/v2/runtimes: language \"rust\" is not enabled "
       "on this server (python); an operator enables it with execution.languages"},
      {{{"version", "2.7"}}, "\"python-2.7\" runtime is unknown; see /api/v2/runtimes"},
      {{{"files", nullptr}}, "files is required as an array"},
      {{{"files", Json::array()}}, "files is required as an array"},
      {{{"files", {{"content", "1"}}}}, "files is required as an array"},
      {{{"files", {5}}}, "files[0].content is required as a string"},
      {{{"files", Json::array({{{"content", 5}}})}}, "files[0].content is required as a string"},
      {{{"files", Json::array({{{"content", "!"}, {"encoding", "base64"}}})}},
       "files[0].content is not in the encoding that it names"},
      {{{"files", Json::array({{{"content", "0g"}, {"encoding", "hex"}}})}},
       "files[0].content is not in the encoding that it names"},
      {{{"files", Json::array({{{"content", "YQ=="}, {"encoding", "base64"}}})}},
       "files must include at least one utf8 encoded file"},
      {{{"run_timeout", 300'001}}, "run_timeout cannot exceed the configured limit of 300000"},
      {{{"compile_timeout", 300'001}},
       "compile_timeout cannot exceed the configured limit of 300000"},
      {{{"run_timeout", "soon"}}, "run_timeout must be a number"},
      {{{"args", "a"}}, "args must be an array of strings"},
      {{{"stdin", 5}}, "stdin must be a string"},
      {{{"run_memory_limit", 1e15}},
       "run_memory_limit cannot exceed the configured limit of "
       "4294967296"},
  };
  for (const auto& [more, message] : wrong) {
    const Answered answer = RunPiston(more);
    EXPECT_EQ(answer.status, 400u) << more;
    EXPECT_EQ(answer.body, (Json{{"message", message}}));
  }
  const Answered two =
      RunPiston({{"files", Json::array({{{"content", "1"}}, {{"content", "2"}}})}});
  EXPECT_EQ(two.status, 400u);
  EXPECT_NE(two.body["message"].get<std::string>().find("fronts.piston"), std::string::npos);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(PistonTest, ModulesNeedNoWorkspace) {
  RunPiston({{"files", Json::array({{{"name", "main.py"}, {"content", "import helper"}},
                                    {{"name", "helper.py"}, {"content", "x = 1"}}})}});
  ASSERT_EQ(calls_.size(), 1u);
  EXPECT_EQ(calls_[0]["files"],
            Json::array({{{"path", "helper.py"}, {"base64", host::EncodeBase64("x = 1")}}}));
}

TEST_F(PistonTest, FirstTextIsTheProgram) {
  terms_.has_workspace = true;
  RunPiston({{"files", Json::array({{{"content", "61"}, {"encoding", "hex"}},
                                    {{"name", "main.py"}, {"content", "1"}},
                                    {{"name", "./data.txt"}, {"content", "d"}}})}});
  EXPECT_EQ(calls_.at(0)["code"], "1");
  EXPECT_EQ(calls_.at(0)["files"],
            Json::array({{{"path", "file0.code"}, {"base64", host::EncodeBase64("a")}},
                         {{"path", "data.txt"}, {"base64", host::EncodeBase64("d")}}}));
}

TEST(PistonVersionTest, SelectsPython3) {
  for (const char* selector : {"*", "3", "3.x", "3.10.0", "^3.10", "~3.9", ">=3.6", "v3.11", "x"}) {
    EXPECT_TRUE(piston::SelectsPython3(selector)) << selector;
  }
  for (const char* selector : {"", "2.7.18", "^2", "30", "31.0", "=", "python"}) {
    EXPECT_FALSE(piston::SelectsPython3(selector)) << selector;
  }
}

}  // namespace
}  // namespace belljar::server::compatible::piston_test
