// What workers of some profiles have of their own: a workspace, an egress proxy. The policy is off:
// the kernel has to hold this alone.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/support/support.h"

namespace belljar::seal::worker_resources_test {
namespace {

class WorkerResourcesTest : public ::testing::Test {
 protected:
  void Open(const std::string& profile, const std::vector<core::PathRule>& more = {}) {
    core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
    ASSERT_TRUE(catalogue) << catalogue.error().ToString();
    outside::SandboxOptions options;
    core::Result<core::Profile> chosen = catalogue->Choose(profile);
    ASSERT_TRUE(chosen) << chosen.error().ToString();
    options.profile = std::move(*chosen);
    for (const core::PathRule& path : more) options.profile.paths.push_back(path);
    options.policy = outside::Policy::kOff;
    options.spares = 2;
    core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
        outside::Sandbox::Open(std::move(options));
    ASSERT_TRUE(sandbox) << sandbox.error().ToString();
    sandbox_ = std::move(*sandbox);
  }

  std::string Output(const std::string& source) {
    host::Request request;
    request.source = source;
    request.limits = sandbox_->profile().default_limits;
    core::Result<host::Outcome> outcome = sandbox_->Run(request);
    if (!outcome) return "error: " + outcome.error().ToString();
    if (outcome->error) return outcome->error->type + ": " + outcome->error->message;
    return outcome->stdout_stream.text;
  }

  std::unique_ptr<outside::Sandbox> sandbox_;
};

// Each `try` of the list on a line of its own: what came of it.
constexpr char kTry[] = R"(
import os, socket
def attempt(what):
    try:
        what()
        print("done")
    except OSError as error:
        print(os.strerror(error.errno))
)";

TEST_F(WorkerResourcesTest, AWorkspaceIsTheWorkingDirectoryAndTakesFiles) {
  Open("filesystem");
  EXPECT_EQ(
      Output("import os\n"
             "os.mkdir('d')\n"
             "open('d/a', 'w').write('hello')\n"
             "os.rename('d/a', 'b')\n"
             "os.symlink('b', 'c')\n"
             "open('/tmp/t', 'w').write('x')\n"
             "print(os.getcwd(), open('c').read(), sorted(os.listdir()), os.listdir('/tmp'))"),
      "/workspace hello ['b', 'c', 'd'] ['t']\n");
}

TEST_F(WorkerResourcesTest, ItIsAnotherOneInEachWorker) {
  Open("filesystem");
  for (int run = 0; run < 3; ++run) {
    EXPECT_EQ(Output("import os\nprint(os.listdir(), os.listdir('/tmp'))\nopen('left', 'w')"
                     "\nopen('/tmp/left', 'w')"),
              "[] []\n");
  }
}

TEST_F(WorkerResourcesTest, WhatIsShownBelowItIsShownStill) {
  const tests::TemporaryFolder folder;  // as packages of an installation in /tmp
  folder.Write("module.py", "answer = 42\n");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  Open("filesystem", {{folder.path()}});
  const std::string path = "'" + folder.path() + "'";
  EXPECT_EQ(Output("import os, sys\nsys.path.append(" + path +
                   ")\nimport module\n"
                   "open('/tmp/own', 'w').close()\n"
                   "try:\n    open(" +
                   path +
                   " + '/new', 'w')\n"
                   "except OSError as error:\n    print(module.answer, error.strerror)"),
            "42 Read-only file system\n");
  EXPECT_EQ(Output("import os\nprint(os.path.exists('/tmp/own'), os.listdir(" + path + "))"),
            "False ['module.py']\n");
}

TEST_F(WorkerResourcesTest, NothingCanBeWrittenElsewhereAndNothingInItRunOrBeADevice) {
  Open("filesystem");
  const std::string output = Output(std::string(kTry) + R"(
attempt(lambda: open('/x', 'w'))
attempt(lambda: open('/usr/x', 'w'))
attempt(lambda: os.mkdir('/y'))
attempt(lambda: os.mknod('device', 0o20666, os.makedev(1, 5)))
attempt(lambda: os.mkfifo('pipe'))
attempt(lambda: os.rename('/workspace', '/elsewhere'))
open('program', 'w').write('#!/bin/true')
os.chmod('program', 0o755)
attempt(lambda: os.execv('program', ['program']))
attempt(lambda: os.listdir('/'))
)");
  EXPECT_EQ(output.find("done"), std::string::npos) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 8) << output;
}

