// DockerEngine against engines that are broken, gone, hostile or old.
#include "container/engines/docker_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "container/engines/attached_output.h"
#include "tests/container/fake_engine.h"
#include "tests/support/support.h"

namespace belljar::container::engines::docker_engine_test {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

const std::string kId(64, 'a');
constexpr char kVersion[] = R"({"Version":"20.10.24","ApiVersion":"1.41","MinAPIVersion":"1.12",)"
                            R"("Components":[{"Name":"Engine"}]})";

bool IsFor(const tests::FakeRequest& request, std::string_view part) {
  return request.line.find(part) != std::string::npos;
}

// Knows its version; the rest is the test's.
tests::FakeEngine::Answer After(tests::FakeEngine::Answer answer, std::string version = kVersion) {
  return [answer = std::move(answer), version = std::move(version)](
             const tests::FakeRequest& request, int connection) {
    return IsFor(request, "/version") ? tests::HttpAnswer(200, version)
                                      : answer(request, connection);
  };
}

tests::FakeEngine::Answer Always(int status, std::string body) {
  return After([=](const tests::FakeRequest&, int) { return tests::HttpAnswer(status, body); });
}

DockerEngine EngineAt(const std::string& socket, milliseconds timeout = milliseconds(20'000)) {
  return DockerEngine({.socket = socket, .timeout = timeout});
}

template <typename T>
std::string ErrorOf(const core::Result<T>& result) {
  return result ? "no error" : result.error().ToString();
}

// --- not there ------------------------------------------------------------------------------

TEST(DockerEngineReach, ASocketThatIsMissing) {
  DockerEngine engine = EngineAt("/nonexistent/docker.sock");
  EXPECT_THAT(ErrorOf(engine.Check()),
              AllOf(HasSubstr("/nonexistent/docker.sock"), HasSubstr("ENOENT"),
                    HasSubstr("install and start Docker or Podman")));
}

TEST(DockerEngineReach, ASocketThatNobodyListensAt) {
  std::string path;
  const tests::TemporaryFolder folder;
  path = folder.path() + "/docker.sock";
  const core::UniqueFd bound(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr address{AF_UNIX, {}};
  std::string bytes(reinterpret_cast<char*>(&address), sizeof address.sa_family);
  bytes += path + '\0';
  ASSERT_EQ(bind(bound.get(), reinterpret_cast<const sockaddr*>(bytes.data()),
                 static_cast<socklen_t>(bytes.size())),
            0);
  EXPECT_THAT(ErrorOf(EngineAt(path).Check()), HasSubstr("the engine has stopped; start it"));
}

TEST(DockerEngineReach, AFileThatIsNoSocket) {
  const tests::TemporaryFolder folder;
  const std::string path = folder.Write("docker.sock", "");
  EXPECT_THAT(ErrorOf(EngineAt(path).Check()), HasSubstr("ECONNREFUSED"));
}

TEST(DockerEngineReach, ASocketOfOthers) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("only root can become somebody else");
  const tests::FakeEngine fake(Always(200, "{}"));
  ASSERT_EQ(chmod(fake.socket().c_str(), 0600), 0);
  ASSERT_TRUE(EngineAt(fake.socket()).Check());
  const tests::Death death = tests::InChild([&] {
    if (setuid(65534) != 0) return 2;
    const std::string error = ErrorOf(EngineAt(fake.socket()).Check());
    return error.find("this user may not use it") != error.npos ? 0 : 1;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

TEST(DockerEngineReach, APathTooLongForASocket) {
  EXPECT_THAT(ErrorOf(EngineAt("/" + std::string(200, 'x')).Check()), HasSubstr("ENAMETOOLONG"));
}

TEST(DockerEngineReach, WithoutDescriptorsItFailsAndSaysSo) {
  if (tests::Sanitized()) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const tests::FakeEngine fake(Always(200, "{}"));
  const tests::Death death = tests::InChild([&] {
    DockerEngine engine = EngineAt(fake.socket());
    const core::UniqueFd lowest(dup(0));
    // As many more as a call gets by with, at some point.
    for (rlim_t more = 0; more < 16; ++more) {
      const rlimit few{static_cast<rlim_t>(lowest.get()) + more, 1024};
      if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
      const core::Result<EngineFacts> facts = engine.Check();
      if (facts) return more > 0 ? 0 : 3;
      if (facts.error().error_number != EMFILE) return 4;
    }
    return 5;
  });
  EXPECT_EQ(death, tests::Exited(0));
}

// --- breaks ---------------------------------------------------------------------------------

TEST(DockerEngineBreaks, SilenceHasAnEnd) {
  std::atomic<bool> over = false;
  const tests::FakeEngine fake(After([&](const tests::FakeRequest&, int) {
    over.wait(false);
    return std::string();
  }));
  DockerEngine engine = EngineAt(fake.socket(), milliseconds(100));
  const core::Result<EngineFacts> facts = engine.Check();
  over = true;
  over.notify_all();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().error_number, ETIMEDOUT);
  EXPECT_THAT(facts.error().ToString(), HasSubstr("has not answered within 0.1 s"));
}

// A little now and then is no answer either: the time is for all of it.
TEST(DockerEngineBreaks, DrippingHasAnEnd) {
  std::atomic<bool> over = false;
  const tests::FakeEngine fake(After([&](const tests::FakeRequest&, int connection) {
    const std::string answer = tests::HttpAnswer(200, std::string(100'000, ' '));
    for (size_t i = 0; i < answer.size() && !over; ++i) {
      if (send(connection, &answer[i], 1, MSG_NOSIGNAL) != 1) break;
      usleep(10'000);  // sleeps: it drips
    }
    return std::string();
  }));
  const core::Result<EngineFacts> facts = EngineAt(fake.socket(), milliseconds(200)).Check();
  over = true;
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().error_number, ETIMEDOUT);
}

TEST(DockerEngineBreaks, StoppedInFlight) {
  for (const std::string& answer :
       {std::string(), std::string("HTTP/1.1 200 OK\r\nContent-Le"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Id\":")}) {
    const tests::FakeEngine fake(After([&](const tests::FakeRequest&, int) { return answer; }));
    const core::Result<EngineFacts> facts = EngineAt(fake.socket()).Check();
    ASSERT_FALSE(facts);
    EXPECT_EQ(facts.error().error_number, ECONNRESET) << answer;
    EXPECT_THAT(facts.error().ToString(), HasSubstr("start it and try again"));
  }
}

TEST(DockerEngineBreaks, WhatIsNoEngineIsCalledSo) {
  const tests::FakeEngine fake(
      [](const tests::FakeRequest&, int) { return "SSH-2.0-OpenSSH_9.2\r\n\r\n"; });
  EXPECT_THAT(ErrorOf(EngineAt(fake.socket()).Check()),
              HasSubstr("does not speak the Docker Engine API"));
}

TEST(DockerEngineBreaks, AnswersAreBounded) {
  const tests::FakeEngine fake(Always(200, "{\"a\":\"" + std::string(2 << 20, 'x') + "\"}"));
  const core::Result<EngineFacts> facts = EngineAt(fake.socket()).Check();
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().error_number, EMSGSIZE);
}

TEST(DockerEngineBreaks, AnswersAreReadStrictly) {
  const char* const bodies[] = {"",           "[]",          "{",         "null",
                                "{\"Id\":5}", "{\"Id\":{}}", "{}",        "{\"Id\":\"../../x\"}",
                                "\xff\xfe",   "{\"a\":1}{}", "{\"a\":1}x"};
  for (const char* const body : bodies) {
    const tests::FakeEngine fake(
        After([&](const tests::FakeRequest&, int) { return tests::HttpAnswer(201, body); }));
    const core::Result<StartedContainer> container = EngineAt(fake.socket()).Start({.image = "x"});
    EXPECT_FALSE(container) << body;
  }
  const tests::FakeEngine deep(Always(200, std::string(100'000, '[')));
  EXPECT_THAT(ErrorOf(EngineAt(deep.socket()).List("a", "b")), HasSubstr("list of containers"));
}

TEST(DockerEngineBreaks, WhatItSaysIsPrintableAndShort) {
  const tests::FakeEngine fake(Always(
      500, Json{{"message", "no\x1b[31m\nspace left on device" + std::string(5000, 'x')}}.dump()));
  const std::string error = ErrorOf(EngineAt(fake.socket()).Start({.image = "x"}));
  EXPECT_THAT(error, HasSubstr("space left on device"));
  EXPECT_THAT(error, Not(HasSubstr("\x1b")));
  EXPECT_LT(error.size(), 700u);
}

// --- versions -------------------------------------------------------------------------------

TEST(DockerEngineVersions, TheNewestThatBothSpeak) {
  const struct {
    const char* newest;
    const char* oldest;
    const char* spoken;
  } engines[] = {{"1.41", "1.12", "/v1.41/"}, {"1.52", "1.44", "/v1.44/"}, {"1.40", "", "/v1.40/"}};
  for (const auto& each : engines) {
    const tests::FakeEngine fake(
        After([](const tests::FakeRequest&, int) { return tests::HttpAnswer(200, "{}"); },
              Json{{"ApiVersion", each.newest}, {"MinAPIVersion", each.oldest}}.dump()));
    ASSERT_TRUE(EngineAt(fake.socket()).Check());
    EXPECT_THAT(fake.requests().back().line, HasSubstr(each.spoken));
  }
}

TEST(DockerEngineVersions, NoneThatBothSpeak) {
  const tests::FakeEngine old(
      After({}, R"({"Version":"17","ApiVersion":"1.30","MinAPIVersion":"1.12"})"));
  EXPECT_THAT(ErrorOf(EngineAt(old.socket()).Check()), HasSubstr("use a newer engine"));
  const tests::FakeEngine far(
      After({}, R"({"Version":"99","ApiVersion":"1.90","MinAPIVersion":"1.80"})"));
  EXPECT_THAT(ErrorOf(EngineAt(far.socket()).Check()), HasSubstr("use a newer Belljar"));
  const tests::FakeEngine odd(After({}, R"({"ApiVersion":"1.41-beta"})"));
  EXPECT_THAT(ErrorOf(EngineAt(odd.socket()).Check()), HasSubstr("no ApiVersion"));
}

// --- what is asked for ----------------------------------------------------------------------

TEST(CreateBody, GivesAContainerNothing) {
  const Json body =
      Json::parse(CreateBody({.image = "image",
                              .runtime = "runsc",
                              .command = {"/guest"},
                              .labels = {{"a", "b"}},
                              .folders = {{.path = "/tmp", .size = core::Bytes::Mebi(8)}},
                              .memory = core::Bytes::Mebi(64),
                              .cpus = 0.5,
                              .pids = 32}));
  EXPECT_EQ(body["User"], "65534:65534");
  EXPECT_EQ(body["NetworkDisabled"], true);
  EXPECT_EQ(body["Tty"], false);
  EXPECT_EQ(body["Labels"], Json({{"a", "b"}}));
  const Json& host = body["HostConfig"];
  EXPECT_EQ(host["Runtime"], "runsc");
  EXPECT_EQ(host["NetworkMode"], "none");
  EXPECT_EQ(host["ReadonlyRootfs"], true);
  EXPECT_EQ(host["Privileged"], false);
  EXPECT_EQ(host["CapDrop"], Json::array({"ALL"}));
  EXPECT_EQ(host["SecurityOpt"], Json::array({"no-new-privileges:true"}));
  EXPECT_EQ(host["Memory"], 64 << 20);
  EXPECT_EQ(host["MemorySwap"], 64 << 20);
  EXPECT_EQ(host["PidsLimit"], 32);
  EXPECT_EQ(host["NanoCpus"], 500'000'000);
  EXPECT_EQ(host["LogConfig"]["Type"], "none");
  EXPECT_EQ(host["Ulimits"], Json::parse(R"([{"Name":"nofile","Soft":1024,"Hard":1024},)"
                                         R"({"Name":"core","Soft":0,"Hard":0}])"));
  EXPECT_EQ(host["Tmpfs"]["/tmp"], "rw,nosuid,nodev,noexec,mode=1777,size=8388608");
  for (const char* const way_out : {"Binds", "Mounts", "Devices", "CapAdd", "VolumesFrom"}) {
    EXPECT_FALSE(host.contains(way_out)) << way_out;
  }
}

TEST(CreateBody, TextOfOthersStaysText) {
  const Json body =
      Json::parse(CreateBody({.image = "a\",\"Privileged\":true", .labels = {{"\xff", "\""}}}));
  EXPECT_EQ(body["Image"], "a\",\"Privileged\":true");
}

TEST(DockerEngineLife, PodmanIsNotBelievedToChooseARuntime) {
  const tests::FakeEngine fake(After(
      [](const tests::FakeRequest&, int) {
        return tests::HttpAnswer(200,
                                 R"({"DefaultRuntime":"crun","Runtimes":{"crun":{},"runsc":{}}})");
      },
      R"({"ApiVersion":"1.41","Components":[{"Name":"Podman Engine","Version":"4.3.1"}]})"));
  DockerEngine engine = EngineAt(fake.socket());
  const core::Result<EngineFacts> facts = engine.Check();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->name, "Podman Engine");
  EXPECT_EQ(facts->runtimes, std::vector<std::string>{"crun"});
  EXPECT_THAT(ErrorOf(engine.Start({.image = "x", .runtime = "runsc"})),
              HasSubstr("runs everything by \"crun\""));
}

TEST(DockerEngineLife, WhatDoesNotStartIsRemoved) {
  const tests::FakeEngine fake(After([](const tests::FakeRequest& request, int) {
    if (IsFor(request, "/create")) return tests::HttpAnswer(201, Json{{"Id", kId}}.dump());
    if (IsFor(request, "/attach")) return std::string("HTTP/1.1 101 UPGRADED\r\n\r\n");
    if (IsFor(request, "/start")) return tests::HttpAnswer(500, R"({"message":"no space left"})");
    return tests::HttpAnswer(204, "");
  }));
  EXPECT_THAT(ErrorOf(EngineAt(fake.socket()).Start({.image = "x", .runtime = "runsc"})),
              AllOf(HasSubstr("no space left"), HasSubstr("docs/containers.md")));
  EXPECT_THAT(fake.requests(), Contains(Field(&tests::FakeRequest::line, HasSubstr("DELETE"))));
}

// The engine is stopped in the middle of a start: who asked has no id, and the container is there.
TEST(DockerEngineLife, WhatCouldNotBeRemovedIsOnceTheEngineIsBack) {
  std::atomic<bool> stops = true;
  const tests::FakeEngine fake(After([&](const tests::FakeRequest& request, int) {
    if (stops) return std::string();
    if (IsFor(request, "/create")) return tests::HttpAnswer(201, Json{{"Id", kId}}.dump());
    if (IsFor(request, "/attach")) return std::string("HTTP/1.1 101 UPGRADED\r\n\r\n");
    return tests::HttpAnswer(204, "");
  }));
  DockerEngine engine = EngineAt(fake.socket());
  ASSERT_FALSE(engine.Start({.image = "x"}));
  std::string name;
  for (const tests::FakeRequest& request : fake.requests()) {
    const size_t at = request.line.find("?name=");
    if (at != std::string::npos)
      name = request.line.substr(at + 6, request.line.find(' ', at) - at - 6);
  }
  ASSERT_THAT(name, HasSubstr("belljar-"));
  stops = false;
  ASSERT_TRUE(engine.Start({.image = "x"}));
  EXPECT_THAT(fake.requests().back().line, HasSubstr("DELETE /v1.41/containers/" + name + "?"));
  const size_t requested = fake.requests().size();
  ASSERT_TRUE(engine.Start({.image = "x"}));
  EXPECT_EQ(fake.requests().size(), requested + 3)
      << "create, attach, start: nothing is left to remove";
}

TEST(DockerEngineLife, BytesBeforeTheStartAreRefused) {
  const tests::FakeEngine fake(After([](const tests::FakeRequest& request, int) {
    if (IsFor(request, "/create")) return tests::HttpAnswer(201, Json{{"Id", kId}}.dump());
    if (IsFor(request, "/attach")) return std::string("HTTP/1.1 101 UPGRADED\r\n\r\nhello");
    return tests::HttpAnswer(204, "");
  }));
  EXPECT_THAT(ErrorOf(EngineAt(fake.socket()).Start({.image = "x"})),
              HasSubstr("before anything could have run"));
}

TEST(DockerEngineLife, IdsThatAreNoneNeverReachAPath) {
  const tests::FakeEngine fake(Always(204, ""));
  DockerEngine engine = EngineAt(fake.socket());
  for (const std::string id : {"", "../images/x", "a?b", "AAAA"}) {
    EXPECT_FALSE(engine.Kill(id));
    EXPECT_FALSE(engine.Remove(id));
    EXPECT_FALSE(engine.Wait(id, milliseconds(10)));
  }
  EXPECT_THAT(fake.requests(), IsEmpty());
}

// Podman answers 500 if there is nothing left to kill.
TEST(DockerEngineLife, AKillThatFailedIsDoneIfNothingRuns) {
  const auto killed = [](const std::string& words, const std::string& state) {
    const tests::FakeEngine fake(After([=](const tests::FakeRequest& request, int) {
      return IsFor(request, "/kill") ? tests::HttpAnswer(500, R"({"message":")" + words + "\"}")
                                     : tests::HttpAnswer(200, state);
    }));
    return EngineAt(fake.socket()).Kill(kId).ok();
  };
  constexpr char kImproper[] = "container state improper";
  EXPECT_TRUE(killed("it has stopped", R"({"State":{"Running":false}})"));
  EXPECT_FALSE(killed(kImproper, R"({"State":{"Running":true}})"));
  for (const char* unknown : {R"({"State":{}})", R"({"State":{"Running":"no"}})", "{}", "no"}) {
    EXPECT_FALSE(killed(kImproper, unknown)) << unknown;
  }
}

TEST(DockerEngineLife, ReferencesAreEncoded) {
  const tests::FakeEngine fake(Always(404, "{}"));
  ASSERT_TRUE(EngineAt(fake.socket()).FindImage("a/b:1?x=/../\r\nEvil: 1"));
  EXPECT_THAT(fake.requests().back().line,
              HasSubstr("/images/a%2Fb%3A1%3Fx%3D%2F..%2F%0D%0AEvil%3A%201/json"));
}

TEST(DockerEngineLife, AnImageThatIsRefusedHalfWay) {
  const tests::FakeEngine fake(Always(
      200, "{\"stream\":\"x\"}\r\n{\"errorDetail\":{},\"error\":\"write: no space left\"}\r\n"));
  const core::Result<core::UniqueFd> tar = core::CreateMemoryFile("tar", std::string(100, 'x'));
  EXPECT_THAT(ErrorOf(EngineAt(fake.socket()).LoadImage(tar->get(), {})),
              HasSubstr("no space left"));
}

// --- attached output ------------------------------------------------------------------------

std::string Header(int stream, uint32_t length) {
  std::string header(8, '\0');
  header[0] = static_cast<char>(stream);
  for (int i = 0; i < 4; ++i) header[7 - i] = static_cast<char>(length >> (8 * i));
  return header;
}

// What an engine has removed by itself is known by its events.
TEST(DockerEngineLife, TheEndOfOneThatIsRemovedAlready) {
  const auto ended = [](const std::string& events) {
    tests::FakeEngine fake(After([=](const tests::FakeRequest& request, int) {
      if (IsFor(request, "/events") && IsFor(request, "%22die%22"))
        return tests::HttpAnswer(200, events);
      if (IsFor(request, "/events")) return tests::HttpAnswer(200, "{\"status\":\"oom\"}\n");
      return tests::HttpAnswer(404, R"({"message":"No such container"})");
    }));
    return EngineAt(fake.socket()).Wait(kId, milliseconds(5000));
  };
  const core::Result<ContainerExit> done =
      ended(R"({"status":"die","Actor":{"Attributes":{"exitCode":"7"}}})");
  ASSERT_TRUE(done) << ErrorOf(done);
  EXPECT_EQ(done->exit_code, 7);
  EXPECT_FALSE(done->out_of_memory);
  const core::Result<ContainerExit> killed =
      ended(R"({"status":"die","Actor":{"Attributes":{"exitCode":"137"}}})"
            "\n");
  ASSERT_TRUE(killed) << ErrorOf(killed);
  EXPECT_TRUE(killed->out_of_memory);
  EXPECT_THAT(ErrorOf(ended("")), HasSubstr("does not know it"));
  for (const char* const code : {"", "-1", "256", "7x", "seven"}) {
    const Json event = {{"Actor", {{"Attributes", {{"exitCode", code}}}}}};
    EXPECT_THAT(ErrorOf(ended(event.dump())), HasSubstr("an end without an exitCode")) << code;
  }
}

TEST(AttachedOutput, StreamsAreDistinguishedHoweverTheyAreCut) {
  const std::string all = Header(1, 5) + "hello" + Header(2, 3) + "err" + Header(1, 0) +
                          Header(1, 300) + std::string(300, 'x');
  for (size_t cut = 1; cut <= all.size(); ++cut) {
    AttachedOutput output;
    std::string out, err;
    for (size_t at = 0; at < all.size(); at += cut) {
      std::string_view input = std::string_view(all).substr(at, cut);
      while (!input.empty()) {
        const AttachedOutput::Piece piece = output.Take(input);
        if (piece.stream == AttachedOutput::Stream::kStdout) out += piece.bytes;
        if (piece.stream == AttachedOutput::Stream::kStderr) err += piece.bytes;
      }
    }
    EXPECT_EQ(out, "hello" + std::string(300, 'x')) << cut;
    EXPECT_EQ(err, "err") << cut;
    EXPECT_FALSE(output.failed());
  }
}

TEST(AttachedOutput, OtherFormatsFail) {
  for (const std::string& bytes :
       {Header(0, 1), Header(3, 1), Header(255, 1), std::string("\1\1\0\0\0\0\0\1", 8)}) {
    AttachedOutput output;
    std::string_view input = bytes;
    EXPECT_EQ(output.Take(input).stream, AttachedOutput::Stream::kNone);
    EXPECT_TRUE(output.failed());
  }
}

}  // namespace
}  // namespace belljar::container::engines::docker_engine_test
