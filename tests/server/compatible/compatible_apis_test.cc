// What the compatible APIs have in common.
#include <gtest/gtest.h>
#include <signal.h>

#include "engine/host/base64.h"
#include "engine/host/outcome_fields.h"
#include "tests/server/compatible/compatible_support.h"

namespace belljar::server::compatible::compatible_apis_test {
namespace {

using namespace tests::compatible;

TEST_F(CompatibleApisTest, AProfileIsNamedOnlyIfTheOperatorDid) {
  RunCode();
  RunPiston();
  Submit();
  EXPECT_EQ(settings_,
            (std::vector<std::string>{"fronts.sandbox_fusion", "fronts.piston", "fronts.judge0"}));
  for (const Json& call : calls_) EXPECT_EQ(call.at("profile"), "basic");
}

TEST_F(CompatibleApisTest, WithoutAProfileEachProgramGetsWhatItNeeds) {
  terms_.profile = "";
  RunCode();
  RunPiston();
  Submit();
  Post("/run_jupyter", {{"cells", {"1"}}});
  EXPECT_EQ(calls_.size(), 4u);
  for (const Json& call : calls_) EXPECT_FALSE(call.contains("profile"));
  EXPECT_FALSE(opened_.contains("profile"));
  const Answered answer = RunCode({{"files", {{"a.csv", "YQ=="}}}});
  EXPECT_NE(answer.body.dump().find("SANDBOX_ENABLE_FILESYSTEM=true"), std::string::npos);
}

TEST_F(CompatibleApisTest, BodiesThatAreNotObjectsAreRefusedInEachForm) {
  const std::string deep(100'000, '[');
  std::string many = "[";
  for (int i = 0; i < 200'000; ++i) many += "0,";
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("5"),
        std::string("{\"code\":\"\xff\"}"), std::string("{\"code\":\"\\ud800\"}"),
        std::string("{\"a\":1,\"a\":2}"), std::string("{\"a\":1e999}"), std::string("{}\0{}", 5),
        "{\"a\":" + deep, "{\"a\":" + many + "0]}"}) {
    EXPECT_EQ(Ask(WebMethod::kPost, "/run_code", body).status, 422u) << body.substr(0, 30);
    EXPECT_EQ(Ask(WebMethod::kPost, "/run_jupyter", body).status, 422u) << body.substr(0, 30);
    const Answered piston = Ask(WebMethod::kPost, "/api/v2/execute", body);
    EXPECT_EQ(piston.status, 400u) << body.substr(0, 30);
    EXPECT_TRUE(piston.body["message"].is_string()) << piston.body;
    const Answered judge0 = Ask(WebMethod::kPost, "/submissions", body);
    EXPECT_EQ(judge0.status, 400u) << body.substr(0, 30);
    EXPECT_TRUE(judge0.body["error"].is_string()) << judge0.body;
    EXPECT_EQ(Ask(WebMethod::kPost, "/submissions/batch", body).status, 400u);
  }
  EXPECT_TRUE(calls_.empty());
}

TEST_F(CompatibleApisTest, ASourceThatPythonCannotReadIsAnErrorOfTheProgram) {
  const std::string with_nul("print(1)\0", 9);
  const Json fusion = RunCode({{"code", with_nul}}).body;
  EXPECT_EQ(fusion["status"], "Failed");
  EXPECT_EQ(fusion["run_result"]["return_code"], 1);
  EXPECT_NE(fusion["run_result"]["stderr"].get<std::string>().find("SyntaxError"),
            std::string::npos);
  const Json piston = RunPiston({{"files", Json::array({{{"content", with_nul}}})}}).body;
  EXPECT_EQ(piston["run"]["code"], 1);
  EXPECT_EQ(Submit({{"source_code", with_nul}}).body["status"]["id"], 11);
  const Answered bytes =
      Submit({{"source_code", host::EncodeBase64("\xff\xfe")}}, "wait=true&base64_encoded=true");
  EXPECT_EQ(bytes.body["status"]["id"], 11);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(CompatibleApisTest, FailuresOfTheToolHaveEachForm) {
  ToolResult refused;
  refused.fault = ToolResult::Fault::kArguments;
  refused.text = "execute_code: code is too long";
  result_ = refused;
  EXPECT_EQ(RunCode().status, 422u);
  EXPECT_EQ(RunPiston().status, 400u);
  EXPECT_EQ(Submit().body["status"]["id"], 13);
  refused.fault = ToolResult::Fault::kUnavailable;
  refused.text = "execute_code: profile basic was not ready in time";
  result_ = refused;
  EXPECT_EQ(RunCode().status, 200u);
  EXPECT_EQ(RunCode().body["status"], "SandboxError");
  EXPECT_EQ(RunPiston().status, 500u);
  EXPECT_EQ(Submit().body["message"], refused.text);
}

TEST_F(CompatibleApisTest, AFullQueueIsToldSoThatTheClientsTryAgain) {
  Hold();
  std::vector<std::shared_ptr<KeptReply>> held;
  for (int i = 0; i < 4; ++i) {
    WebRequest request;
    request.body = Json{{"code", "1"}, {"language", "python"}}.dump();
    held.push_back(Send(WebMethod::kPost, "/run_code", std::move(request)));
    if (i == 1) WaitForCalls(2);
  }
  const Answered fusion = RunCode();
  EXPECT_EQ(fusion.status, 504u);  // what reward functions try again
  EXPECT_EQ(fusion.headers, "Retry-After: 1\r\n");
  EXPECT_EQ(RunPiston().status, 429u);
  const Answered judge0 = Submit({}, "");
  EXPECT_EQ(judge0.status, 503u);
  EXPECT_EQ(judge0.body, (Json{{"error", "queue is full"}}));
  const Answered batch =
      Post("/submissions/batch",
           {{"submissions", Json::array({{{"source_code", "1"}, {"language_id", 71}}})}});
  EXPECT_EQ(batch.status, 503u);
  Release();
  for (const auto& reply : held) EXPECT_EQ(reply->Wait()->status, 200u);
}

// Each verdict follows the cause, whatever the sentence says: here that of another end.
TEST_F(CompatibleApisTest, NoVerdictDependsOnWords) {
  using Cause = host::KillCause;
  struct Case {
    host::Outcome outcome;
    int judge0;
    Json exit_code, signal;  // Judge0's
    const char* piston;
    Json piston_signal;
    Json fusion;  // its return code
  };
  const Json null = nullptr;
  constexpr char kSegv[] = "killed by SIGSEGV", kExit[] = "the process exited with code 0",
                 kSystemCall[] = "killed for a hostile system call",
                 kContainer[] = "the container ended";
  const Case cases[] = {
      {Killed(Cause::kUnknown, kSegv), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kCancelled, kSegv), 13, null, null, "XX", "SIGKILL", null},
      {Killed(Cause::kSystemCall, kContainer), 12, null, 31, "SG", "SIGSYS", -31},
      {Killed(Cause::kUnreadable, kExit), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kExit, kSegv), 11, 1, null, "RE", null, 1},
      {Killed(Cause::kSigkill, kExit), 12, null, 9, "SG", "SIGKILL", -9},
      {Killed(Cause::kSignal, kSystemCall, SIGFPE), 9, null, 8, "SG", "SIGFPE", -8},
      {Killed(Cause::kSignal, "", SIGXFSZ), 8, null, 25, "SG", "SIGXFSZ", -25},
      {Killed(Cause::kContainerEnded, kSegv), 13, null, null, "XX", "SIGKILL", null},
      {Raised("SystemError", kSegv), 11, 1, null, "RE", null, 1},
      {OutcomeOf(host::Status::kOk, kSegv, kSegv), 3, 0, null, "", null, 0},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(host::NameOf(each.outcome.kill_cause)));
    outcomes_ = {each.outcome};
    const Json submission = Submit().body;
    EXPECT_EQ(submission["status"]["id"], each.judge0);
    EXPECT_EQ(submission["exit_code"], each.exit_code);
    EXPECT_EQ(submission["exit_signal"], each.signal);
    const Json run = RunPiston().body["run"];
    EXPECT_EQ(run["status"].is_null() ? "" : run["status"].get<std::string>(), each.piston);
    EXPECT_EQ(run["signal"], each.piston_signal);
    EXPECT_EQ(RunCode().body["run_result"]["return_code"], each.fusion);
  }
}

}  // namespace
}  // namespace belljar::server::compatible::compatible_apis_test
