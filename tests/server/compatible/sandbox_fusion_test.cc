// The API of SandboxFusion, and its notebooks.
#include <gtest/gtest.h>
#include <signal.h>

#include "engine/host/base64.h"
#include "tests/server/compatible/compatible_support.h"

namespace belljar::server::compatible::sandbox_fusion_test {
namespace {

using namespace tests::compatible;

class SandboxFusionTest : public CompatibleApisTest {};

TEST_F(SandboxFusionTest, RunsCode) {
  const Answered answer = RunCode({{"stdin", "in"},
                                   {"run_timeout", 2.5},
                                   {"compile_timeout", 10},
                                   {"memory_limit_MB", 512},
                                   {"args", {"a", "b"}},
                                   {"files", Json::object()},
                                   {"fetch_files", Json::array()}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"a", "b"}},
                                {"timeout", 2.5},
                                {"memory_limit", 512 << 20}}));
  EXPECT_EQ(answer.body, (Json{{"status", "Success"},
                               {"message", ""},
                               {"compile_result", nullptr},
                               {"run_result",
                                {{"status", "Finished"},
                                 {"execution_time", 0.25},
                                 {"cpu_time", 0.125},
                                 {"return_code", 0},
                                 {"stdout", "hello\n"},
                                 {"stderr", ""}}},
                               {"executor_pod_name", nullptr},
                               {"files", Json::object()},
                               {"verdict", "ok"},
                               {"execution_id", "e1"}}));
}

TEST_F(SandboxFusionTest, TellsHowAProgramEnded) {
  struct Case {
    host::Outcome outcome;
    const char* status;
    const char* command_status;
    Json return_code;
    const char* verdict;
    const char* standard_error;  // part of it
    const char* message;         // part of it
  };
  const Case cases[] = {
      {Raised(), "Failed", "Finished", 1, "exception", "warned\nTraceback (most", ""},
      {Exited(7), "Failed", "Finished", 7, "exception", "", ""},
      {Exited(256), "Failed", "Finished", 1, "exception", "", ""},
      {Exited(-1), "Failed", "Finished", 255, "exception", "", ""},
      {Refused(), "Failed", "Finished", 1, "refused",
       "main.py:3: BJ201 module 'ctypes' is not available\n  hint: leave it out\n", ""},
      {Stopped(host::Status::kTimeout, "stopped after 1s"), "Failed", "TimeLimitExceeded", nullptr,
       "timeout", "", "stopped after 1s"},
      {Stopped(host::Status::kCpuLimit, "stopped after 1s"), "Failed", "TimeLimitExceeded", nullptr,
       "cpu_limit", "", "stopped after 1s"},
      {Stopped(host::Status::kMemoryLimit, "stopped at 256m of memory"), "Failed", "Finished", -9,
       "memory_limit", "MemoryError: stopped at 256m", "stopped at 256m"},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), "Failed", "Finished", -11,
       "killed", "", "SIGSEGV"},
      {Killed(host::KillCause::kSystemCall, "killed for a hostile system call"), "Failed",
       "Finished", -31, "killed", "", "hostile"},
      {Killed(host::KillCause::kExit, "the process exited with code 0"), "Failed", "Finished", 1,
       "killed", "", "exited with code 0"},
      {Killed(host::KillCause::kUnreadable, "the worker's report was invalid"), "Failed",
       "Finished", -9, "killed", "", "invalid"},
      {Killed(host::KillCause::kCancelled, "cancelled"), "SandboxError", "Error", nullptr, "killed",
       "", "cancelled"},
  };
  for (const Case& each : cases) {
    outcomes_ = {each.outcome};
    const Json body = RunCode().body;
    EXPECT_EQ(body["status"], each.status) << body;
    EXPECT_EQ(body["run_result"]["status"], each.command_status) << body;
    EXPECT_EQ(body["run_result"]["return_code"], each.return_code) << body;
    EXPECT_EQ(body["verdict"], each.verdict) << body;
    EXPECT_NE(body["run_result"]["stderr"].get<std::string>().find(each.standard_error),
              std::string::npos)
        << body;
    EXPECT_NE(body["message"].get<std::string>().find(each.message), std::string::npos) << body;
  }
}

