// Sessions as their callers meet them, with real sandboxes: execute_code in one, and the tools that
// open, list, close, branch, roll back and compare them, and their files.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "engine/outside/probe.h"
#include "server/tools/output_schemas.h"
#include "tests/server/schema_check.h"
#include "tests/server/tools_support.h"
#include "tests/support/support.h"

namespace belljar::server::tools::session_tools_test {
namespace {

using nlohmann::json;
using std::chrono::minutes;

class SessionTools : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!outside::ProbeNamespaces()) return;
    ExecutionConfig execution;
    execution.profiles = {"basic", "filesystem"};
    execution.spares = 1;
    SessionsConfig sessions;
    sessions.per_owner = 4;
    sessions.checkpoints = 4;
    SessionRegistry::Clocks clocks;
    clocks.steady = [] { return std::chrono::steady_clock::now() + passed_.load(); };
    tools_ = new tests::Tools(execution, {}, {}, {}, sessions, clocks);
  }
  static void TearDownTestSuite() { delete std::exchange(tools_, nullptr); }

  void SetUp() override {
    if (!tools_) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  }
  void TearDown() override {
    if (!tools_) return;
    for (const char* owner : {"local", "team-b"}) {
      for (const auto& each : tools_->sessions().List(owner)) {
        (void)tools_->sessions().Close(owner, each.session->id(), "the test is over");
      }
    }
    tools_->books().Take();
    tools_->books().TakeChanges();
  }

  // Also checks the object against the schema of full answers.
  static tests::Answered Call(const std::string& tool, json arguments, const Caller& caller = {}) {
    tests::Answered answer = tools_->Call(tool, std::move(arguments), caller);
    const json schemas = SessionSchemas();
    if (schemas.contains(tool) && !answer.object.is_null()) {
      for (const std::string& error : tests::SchemaErrors(schemas[tool], answer.object)) {
        ADD_FAILURE() << error;
      }
      for (const auto& [key, value] : answer.object.items()) {
        const bool is_known = schemas[tool]["properties"].contains(key);
        EXPECT_TRUE(is_known) << tool << ": " << key;
      }
    }
    return answer;
  }
  static tests::Answered Cell(const std::string& session, const std::string& code,
                              json more = json::object()) {
    more["code"] = code;
    more["session"] = session;
    return Call("execute_code", std::move(more));
  }
  static std::string Open(json arguments = json::object(), const Caller& caller = {}) {
    const tests::Answered answer = Call("open_session", std::move(arguments), caller);
    EXPECT_FALSE(answer.is_error) << answer.message;
    return answer.is_error ? "" : answer.object["session"].get<std::string>();
  }
  static json Value(const std::string& session, const std::string& code) {
    const tests::Answered answer = Cell(session, code);
    return answer.object.is_object() ? answer.object["result"] : json(answer.message);
  }

  static inline tests::Tools* tools_ = nullptr;
  static inline std::atomic<std::chrono::minutes> passed_{minutes(0)};
};

// --- cells --------------------------------------------------------------------------------------

TEST_F(SessionTools, ACallOpensOneAndOthersGoOn) {
  const tests::Answered first = Cell("new", "x = 40\nprint('hi')");
  ASSERT_FALSE(first.is_error);
  const std::string id = first.object["session"]["id"];
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(first.object["session"]["cell"], 1);
  EXPECT_EQ(first.text, "stdout:\nhi\n\n[belljar: session " + id + "]");
  const tests::Answered second = Cell(id, "x + 2");
  EXPECT_EQ(second.object["result"], 42);
  EXPECT_EQ(second.text, "value:\n42") << "what is expected is not said";
  EXPECT_EQ(second.object["session"], (json{{"id", id}, {"cell", 2}, {"checkpoint", "c1"}}));
  EXPECT_EQ(Call("execute_code", {{"code", "x"}}).object["status"], "exception")
      << "a call without a session has nothing of it";
}

