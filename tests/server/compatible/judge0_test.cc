// The API of Judge0, and what it keeps of submissions.
#include <gtest/gtest.h>
#include <signal.h>

#include "engine/host/base64.h"
#include "server/compatible/judge0/submission.h"
#include "server/compatible/judge0/submission_store.h"
#include "tests/server/compatible/compatible_support.h"
#include "tests/support/support.h"

namespace belljar::server::compatible::judge0_test {
namespace {

using namespace tests::compatible;

class Judge0Test : public CompatibleApisTest {};

TEST_F(Judge0Test, JudgesWhileTheClientWaits) {
  const Answered answer = Submit({{"stdin", "in"},
                                  {"command_line_arguments", "a 'b c'"},
                                  {"expected_output", "hello  \n\n"},
                                  {"wall_time_limit", 3},
                                  {"memory_limit", "131072"}});
  EXPECT_EQ(answer.status, 201u);
  EXPECT_EQ(calls_.at(0), (Json{{"code", "print('hello')"},
                                {"profile", "basic"},
                                {"stdin", "in"},
                                {"args", {"a", "b c"}},
                                {"timeout", 3.0},
                                {"memory_limit", 128 << 20}}));
  const Json& body = answer.body;
  EXPECT_EQ(body["status"], (Json{{"id", 3}, {"description", "Accepted"}})) << body;
  EXPECT_EQ(body["stdout"], "hello\n");
  EXPECT_EQ(body["stderr"], nullptr);
  EXPECT_EQ(body["compile_output"], nullptr);
  EXPECT_EQ(body["message"], nullptr);
  EXPECT_EQ(body["time"], "0.125");
  EXPECT_EQ(body["wall_time"], "0.250");
  EXPECT_EQ(body["memory"], 20 << 10);
  EXPECT_EQ(body["exit_code"], 0);
  EXPECT_EQ(body["exit_signal"], nullptr);
  EXPECT_EQ(body["language"], (Json{{"id", 71}, {"name", "Python (3.11.2)"}}));
  EXPECT_EQ(body["token"].get<std::string>().size(), 36u);
  EXPECT_EQ(body["token"].get<std::string>()[14], '4');
  EXPECT_TRUE(body["finished_at"].get<std::string>().ends_with("Z"));
  EXPECT_EQ(Submit({}, "wait=true").body.size(), 8u);
  EXPECT_EQ(Submit({}, "wait=true&fields=stdout,status_id").body,
            (Json{{"stdout", "hello\n"}, {"status_id", 3}}));
}

TEST_F(Judge0Test, HasAStatusForEachEnd) {
  host::Outcome busy = OutcomeOf(host::Status::kOk);
  busy.usage.cpu_time = std::chrono::milliseconds(5001);  // within the extra time
  host::Outcome in_time = OutcomeOf(host::Status::kOk, "hello\n");
  in_time.usage.cpu_time = std::chrono::seconds(5);
  const std::tuple<host::Outcome, int, Json, Json> cases[] = {
      {OutcomeOf(host::Status::kOk, "other"), 4, 0, nullptr},
      {Raised(), 11, 1, nullptr},
      {Refused(), 11, 1, nullptr},
      {Exited(3), 11, 3, nullptr},
      {Stopped(host::Status::kTimeout, "x"), 5, nullptr, nullptr},
      {Stopped(host::Status::kCpuLimit, "x"), 5, nullptr, nullptr},
      {busy, 5, nullptr, nullptr},
      {in_time, 3, 0, nullptr},
      {Stopped(host::Status::kMemoryLimit, "x"), 12, nullptr, 9},
      {Killed(host::KillCause::kSignal, "killed by SIGSEGV", SIGSEGV), 7, nullptr, 11},
      {Killed(host::KillCause::kSignal, "killed by SIGXFSZ", SIGXFSZ), 8, nullptr, 25},
      {Killed(host::KillCause::kSignal, "killed by SIGFPE", SIGFPE), 9, nullptr, 8},
      {Killed(host::KillCause::kSignal, "killed by SIGABRT", SIGABRT), 10, nullptr, 6},
      {Killed(host::KillCause::kSigkill, "killed by SIGKILL"), 12, nullptr, 9},
      {Killed(host::KillCause::kCancelled, "cancelled"), 13, nullptr, nullptr},
  };
  for (const auto& [outcome, status, code, signal] : cases) {
    outcomes_ = {outcome};
    const Json body = Submit({{"expected_output", "hello"}}).body;
    EXPECT_EQ(body["status"]["id"], status) << body;
    EXPECT_EQ(body["exit_code"], code) << body;
    EXPECT_EQ(body["exit_signal"], signal) << body;
  }
}

TEST_F(Judge0Test, HasTheLanguagesThatAreEnabled) {
  EnableLanguages();
  const Json languages = Ask(WebMethod::kGet, "/languages").body;
  ASSERT_EQ(languages.size(), 10u);
  EXPECT_EQ(languages[5], (Json{{"id", 46}, {"name", "Bash (5.2.15)"}}));
  EXPECT_EQ(languages[6], (Json{{"id", 54}, {"name", "C++ (GCC 12.2.0)"}}));
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages/{id}", "", "", {"54"}).body["compile_cmd"],
            "g++ {file}");
  outcomes_ = {Compiled(OutcomeOf(host::Status::kOk, "c++\nout\n", "warnerr\n"))};
  const Json body = Submit({{"language_id", 52}}).body;
  EXPECT_EQ(calls_.at(0)["language"], "cpp");
  EXPECT_EQ(calls_.at(0)["memory_limit"], 512 << 20);
  EXPECT_EQ(body["compile_output"], "c++\nwarn");
  EXPECT_EQ(body["stdout"], "out\n");
  EXPECT_EQ(body["stderr"], "err\n");
  EXPECT_EQ(body["time"], "0.025");
  EXPECT_EQ(body["memory"], 8 << 10);
  const std::tuple<host::Outcome, int, Json> cases[] = {
      {Exited(1), 6, ""},
      {Stopped(host::Status::kTimeout, "x"), 6, "Compilation time limit exceeded."},
      {Killed(host::KillCause::kCancelled, "cancelled"), 13, nullptr},
  };
  for (const auto& [outcome, status, output] : cases) {
    outcomes_ = {Compiled(outcome, true)};
    const Json failed = Submit({{"language_id", 54}}).body;
    EXPECT_EQ(failed["status"]["id"], status) << failed;
    EXPECT_EQ(failed["compile_output"], output) << failed;
    EXPECT_EQ(failed["stdout"], nullptr);
    EXPECT_EQ(failed["exit_code"], nullptr);
  }
  EXPECT_EQ(Submit({{"language_id", 60}}).body["language_id"][0],
            "language with id 60 doesn't exist: go is not enabled on this server; an operator "
            "enables it with execution.languages");
}

TEST_F(Judge0Test, StopsAProgramAtItsCpuTime) {
  Submit();
  Submit({{"cpu_time_limit", 0.5}, {"cpu_extra_time", 0.25}, {"wall_time_limit", 20}});
  Submit({{"cpu_time_limit", 1e-9}, {"cpu_extra_time", 0}});
  EXPECT_EQ(cpu_limits_, (std::vector<std::optional<std::chrono::milliseconds>>{
                             std::chrono::milliseconds(6000), std::chrono::milliseconds(750),
                             std::chrono::milliseconds(1)}));
  RunCode();
  RunPiston();
  EXPECT_EQ(cpu_limits_[3], std::nullopt);
  EXPECT_EQ(cpu_limits_[4], std::nullopt);
}

TEST_F(Judge0Test, KeepsASubmissionForItsOwner) {
  Hold();
  const Answered created = Submit({}, "");
  EXPECT_EQ(created.status, 201u);
  ASSERT_EQ(created.body.size(), 1u);
  const std::string token = created.body["token"];
  const auto show = [&](const char* caller, std::string query = "") {
    return Ask(WebMethod::kGet, "/submissions/{token}", "", std::move(query), {token}, caller);
  };
  const auto remove = [&](const char* caller) {
    return Ask(WebMethod::kDelete, "/submissions/{token}", "", "", {token}, caller);
  };
  EXPECT_EQ(show("ann").body["status"]["id"], 1);
  EXPECT_EQ(show("ann").body["time"], nullptr);
  EXPECT_EQ(remove("ann").status, 400u);
  EXPECT_EQ(show("bob").status, 404u);
  EXPECT_EQ(remove("bob").status, 404u);
  const Answered batch = Ask(WebMethod::kGet, "/submissions/batch", "",
                             "tokens=" + token + ",other&fields=status_id", {}, "bob");
  EXPECT_EQ(batch.body, (Json{{"submissions", {nullptr, nullptr}}}));
  Release();
  EXPECT_TRUE(tests::Eventually([&] { return show("ann").body["status"]["id"] != 1; }));
  EXPECT_EQ(show("ann", "base64_encoded=true").body["stdout"], host::EncodeBase64("hello\n"));
  EXPECT_EQ(show("bob").status, 404u);
  EXPECT_EQ(remove("ann").body["stdout"], host::EncodeBase64("hello\n"));
  EXPECT_EQ(show("ann").status, 404u);
}

TEST_F(Judge0Test, StopsARunWhoseClientWaitsNoLonger) {
  Hold();
  WebRequest request;
  request.body = Json{{"source_code", "1"}, {"language_id", 71}}.dump();
  request.query = "wait=true";
  const std::shared_ptr<Cancellation> peer_gone = request.peer_gone;
  const auto reply = Send(WebMethod::kPost, "/submissions/", std::move(request));
  WaitForCalls(1);
  EXPECT_FALSE(reply->Wait(seconds(0)));
  {
    std::lock_guard lock(mutex_);
    peer_gone->Cancel();
    came_.notify_all();
  }
  EXPECT_TRUE(reply->Wait());
}

TEST_F(Judge0Test, RefusesAsRailsDoes) {
  const std::pair<Json, const char*> wrong[] = {
      {{{"source_code", nullptr}}, "source_code"},
      {{{"source_code", ""}}, "source_code"},
      {{{"source_code", 5}}, "source_code"},
      {{{"language_id", nullptr}}, "language_id"},
      {{{"language_id", 50}}, "language_id"},
      {{{"language_id", 71.5}}, "language_id"},
      {{{"language_id", 1e300}}, "language_id"},
      {{{"cpu_time_limit", 0}}, "cpu_time_limit"},
      {{{"wall_time_limit", 301}}, "wall_time_limit"},
      {{{"memory_limit", 1e12}}, "memory_limit"},
      {{{"number_of_runs", 2}}, "number_of_runs"},
      {{{"enable_network", true}}, "enable_network"},
      {{{"callback_url", "http://127.0.0.1:1/"}}, "callback_url"},
      {{{"additional_files", "UEsDBA=="}}, "additional_files"},
      {{{"compiler_options", "-O"}}, "compiler_options"},
      {{{"command_line_arguments", std::string(513, 'a')}}, "command_line_arguments"},
      {{{"redirect_stderr_to_stdout", "maybe"}}, "redirect_stderr_to_stdout"},
  };
  for (const auto& [more, field] : wrong) {
    const Answered answer = Submit(more);
    EXPECT_EQ(answer.status, 422u) << more;
    EXPECT_TRUE(answer.body.contains(field)) << answer.body;
    EXPECT_TRUE(answer.body[field][0].is_string());
  }
  EXPECT_EQ(Submit({{"source_code", "no base64!"}}, "base64_encoded=true").status, 422u);
  EXPECT_EQ(Submit({}, "fields=stdout,nothing").body,
            (Json{{"error", "invalid fields: [nothing]"}}));
  EXPECT_EQ(Submit({}, "fields=%zz").status, 400u);
  EXPECT_TRUE(calls_.empty());
  EXPECT_EQ(Submit({{"language_id", "71"}}).status, 201u);  // a number in a text
}

TEST_F(Judge0Test, TakesBatches) {
  const Json good = {{"source_code", "1"}, {"language_id", 92}};
  const Answered created =
      Post("/submissions/batch", {{"submissions", {good, {{"source_code", "1"}}, 5, good}}});
  EXPECT_EQ(created.status, 201u);
  ASSERT_EQ(created.body.size(), 4u);
  EXPECT_TRUE(created.body[0].contains("token"));
  EXPECT_TRUE(created.body[1].contains("language_id"));
  EXPECT_TRUE(created.body[2].contains("error"));
  const std::string tokens = created.body[3]["token"].get<std::string>() + "," +
                             created.body[0]["token"].get<std::string>();
  const Json shown =
      Ask(WebMethod::kGet, "/submissions/batch", "", "tokens=" + tokens + "&fields=token").body;
  EXPECT_EQ(shown["submissions"][0]["token"], created.body[3]["token"]);
  EXPECT_EQ(shown["submissions"][1]["token"], created.body[0]["token"]);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", Json(21, good)}}).status, 400u);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", Json::array()}}).status, 400u);
  EXPECT_EQ(Post("/submissions/batch", {{"submissions", {5}}}).status, 422u);
  EXPECT_EQ(Ask(WebMethod::kGet, "/submissions/batch").status, 400u);
}