TEST_F(WorkerResourcesTest, ItIsBoundedInBytesAndInFiles) {
  Open("filesystem");
  EXPECT_EQ(Output(std::string(kTry) + R"(
def fill():
    for name in 'abc':
        with open(name, 'wb') as file: file.write(bytes(30 << 20))
def litter():
    for i in range(100_000): open(f'f{i}', 'x').close()
attempt(fill)
attempt(litter)
)"),
            "No space left on device\nNo space left on device\n");
}

TEST_F(WorkerResourcesTest, AnEgressProxyIsAllThereIsOfANetwork) {
  Open("network");
  const std::string output = Output(std::string(kTry) + R"(
def connect(host, port): socket.socket().connect((host, port))
attempt(lambda: connect('127.0.0.1', 1080))
attempt(lambda: connect('127.0.0.1', 22))
attempt(lambda: connect('192.0.2.1', 443))
attempt(lambda: socket.socket().bind(('127.0.0.1', 0)))
attempt(lambda: socket.socket(socket.AF_UNIX))
attempt(lambda: socket.socket(socket.AF_INET6))
attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
)");
  EXPECT_TRUE(output.starts_with("done\n")) << output;
  EXPECT_EQ(output.find("done", 4), std::string::npos) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 9) << output;
}

TEST_F(WorkerResourcesTest, ACallCanOnlyNarrowTheEgressProxy) {
  Open("network");
  host::Request request;
  request.source = "1";
  request.limits = sandbox_->profile().default_limits;
  request.allowed_domains = std::vector<std::string>{"evil.test"};
  core::Result<host::Outcome> outcome = sandbox_->Run(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("\"evil.test\""), std::string::npos);
  request.allowed_domains = std::vector<std::string>();
  outcome = sandbox_->Run(request);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_TRUE(outcome->success());
  Open("basic");
  outcome = sandbox_->Run(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("no network"), std::string::npos);
}

TEST_F(WorkerResourcesTest, AnEgressProxyThatIsNotUsedIsNotRecorded) {
  Open("network");
  host::Request request;
  request.source = "1";
  request.limits = sandbox_->profile().default_limits;
  const core::Result<host::Outcome> outcome = sandbox_->Run(request);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_TRUE(outcome->network.empty());
  EXPECT_TRUE(outcome->security_events.empty());
}

TEST_F(WorkerResourcesTest, TiersCombine) {
  Open("network+filesystem");
  EXPECT_EQ(sandbox_->profile().name, "filesystem+network");
  EXPECT_EQ(Output("import socket\nopen('a', 'w').close()\n"
                   "socket.socket().connect(('127.0.0.1', 1080))\nprint('both')"),
            "both\n");
}

TEST_F(WorkerResourcesTest, WithoutNamespacesThereIsNoSuchProfile) {
  core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  ASSERT_TRUE(catalogue);
  for (const char* name : {"filesystem", "network"}) {
    outside::SandboxOptions options;
    options.profile = std::move(*catalogue->Choose(name));
    options.without_layers = {"namespaces"};
    const auto sandbox = outside::Sandbox::Open(std::move(options));
    ASSERT_FALSE(sandbox);
    EXPECT_NE(sandbox.error().ToString().find("requires namespaces"), std::string::npos);
  }
}

}  // namespace
}  // namespace belljar::seal::worker_resources_test