TEST_F(SessionTools, TheResultHasTheIdOfASessionThatWasOpened) {
  for (const auto& [tool, arguments] :
       {std::pair("open_session", json::object()),
        std::pair("execute_code", json{{"code", "1"}, {"session", "new"}})}) {
    ToolCall call;
    call.caller.name = "local";
    call.arguments = arguments;
    const core::Result<ToolResult> result = tools_->Get(tool).Call(call);
    ASSERT_TRUE(result);
    ASSERT_NE(result->session, "") << tool;
    call.arguments = {{"code", "1"}, {"session", result->session}};
    call.form = ToolCall::Form::kOutcome;
    const core::Result<ToolResult> cell = tools_->Get("execute_code").Call(call);
    ASSERT_TRUE(cell);
    EXPECT_EQ(cell->session, "");
    ASSERT_TRUE(cell->outcome) << cell->text;
    EXPECT_EQ(cell->outcome->session->id, result->session);
  }
}

TEST_F(SessionTools, TheFullObjectHasItToo) {
  const tests::Answered answer = Cell("new", "1", {{"detail", "full"}});
  EXPECT_EQ(answer.object["session"]["cell"], 1);
  EXPECT_EQ(answer.object["session"]["restored"], false);
  EXPECT_FALSE(
      Call("execute_code", {{"code", "1"}, {"detail", "full"}}).object.contains("session"));
  const json schema = OutcomeSchema();
  for (const std::string& error : tests::SchemaErrors(schema, answer.object)) {
    ADD_FAILURE() << error;
  }
}

TEST_F(SessionTools, AStoppedCellCostsTheCell) {
  const std::string id = Open();
  EXPECT_EQ(Value(id, "x = 1\nx"), 1);
  const tests::Answered stopped = Cell(id, "x = 2\nwhile True: pass", {{"timeout", 0.3}});
  EXPECT_EQ(stopped.object["status"], "timeout");
  EXPECT_EQ(stopped.object["session"]["restored"], true);
  EXPECT_HOLDS(stopped.text,
               "\n\n[belljar: the cell was stopped; the session goes on as it was before, from "
               "checkpoint c1]");
  EXPECT_EQ(Value(id, "x"), 1);
}

TEST_F(SessionTools, WhatIsFixedCannotBeChangedByACell) {
  const std::string id = Open({{"memory_limit", "64m"}, {"profile", "basic"}});
  EXPECT_EQ(Cell(id, "1", {{"memory_limit", "64m"}, {"profile", "basic"}, {"timeout", 2}})
                .object["result"],
            1);
  EXPECT_EQ(Cell(id, "1", {{"memory_limit", "128m"}}).message,
            "execute_code: memory_limit is fixed when a session is opened, and this one has 64m; "
            "omit it, or open another session with it. Nothing was run.");
  EXPECT_HOLDS(Cell(id, "1", {{"profile", "filesystem"}}).message,
               "profile is fixed when a session is opened, and this one has basic");
  EXPECT_HOLDS(Cell(id, "1", {{"allowed_imports", {"math"}}}).message,
               "allowed_imports is fixed when a session is opened");
  EXPECT_HOLDS(Cell(id, "1", {{"allowed_domains", json::array()}}).message,
               "allowed_domains is fixed when a session is opened");
  EXPECT_EQ(Cell(id, "1", {{"use_container", true}}).is_error, true);
  EXPECT_HOLDS(Cell(id, "open('a')").text,
               "A session keeps its profile: open another with \"profile\": \"filesystem\".");
}

TEST_F(SessionTools, ImportsOfASessionStayNarrowed) {
  const std::string id = Open({{"allowed_imports", {"math"}}});
  EXPECT_EQ(Value(id, "import math\nmath.floor(1.5)"), 1);
  EXPECT_EQ(Cell(id, "import json").object["status"], "refused");
}

TEST_F(SessionTools, ACellWhileOneRunsWaitsOrIsToldBusy) {
  const std::string id = Open();
  std::atomic<bool> has_started = false;
  std::thread other([&] {
    ToolCall call;
    call.arguments = {{"code",
                       "import time\ntry:\n    print('on', flush=True)\n"
                       // sleeps: until it is interrupted
                       "    time.sleep(1000)\nexcept KeyboardInterrupt:\n    x = 7"},
                      {"session", id}};
    call.on_output = [&](std::string_view) { has_started = true; };
    EXPECT_FALSE(tools_->CallWith("execute_code", call).is_error);
  });
  ASSERT_TRUE(tests::Eventually([&] { return has_started.load(); }));
  EXPECT_EQ(Cell(id, "1", {{"wait", 0}}).message,
            "execute_code: session \"" + id +
                "\" is busy with another call; send a \"wait\" of more than 0, or call again "
                "later.");
  EXPECT_HOLDS(Cell(id, "1", {{"wait", 0.3}}).message,
               "was busy with other calls for the 300 milliseconds that this one could wait");
  EXPECT_EQ(Call("list_sessions", nullptr).object["sessions"][0]["busy"], true);
  auto waiting = std::async(std::launch::async, [&] { return Value(id, "x"); });
  EXPECT_NE(waiting.wait_for(std::chrono::milliseconds(100)), std::future_status::ready);
  EXPECT_FALSE(Call("close_session", {{"session", id}, {"interrupt", true}}).is_error);
  EXPECT_EQ(waiting.get(), 7);
  other.join();
}