TEST_F(SandboxFusionTest, HasTheLanguagesThatAreEnabled) {
  EnableLanguages();
  outcomes_ = {Compiled(OutcomeOf(host::Status::kOk, "c++\nout\n", "warnerr\n"))};
  const Json body = RunCode({{"language", "cpp"}, {"compile_timeout", 3}}).body;
  EXPECT_EQ(calls_.at(0)["language"], "cpp");
  EXPECT_EQ(compile_limits_.at(0), std::chrono::milliseconds(3000));
  EXPECT_EQ(body["status"], "Success");
  EXPECT_EQ(body["compile_result"]["stderr"], "warn");
  EXPECT_EQ(body["run_result"]["stdout"], "out\n");
  EXPECT_EQ(body["run_result"]["execution_time"], 0.1);
  outcomes_ = {Compiled(Exited(1), true)};
  const Json failed = RunCode({{"language", "cpp"}}).body;
  EXPECT_EQ(failed["status"], "Failed");
  EXPECT_EQ(failed["compile_result"]["return_code"], 1);
  EXPECT_EQ(failed["run_result"], nullptr);
  outcomes_ = {Compiled(Stopped(host::Status::kTimeout, "stopped after 3s"), true)};
  const Json stopped = RunCode({{"language", "cpp"}}).body;
  EXPECT_EQ(stopped["compile_result"]["status"], "TimeLimitExceeded");
  EXPECT_EQ(stopped["message"], "stopped after 3s");
  RunCode({{"language", "bash"}});
  EXPECT_EQ(compile_limits_.back(), std::nullopt);
  EXPECT_EQ(RunCode({{"language", "bsh"}}).body["detail"][0]["msg"],
            "language \"bsh\" is not enabled on this server (python, cpp, bash); did you mean "
            "\"bash\"?; an operator enables it with execution.languages");
}