TEST_F(Judge0Test, TellsAboutItself) {
  EXPECT_EQ(Ask(WebMethod::kGet, "/about").body["version"], "1.13.1");
  EXPECT_EQ(Ask(WebMethod::kGet, "/statuses").body.size(), 14u);
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages").body[0],
            (Json{{"id", 71}, {"name", "Python (3.11.2)"}}));
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages/all").body[0]["is_archived"], false);
  EXPECT_EQ(Ask(WebMethod::kGet, "/languages/{id}", "", "", {"92"}).body["id"], 92);
  for (const char* id : {"50", "x", "71x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(Ask(WebMethod::kGet, "/languages/{id}", "", "", {id}).status, 404u) << id;
  }
  const Json config = Ask(WebMethod::kGet, "/config_info").body;
  EXPECT_EQ(config["enable_callbacks"], false);
  EXPECT_EQ(config["max_wall_time_limit"], 300.0);
  EXPECT_EQ(config["max_queue_size"], 5);
  EXPECT_EQ(Ask(WebMethod::kGet, "/system_info").body["Belljar"], "1.2.3");
}

TEST(ShellWordsTest, SplitsAsAShellDoes) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(judge0::ShellWords(""), Words());
  EXPECT_EQ(judge0::ShellWords("  a\tb\n"), (Words{"a", "b"}));
  EXPECT_EQ(judge0::ShellWords("'a b' \"c \\\" d\" e\\ f ''"), (Words{"a b", "c \" d", "e f", ""}));
  EXPECT_EQ(judge0::ShellWords("$HOME `id` 'open"), (Words{"$HOME", "`id`", "open"}));
  EXPECT_EQ(judge0::ShellWords("\\"), (Words{"\\"}));
}