TEST_F(SessionTools, ARunningCellCanBeInterruptedOrClosed) {
  const std::string id = Open();
  EXPECT_EQ(Value(id, "x = 1\nx"), 1);
  const auto run = [&](const std::string& code, const json& close) {
    std::atomic<bool> has_started = false;
    tests::Answered answer;
    std::thread other([&] {
      ToolCall call;
      call.arguments = {{"code", "print('on', flush=True)\n" + code}, {"session", id}};
      call.on_output = [&](std::string_view) { has_started = true; };
      answer = tools_->CallWith("execute_code", call);
    });
    EXPECT_TRUE(tests::Eventually([&] { return has_started.load(); }));
    EXPECT_FALSE(Call("close_session", close).is_error);
    other.join();
    return answer;
  };
  const json interrupt = {{"session", id}, {"interrupt", true}};
  EXPECT_EQ(run("x = 2\nwhile True: x += 1", interrupt).object["error"]["type"],
            "KeyboardInterrupt");
  EXPECT_GT(Value(id, "x"), 2) << "what it did stays";
  EXPECT_FALSE(run("try:\n    while x >= 0:\n        x += 1\nexcept KeyboardInterrupt:\n    x = 7",
                   interrupt)
                   .is_error);
  EXPECT_EQ(Value(id, "x"), 7) << "it may be caught";
  EXPECT_EQ(Call("close_session", {{"session", id}, {"interrupt", true}}).object["interrupted"],
            false);
  const tests::Answered closed = run("while True: pass", {{"session", id}});
  EXPECT_TRUE(closed.is_error);
  EXPECT_HOLDS(closed.message, "session \"" + id + "\" was closed at ");
  EXPECT_HOLDS(closed.message, " UTC: by close_session; what it held is lost.");
}

TEST_F(SessionTools, ACancelledOpeningLeavesNone) {
  const auto cancellation = std::make_shared<Cancellation>();
  ToolCall call;
  call.arguments = {{"code", "print('on', flush=True)\nwhile True: pass"}, {"session", "new"}};
  call.cancellation = cancellation;
  call.on_output = [&](std::string_view) { cancellation->Cancel(); };
  (void)tools_->CallWith("execute_code", call);
  EXPECT_TRUE(tools_->sessions().List("local").empty());
}

TEST_F(SessionTools, ACancelledCallStopsWaiting) {
  const std::string id = Open({{"profile", "filesystem"}});
  std::atomic<bool> has_started = false;
  std::thread other([&] {
    ToolCall call;
    call.arguments = {{"code", "print('on', flush=True)\n" BELLJAR_UNTIL_KILLED},
                      {"timeout", 300},
                      {"session", id}};
    call.on_output = [&](std::string_view) { has_started = true; };
    (void)tools_->CallWith("execute_code", call);
  });
  ASSERT_TRUE(tests::Eventually([&] { return has_started.load(); }));
  for (const char* tool : {"checkpoint", "session_files"}) {
    const auto cancellation = std::make_shared<Cancellation>();
    ToolCall call;
    call.arguments = {{"session", id}};
    call.cancellation = cancellation;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // sleeps: it waits by then
      cancellation->Cancel();
    });
    EXPECT_EQ(tools_->CallWith(tool, call).message,
              std::string(tool) + ": the call was cancelled.");
    canceller.join();
  }
  EXPECT_EQ(Call("list_sessions", nullptr).object["sessions"][0]["busy"], true);
  Call("close_session", {{"session", id}, {"interrupt", true}});
  other.join();
}

// --- whose they are, and how many ---------------------------------------------------------------