TEST_F(SandboxFusionTest, RefusesAsFastApiDoes) {
  const Answered files = RunCode({{"fetch_files", {"a"}}});
  EXPECT_EQ(files.body["detail"][0]["msg"],
            "profile basic of this server has no files; an operator enables them with "
            "fronts.sandbox_fusion = \"filesystem\"");
  const std::pair<Json, const char*> wrong[] = {
      {{{"code", nullptr}}, "code"},
      {{{"code", 5}}, "code"},
      {{{"language", "cpp"}}, "language"},
      {{{"language", 5}}, "language"},
      {{{"stdin", {"x"}}}, "stdin"},
      {{{"run_timeout", "soon"}}, "run_timeout"},
      {{{"compile_timeout", Json::object()}}, "compile_timeout"},
      {{{"memory_limit_MB", true}}, "memory_limit_MB"},
      {{{"args", {1}}}, "args"},
      {{{"files", {"a"}}}, "files"},
      {{{"files", {{"a", 5}}}}, "files"},
      {{{"files", {{"a", "YQ=="}}}}, "files"},  // the profile has none
      {{{"fetch_files", {"a"}}}, "fetch_files"},
      {{{"fetch_files", "a"}}, "fetch_files"},
  };
  for (const auto& [more, field] : wrong) {
    const Answered answer = RunCode(more);
    EXPECT_EQ(answer.status, 422u) << more;
    EXPECT_EQ(answer.body["detail"][0]["loc"], (Json{"body", field})) << answer.body;
    EXPECT_TRUE(answer.body["detail"][0]["msg"].is_string());
  }
  EXPECT_EQ(Post("/run_code", Json::object()).body["detail"].size(), 2u);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(SandboxFusionTest, TellsWhichMembersItDoesNotKnow) {
  const auto message = [](const Answered& answer) {
    return answer.body["message"].get<std::string>();
  };
  EXPECT_EQ(message(RunCode({{"run_timout", 3}})),
            "ignored the unknown member \"run_timout\"; did you mean \"run_timeout\"?");
  EXPECT_FALSE(calls_.at(0).contains("run_timout"));
  outcomes_ = {Stopped(host::Status::kTimeout, "stopped after 1s")};
  EXPECT_EQ(message(RunCode({{"unheard_of", nullptr}, {"profile", "full"}})),
            "stopped after 1s\nignored the unknown member \"profile\"\n"
            "ignored the unknown member \"unheard_of\"");
  EXPECT_EQ(calls_.at(1)["profile"], "basic");
  Json many;
  for (char c = 'A'; c <= 'Z'; ++c) many[std::string(30, c) + "\x1b[2J\n"] = 1;
  const std::string told = message(RunCode(many));
  EXPECT_TRUE(told.ends_with("\nand 18 more")) << told;
  EXPECT_EQ(told.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(told, '\n'), 9) << told;
  EXPECT_EQ(message(RunCode({{"code", std::string("a\0", 2)}, {"unheard_of", 1}})),
            "ignored the unknown member \"unheard_of\"");
  outcomes_ = {OutcomeOf(host::Status::kOk)};
  const Answered notebook = Post("/run_jupyter", {{"cells", {"a"}}, {"unheard_of", 1}});
  EXPECT_EQ(notebook.body["status"], "Success");
  EXPECT_EQ(message(notebook), "ignored the unknown member \"unheard_of\"");
  no_session_ = true;
  EXPECT_EQ(message(Post("/run_jupyter", {{"cells", {"a"}}, {"unheard_of", 1}})),
            "no session was opened: too many\nignored the unknown member \"unheard_of\"");
}

TEST_F(SandboxFusionTest, LimitsAreThoseOfTheProfileAtMost) {
  RunCode({{"run_timeout", 1e9}, {"memory_limit_MB", 1e12}});
  EXPECT_EQ(calls_.at(0)["timeout"], 300.0);
  EXPECT_EQ(calls_.at(0)["memory_limit"], uint64_t{4096} << 20);
  RunCode({{"run_timeout", -5}, {"memory_limit_MB", 1}});
  EXPECT_EQ(calls_.at(1)["timeout"], 0.1);
  EXPECT_EQ(calls_.at(1)["memory_limit"], 8 << 20);
  RunCode({{"memory_limit_MB", -1}});
  EXPECT_FALSE(calls_.at(2).contains("memory_limit"));
  EXPECT_EQ(calls_.at(2)["timeout"], 10.0);
}

TEST_F(SandboxFusionTest, FilesGoInAndOutWhereTheProfileHasThem) {
  terms_.has_workspace = true;
  host::Outcome outcome = OutcomeOf(host::Status::kOk);
  host::Artifact artifact;
  artifact.name = "out/a.bin";
  artifact.media_type = "application/octet-stream";
  artifact.content = std::string("\0\xff", 2);
  outcome.artifacts = {artifact};
  outcomes_ = {outcome};
  const Answered answer =
      RunCode({{"files", {{"./in.txt", host::EncodeBase64("in")}, {"none", nullptr}}},
               {"fetch_files", {"./out/a.bin", "in.txt", "missing", "../etc/passwd"}}});
  EXPECT_EQ(calls_.at(0)["files"],
            Json::array({{{"path", "in.txt"}, {"base64", host::EncodeBase64("in")}}}));
  EXPECT_EQ(answer.body["files"], (Json{{"./out/a.bin", host::EncodeBase64(*artifact.content)},
                                        {"in.txt", host::EncodeBase64("in")}}));
}

TEST_F(SandboxFusionTest, RunsANotebookInOneSession) {
  host::Outcome value = OutcomeOf(host::Status::kOk);
  value.result_repr = "123";
  host::Artifact figure;
  figure.origin = host::Artifact::Origin::kDisplay;
  figure.name = "figure-1.png";
  figure.media_type = "image/png";
  figure.content = "\x89PNG";
  value.artifacts = {figure};
  outcomes_ = {OutcomeOf(host::Status::kOk, "one\n", "err"), value, Raised(),
               OutcomeOf(host::Status::kOk)};
  const Answered answer =
      Post("/run_jupyter", {{"cells", {"a", std::string("b\0", 2), "c", "d", "e"}},
                            {"memory_limit_MB", 100},
                            {"cell_timeout", 3}});
  EXPECT_EQ(answer.status, 200u);
  const Json& body = answer.body;
  EXPECT_EQ(body["status"], "Success") << body;
  EXPECT_EQ(body["driver"]["status"], "Finished");
  EXPECT_EQ(body["driver"]["return_code"], 0);
  ASSERT_EQ(body["cells"].size(), 5u);
  EXPECT_EQ(body["cells"][0], (Json{{"stdout", "one\n"},
                                    {"stderr", "err"},
                                    {"display", Json::array()},
                                    {"error", Json::array()}}));
  EXPECT_EQ(body["cells"][1]["error"][0]["ename"], "SyntaxError");
  EXPECT_EQ(body["cells"][2]["display"],
            Json::array({{{"image/png", host::EncodeBase64("\x89PNG")}}, {{"text/plain", "123"}}}));
  EXPECT_EQ(body["cells"][3]["error"][0]["ename"], "ValueError");
  EXPECT_EQ(body["cells"][3]["error"][0]["evalue"], "no");
  EXPECT_EQ(opened_, (Json{{"profile", "basic"}, {"memory_limit", 100 << 20}}));
  EXPECT_EQ(calls_.at(0)["session"], kSession);
  EXPECT_EQ(calls_.at(0)["timeout"], 3.0);
  EXPECT_EQ(calls_.size(), 4u);
  EXPECT_EQ(closed_, std::vector<std::string>{kSession});
}

TEST_F(SandboxFusionTest, ANotebookEndsAtTheCellThatIsStopped) {
  outcomes_ = {OutcomeOf(host::Status::kOk), Stopped(host::Status::kTimeout, "stopped after 1s")};
  const Json body = Post("/run_jupyter", {{"cells", {"a", "b", "c"}}}).body;
  EXPECT_EQ(body["status"], "Failed");
  EXPECT_EQ(body["driver"]["status"], "TimeLimitExceeded");
  EXPECT_EQ(body["verdict"], "timeout");
  EXPECT_EQ(body["cells"].size(), 2u);
  EXPECT_EQ(closed_.size(), 1u);
  outcomes_ = {Stopped(host::Status::kMemoryLimit, "stopped at 256m of memory")};
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["verdict"], "memory_limit");
  no_session_ = true;
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["status"], "SandboxError");
  EXPECT_EQ(Post("/run_jupyter", {{"cells", "a"}}).status, 422u);
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}, {"kernel", "ir"}}).status, 422u);
  EXPECT_EQ(Post("/run_jupyter", {{"cells", std::vector<std::string>(1001, "a")}}).status, 422u);
}

TEST_F(SandboxFusionTest, ANotebookClosesItsSessionAfterAThrow) {
  observer_.throws = true;
  EXPECT_EQ(Post("/run_jupyter", {{"cells", {"a"}}}).body["status"], "SandboxError");
  EXPECT_TRUE(calls_.empty()) << "nothing was thrown";
  EXPECT_EQ(closed_, std::vector<std::string>{kSession});
}

TEST_F(SandboxFusionTest, ANotebookNeedsSessions) {
  has_sessions_ = false;
  const Answered answer = Post("/run_jupyter", {{"cells", {"a"}}});
  EXPECT_EQ(answer.body["status"], "SandboxError");
  EXPECT_NE(answer.body["message"].get<std::string>().find("sessions.enabled"), std::string::npos);
}

}  // namespace
}  // namespace belljar::server::compatible::sandbox_fusion_test