std::shared_ptr<const judge0::Submission> MakeSubmission(std::string token, size_t size) {
  auto submission = std::make_shared<judge0::Submission>();
  submission->token = std::move(token);
  submission->source_code = std::string(size, 'x');
  return submission;
}

TEST(MemorySubmissionsTest, TheGreediestOwnerLosesTheOldest) {
  judge0::MemorySubmissions store(
      {.count = 4, .total = core::Bytes::Kibi(64), .lifetime = seconds(60)});
  store.Put("ann", MakeSubmission("a1", 10));
  for (const char* token : {"b1", "b2", "b3", "b4"}) store.Put("bob", MakeSubmission(token, 10));
  EXPECT_TRUE(store.Find("ann", "a1"));
  EXPECT_FALSE(store.Find("bob", "b1"));
  EXPECT_TRUE(store.Find("bob", "b4"));
  EXPECT_FALSE(store.Find("ann", "b4"));
  store.Put("bob", MakeSubmission("b4", 20));  // its next state
  EXPECT_TRUE(store.Find("bob", "b2"));
  EXPECT_EQ(store.Find("bob", "b4")->source_code.size(), 20u);
  store.Put("bob", MakeSubmission("b5", 62 << 10));
  EXPECT_TRUE(store.Find("bob", "b5"));
  EXPECT_FALSE(store.Find("bob", "b4"));
  store.Remove("ann", "b5");
  EXPECT_TRUE(store.Find("bob", "b5"));
  store.Remove("bob", "b5");
  EXPECT_FALSE(store.Find("bob", "b5"));
}

TEST(MemorySubmissionsTest, ForgetsAfterATime) {
  judge0::MemorySubmissions store({.lifetime = std::chrono::milliseconds(1)});
  store.Put("ann", MakeSubmission("a1", 10));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // sleeps: longer than that
  EXPECT_FALSE(store.Find("ann", "a1"));
}

}  // namespace
}  // namespace belljar::server::compatible::judge0_test