TEST_F(SessionTools, ForOthersItDoesNotExist) {
  const std::string id = Open();
  Caller other;
  other.name = "team-b";
  const std::string nothing = std::string(32, '0');
  const struct {
    const char* tool;
    json arguments;
  } kCalls[] = {
      {"execute_code", {{"code", "1"}}},
      {"close_session", json::object()},
      {"checkpoint", json::object()},
      {"session_files", json::object()},
  };
  for (const auto& each : kCalls) {
    const auto message = [&](const std::string& session) {
      json arguments = each.arguments;
      arguments["session"] = session;
      std::string text = Call(each.tool, std::move(arguments), other).message;
      for (size_t at; (at = text.find(session)) != std::string::npos;) text.replace(at, 32, "ID");
      return text;
    };
    EXPECT_HOLDS(message(id), std::string(each.tool) + ": there is no session \"ID\"");
    EXPECT_EQ(message(id), message(nothing)) << each.tool;
  }
  EXPECT_EQ(Call("list_sessions", nullptr, other).object["sessions"], json::array());
  const std::string own = Open(json::object(), other);
  EXPECT_HOLDS(
      Call("checkpoint", {{"session", own}, {"action", "compare"}, {"other", id}}, other).message,
      "there is no session \"" + id + "\"");
}

TEST_F(SessionTools, TooMany) {
  for (int i = 0; i < 3; ++i) Open();
  const std::string id = Open();
  const std::string limit =
      ": the limit is 4 open sessions for each caller, and 4 are open: close_session closes one, "
      "and list_sessions lists them.";
  EXPECT_EQ(Call("open_session", json::object()).message,
            "open_session: no session was opened" + limit.substr(0, 2) + limit.substr(2));
  EXPECT_HOLDS(Cell("new", "1").message, limit.substr(2));
  EXPECT_EQ(Call("checkpoint", {{"session", id}, {"action", "branch"}}).message,
            "checkpoint" + limit);
  EXPECT_FALSE(Call("close_session", {{"session", id}}).is_error);
  Open();
}

TEST_F(SessionTools, AnExpiredOneIsToldOf) {
  const std::string id = Open();
  passed_ = passed_.load() + minutes(31);
  const std::string told = Cell(id, "1").message;
  EXPECT_HOLDS(told, "execute_code: session \"" + id + "\" was closed at ");
  EXPECT_HOLDS(told, " UTC: nobody had used it for 30 minutes; what it held is lost. Nothing was");
  EXPECT_EQ(Call("list_sessions", nullptr).object["sessions"], json::array());
}

TEST_F(SessionTools, AListSaysWhatThereIs) {
  const std::string id = Open({{"profile", "filesystem"}});
  Cell(id, "x = 1");
  const json listed = Call("list_sessions", json::object()).object["sessions"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["session"], id);
  EXPECT_EQ(listed[0]["profile"], "filesystem");
  EXPECT_EQ(listed[0]["cells"], 1);
  EXPECT_EQ(listed[0]["busy"], false);
  EXPECT_GT(listed[0]["closes_in"], 1700);
}

TEST_F(SessionTools, ItIsLogged) {
  const std::string id = Open();
  Cell(id, "1");
  Call("checkpoint", {{"session", id}, {"action", "roll_back"}});
  Call("close_session", {{"session", id}});
  EXPECT_EQ(tools_->books().TakeChanges(),
            (std::vector<std::string>{"opened local " + id + " ", "rolled_back local " + id + " ",
                                      "closed local " + id + " by close_session"}));
  EXPECT_EQ(tools_->books().Take().size(), 1u) << "the cell";
}

// --- states -------------------------------------------------------------------------------------

TEST_F(SessionTools, RollsBack) {
  const std::string id = Open();
  EXPECT_EQ(Value(id, "x = [1]\nx"), json::array({1}));
  const json kept = Call("checkpoint", {{"session", id}, {"label", "one"}}).object;
  Cell(id, "x.append(2)");
  Cell(id, "x.append(3)");
  Call("checkpoint", {{"session", id}, {"action", "roll_back"}});
  EXPECT_EQ(Value(id, "x"), json::array({1, 2}));
  Call("checkpoint",
       {{"session", id}, {"action", "roll_back"}, {"checkpoint", kept["checkpoint"]}});
  EXPECT_EQ(Value(id, "x"), json::array({1}));
  for (int i = 0; i < 6; ++i) Cell(id, "x.append(0)");
  const json listed = Call("checkpoint", {{"session", id}, {"action", "list"}}).object;
  EXPECT_LE(listed["checkpoints"].size(), 4u);
  const std::string gone =
      Call("checkpoint", {{"session", id}, {"action", "roll_back"}, {"checkpoint", "c0"}}).message;
  EXPECT_HOLDS(gone, "checkpoint: c0 is no longer held: it was dropped at ");
  EXPECT_HOLDS(
      Call("checkpoint", {{"session", id}, {"action", "roll_back"}, {"checkpoint", "c99"}}).message,
      "checkpoint: there is no \"c99\" in this session; held are ");
}

TEST_F(SessionTools, Branches) {
  const std::string id = Open();
  Cell(id, "x = [1]");
  const json branches =
      Call("checkpoint", {{"session", id}, {"action", "branch"}, {"count", 3}}).object["branches"];
  ASSERT_EQ(branches.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Value(branches[i], "x.append(" + std::to_string(i) + ")\nx"), (json{1, i}));
  }
  EXPECT_EQ(Value(id, "x"), json::array({1}));
  const json listed = Call("list_sessions", nullptr).object["sessions"];
  EXPECT_EQ(listed[3]["branch_of"], id);
  Call("close_session", {{"session", id}});
  EXPECT_EQ(Value(branches[0], "x"), (json{1, 0})) << "it outlives what it came from";
}

TEST_F(SessionTools, Compares) {
  const std::string id = Open();
  Cell(id, "x = 1\ngone = 2");
  const std::string before = Call("checkpoint", {{"session", id}}).object["checkpoint"];
  Cell(id, "x = 5\ny = [1]\ndel gone");
  const json since =
      Call("checkpoint", {{"session", id}, {"action", "compare"}, {"checkpoint", before}}).object;
  std::map<std::string, json> by_name;
  for (const json& each : since["variables"]) by_name[each["name"]] = each;
  EXPECT_EQ(by_name["x"]["change"], "changed");
  EXPECT_EQ(by_name["x"]["before"]["repr"], "1");
  EXPECT_EQ(by_name["x"]["after"]["repr"], "5");
  EXPECT_EQ(by_name["y"]["change"], "added");
  EXPECT_EQ(by_name["gone"]["change"], "removed");
  EXPECT_EQ(since["cells"], (json{1, 2}));
  const std::string branch =
      Call("checkpoint", {{"session", id}, {"action", "branch"}}).object["branches"][0];
  Cell(branch, "x = 6");
  const json other =
      Call("checkpoint", {{"session", id}, {"action", "compare"}, {"other", branch}}).object;
  ASSERT_EQ(other["variables"].size(), 1u);
  EXPECT_EQ(other["variables"][0]["before"]["repr"], "5");
  EXPECT_EQ(other["variables"][0]["after"]["repr"], "6");
}

TEST_F(SessionTools, WrongStates) {
  const std::string id = Open();
  const auto message = [&](json arguments) {
    arguments["session"] = id;
    return Call("checkpoint", std::move(arguments)).message;
  };
  EXPECT_HOLDS(message({{"action", "rollback"}}),
               "action is \"rollback\"; it is one of keep, list, roll_back, branch, compare; did "
               "you mean \"roll_back\"?");
  EXPECT_EQ(message({{"action", "list"}, {"label", "x"}}),
            "checkpoint: label does not belong to action list; omit it. Nothing was run.");
  EXPECT_HOLDS(message({{"action", "compare"}}), "compare needs checkpoint or other, and not both");
  EXPECT_HOLDS(message({{"action", "branch"}, {"count", 1.5}}), "count must be a whole number");
  EXPECT_HOLDS(message({{"action", "branch"}, {"count", 5}}), "count is 5; the maximum is 4");
  EXPECT_HOLDS(message({{"action", "roll_back"}}), "only 0 have run");
}

// --- files --------------------------------------------------------------------------------------

TEST_F(SessionTools, FilesAreOfTheState) {
  const std::string id = Open({{"profile", "filesystem"}});
  const auto files = [&](const std::string& session) {
    std::string names;
    const json listed = Call("session_files", {{"session", session}}).object["files"];
    for (const json& file : listed) {
      names += file["path"].get<std::string>() + " " + file["size"].dump() + ";";
    }
    return names;
  };
  EXPECT_EQ(files(id), "");
  Call(
      "session_files",
      {{"session", id},
       {"action", "write"},
       {"files", {{{"path", "d/a.txt"}, {"text", "hello"}}, {{"path", "b"}, {"base64", "AAEC"}}}}});
  EXPECT_EQ(files(id), "b 3;d/a.txt 5;");
  EXPECT_EQ(Value(id, "open('d/a.txt').read()"), "hello");
  Cell(id, "open('c', 'w').write('by the cell')");
  const tests::Answered read =
      Call("session_files", {{"session", id}, {"action", "read"}, {"path", "c"}});
  EXPECT_EQ(read.text, "by the cell");
  EXPECT_EQ(read.object["text"], "by the cell");
  const std::string uri =
      Call("session_files", {{"session", id}, {"action", "read"}, {"path", "b"}}).object["uri"];
  EXPECT_EQ(*tools_->resources().Find("local", uri)->bytes, std::string("\0\1\2", 3));
  EXPECT_FALSE(tools_->resources().Find("team-b", uri));
  const std::string other = Open({{"profile", "filesystem"}});
  Call("session_files", {{"session", id}, {"action", "copy"}, {"path", "d"}, {"to", other}});
  EXPECT_EQ(files(other), "d/a.txt 5;");
  Call("session_files", {{"session", id}, {"action", "delete"}, {"path", "c"}});
  EXPECT_EQ(files(id), "b 3;d/a.txt 5;");
  Cell(id, "open('b', 'w').write('')");
  Call("checkpoint", {{"session", id}, {"action", "roll_back"}});
  EXPECT_EQ(files(id), "b 3;d/a.txt 5;");
}

TEST_F(SessionTools, ExportsATarFile) {
  const std::string id = Open({{"profile", "filesystem"}});
  const auto write = [&](const std::string& path, const std::string& text) {
    const json files = {{{"path", path}, {"text", text}}};
    EXPECT_FALSE(
        Call("session_files", {{"session", id}, {"action", "write"}, {"files", files}}).is_error);
  };
  const auto exported = [&](json arguments) {
    arguments["session"] = id;
    arguments["action"] = "export";
    return Call("session_files", std::move(arguments));
  };
  EXPECT_HOLDS(exported(json::object()).message, "there is no file \"\" in this session");
  write("d/a.txt", "hello");
  write("b", "");
  Cell(id, "import os\nos.symlink('/etc/passwd', 'link')\nopen('a\\nb', 'w').close()");
  write(std::string(101, 'n'), "a name of more than 100 bytes, without a slash");
  const tests::Answered all = exported(json::object());
  EXPECT_EQ(all.object["count"], 2);
  EXPECT_EQ(all.object["left_out"], 2);
  EXPECT_EQ(
      all.text,
      "workspace.tar, 2560 bytes, with 2 files, without 2 whose names a tar file cannot have");
  const std::optional<Resource> kept = tools_->resources().Find("local", all.object["uri"]);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->media_type, "application/x-tar");
  ASSERT_EQ(kept->bytes->size(), 5 * 512u);
  EXPECT_STREQ(kept->bytes->data(), "b");
  EXPECT_EQ(kept->bytes->substr(257, 5), "ustar");
  EXPECT_STREQ(kept->bytes->data() + 512, "d/a.txt");
  EXPECT_STREQ(kept->bytes->data() + 1024, "hello");
  EXPECT_FALSE(tools_->resources().Find("team-b", all.object["uri"]));
  EXPECT_EQ(exported({{"path", "d/"}}).text, "d.tar, 2048 bytes, with 1 file");
  for (const char* name : {"x", "y"}) {
    Cell(id, "open('" + std::string(name) + "', 'wb').write(bytes(9 << 20))");
  }
  const std::string large = exported(json::object()).message;
  EXPECT_HOLDS(large, "session_files: the archive would have 18878");
  EXPECT_HOLDS(large, " bytes, and the limit is 16m: export one folder at a time, with path.");
  EXPECT_FALSE(exported({{"path", "x"}}).is_error);
}

// The sealed worker does.
TEST_F(SessionTools, ReadsNoArchives) {
  const std::string id = Open({{"profile", "filesystem"}});
  constexpr char kZip[] =  // of zipfile: {"d/a.txt": "hello"}
      "UEsDBBQAAAAAAAAAIQCGphA2BQAAAAUAAAAHAAAAZC9hLnR4dGhlbGxvUEsBAhQDFAAAAAAAAAAhAIamEDYFAAAABQAA"
      "AAcAAAAAAAAAAAAAAIABAAAAAGQvYS50eHRQSwUGAAAAAAEAAQA1AAAAKgAAAAAA";
  Call("session_files",
       {{"session", id}, {"action", "write"}, {"files", {{{"path", "a.zip"}, {"base64", kZip}}}}});
  EXPECT_EQ(Value(id,
                  "import zipfile\nzipfile.ZipFile('a.zip').extractall()\n"
                  "open('d/a.txt').read()"),
            "hello");
  EXPECT_TRUE(
      Call("session_files", {{"session", id}, {"action", "import"}, {"path", "a.zip"}}).is_error);
}

TEST_F(SessionTools, WrongFiles) {
  const std::string id = Open({{"profile", "filesystem"}});
  const auto message = [&](json arguments) {
    arguments["session"] = id;
    return Call("session_files", std::move(arguments)).message;
  };
  EXPECT_EQ(message({{"action", "read"}, {"path", "no"}}),
            "session_files: there is no file \"no\" in this session; action list shows its files.");
  EXPECT_HOLDS(message({{"action", "read"}}), "action read needs path");
  EXPECT_HOLDS(message({{"action", "read"}, {"path", "a"}, {"to", "b"}}),
               "to does not belong to action read; omit it");
  EXPECT_TRUE(message({{"action", "delete"}, {"path", "../a"}}).size() > 0);
  EXPECT_HOLDS(message({{"action", "write"}, {"files", {{{"path", "../a"}, {"text", ""}}}}}),
               "../a");
  const std::string basic = Open({{"profile", "basic"}});
  EXPECT_EQ(Call("session_files", {{"session", basic}}).message,
            "session_files: session: profile basic has no workspace; use one that has: "
            "filesystem.");
}

// --- memory of all ----------------------------------------------------------------------------

TEST(SessionMemory, OfAllTogetherIsLimited) {
  if (!outside::ProbeNamespaces()) BELLJAR_SKIP_OR_FAIL("needs user namespaces");
  SessionsConfig sessions;
  sessions.total_memory = core::Bytes{1};
  tests::Tools tools(ExecutionConfig{}, {}, {}, {}, sessions);
  const std::string id = tools.Call("open_session", json::object()).object["session"];
  EXPECT_EQ(tools.Call("open_session", json::object()).message,
            "open_session: no session was opened: the sessions of this server have reached the "
            "limit of 1 for the memory of all together: close one of yours with close_session, or "
            "call again later.");
  EXPECT_HOLDS(tools.Call("checkpoint", {{"session", id}, {"action", "branch"}}).message,
               "checkpoint: the sessions of this server have reached the limit of 1 ");
  EXPECT_FALSE(tools.Call("open_session", json::object(), {.name = "team-b"}).is_error);
  EXPECT_HOLDS(tools.Call("execute_code", {{"code", "1"}, {"session", id}}).message,
               "the server's memory for sessions was full, and nobody had used it for ");
}

// --- off ----------------------------------------------------------------------------------------

TEST(NoSessions, AServerWithoutThemHasNoneOfIt) {
  SessionsConfig off;
  off.enabled = false;
  tests::Tools tools(ExecutionConfig{}, {}, {}, {}, off);
  EXPECT_EQ(tools.all().size(), 4u);
  const json schema = tools.Get("execute_code").description().input_schema;
  EXPECT_FALSE(schema["properties"].contains("session"));
  EXPECT_FALSE(schema["properties"].contains("wait"));
  EXPECT_EQ(tools.Get("execute_code").description().description.find("session"), std::string::npos);
  EXPECT_EQ(tools.Call("execute_code", {{"code", "1"}, {"session", "new"}}).message,
            "execute_code: session: this server has no sessions; an operator enables them with "
            "sessions.enabled. Nothing was run.");
}

}  // namespace
}  // namespace belljar::server::tools::session_tools_test
