// Files into a workspace and out of it. The policy is off, so each program is as hostile as Python
// can be; where a host of another kind is meant, the folder stands for the workspace.
#include "engine/workspace/workspace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/digest.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/profile_catalogue.h"
#include "engine/workspace/media_type.h"
#include "tests/support/support.h"

namespace belljar::workspace::workspace_test {
namespace {

core::Profile WithWorkspace(core::Bytes size = core::Bytes::Mebi(1), uint32_t inodes = 16) {
  core::Profile profile;
  profile.name = "filesystem";
  profile.workspace = core::WorkspaceRule{size, inodes};
  return profile;
}

std::string Fault(const std::vector<host::InputFile>& files,
                  const core::Profile& profile = WithWorkspace()) {
  const core::Result<void> checked = CheckFiles(files, profile);
  return checked ? "" : checked.error().ToString();
}

TEST(CheckFiles, OrdinaryNamesAreTaken) {
  EXPECT_EQ(Fault({{"a.txt", "x"}, {"d/e/f", ""}, {"d/g", "y"}, {"naïve 日本 (1).csv", ""}}), "");
  EXPECT_EQ(Fault({{"...", ""}, {".hidden", ""}, {"a..b", ""}, {"~", ""}, {"C:\\x", ""}}), "");
  EXPECT_EQ(Fault({{std::string(255, 'x'), ""}}), "");
  EXPECT_EQ(Fault({}, core::Profile{}), "") << "nothing needs no workspace";
}

TEST(CheckFiles, NamesThatLeadOutOrNowhereAreRefused) {
  for (const std::string& path : {std::string("/etc/passwd"),
                                  std::string("../x"),
                                  std::string("a/../../x"),
                                  std::string("a/.."),
                                  std::string("./a"),
                                  std::string("."),
                                  std::string(".."),
                                  std::string(""),
                                  std::string("/"),
                                  std::string("a//b"),
                                  std::string("a/"),
                                  std::string("a\0b", 3),
                                  std::string("a\nb"),
                                  std::string("a\x1b[2J"),
                                  std::string("a\x7f"),
                                  std::string("a\xff"),
                                  std::string("\xc2\x85"),
                                  std::string(256, 'x'),
                                  std::string("a/") + std::string(256, 'x'),
                                  std::string(1025, 'x'),
                                  [] {
                                    std::string deep = "a";
                                    for (int i = 0; i < 512; ++i) deep += "/a";
                                    return deep;
                                  }()}) {
    const std::string fault = Fault({{"good", ""}, {path, "x"}});
    EXPECT_TRUE(fault.starts_with("file \"")) << core::Quoted(path) << ": " << fault;
    EXPECT_EQ(fault, core::Printable(fault));
  }
}

TEST(CheckFiles, TwoFilesCannotHaveOnePlace) {
  EXPECT_NE(Fault({{"a", ""}, {"b", ""}, {"a", ""}}).find("twice"), std::string::npos);
  EXPECT_NE(Fault({{"a", ""}, {"a/b", ""}}).find("\"a\" is a file"), std::string::npos);
  EXPECT_NE(Fault({{"a/b/c", ""}, {"a/b", ""}}).find("directory"), std::string::npos);
}

TEST(CheckFiles, MoreThanTheWorkspaceHoldsIsRefused) {
  const std::string half(512 * 1024, 'x');
  EXPECT_EQ(Fault({{"a", half}, {"b", half}}), "");
  EXPECT_NE(Fault({{"a", half}, {"b", half}, {"c", "x"}}).find("1m"), std::string::npos);
  std::vector<host::InputFile> many;
  for (int i = 0; i < 15; ++i) many.push_back({"f" + std::to_string(i), ""});
  EXPECT_EQ(Fault(many), "");
  many.push_back({"one more", ""});
  EXPECT_NE(Fault(many).find("16 files"), std::string::npos);
  many.pop_back();
  many.back().path = "in/a directory";
  EXPECT_NE(Fault(many).find("16 files"), std::string::npos);
}

TEST(CheckFiles, AProfileWithoutAWorkspaceTakesModulesOnly) {
  const core::Profile basic = tests::BasicProfile();
  EXPECT_EQ(Fault({{"a.py", "x"}, {"b/c.py", ""}}, basic), "");
  for (const char* other : {"a", "a.txt", "py", "b/a.pyc", "a.so", "a.zip"}) {
    EXPECT_NE(Fault({{"a.py", ""}, {other, ""}}, basic).find("profile filesystem has"),
              std::string::npos)
        << other;
  }
  EXPECT_NE(Fault({{"../a.py", ""}}, basic), "");
  EXPECT_NE(Fault({{"a.py", ""}, {"a.py", ""}}, basic).find("twice"), std::string::npos);
}

TEST(CheckFiles, ModulesInMemoryHaveTwoBounds) {
  const core::Profile basic = tests::BasicProfile();
  const std::string half(kMaxModules.count / 2, 'x');
  EXPECT_EQ(Fault({{"a.py", half}, {"b.py", half}}, basic), "");
  EXPECT_NE(Fault({{"a.py", half}, {"b.py", half}, {"c.py", "x"}}, basic).find("exceed 16m"),
            std::string::npos);
  std::vector<host::InputFile> many;
  for (size_t i = 0; i < kMaxModuleFiles; ++i) many.push_back({std::to_string(i) + ".py", ""});
  EXPECT_EQ(Fault(many, basic), "");
  many.push_back({"more.py", ""});
  EXPECT_NE(Fault(many, basic).find("10000"), std::string::npos);
}

TEST(MediaType, IsOfTheNameElseOfTheContent) {
  EXPECT_STREQ(MediaTypeOf("a/b.PNG", "no picture"), "image/png");
  EXPECT_STREQ(MediaTypeOf("x.tar.gz", ""), "application/gzip");
  EXPECT_STREQ(MediaTypeOf("a.csv/b", "text\n"), "text/plain");
  EXPECT_STREQ(MediaTypeOf(".csv", "\xff"), "application/octet-stream");
  EXPECT_STREQ(MediaTypeOf("a.", std::string_view("a\0b", 3)), "application/octet-stream");
  EXPECT_STREQ(MediaTypeOf("Makefile", ""), "text/plain");
  EXPECT_EQ(MediaTypeOfName("a.thisisnoextensionatall"), nullptr);
}

TEST(Inline, WhatIsInlineHasTwoBounds) {
  host::Outcome outcome;
  outcome.limits.artifact = core::Bytes{10};
  outcome.limits.artifacts = core::Bytes{15};
  const auto add = [&](std::optional<size_t> size) {
    host::Artifact artifact;
    if (size) artifact.content = std::string(*size, 'x');
    outcome.artifacts.push_back(artifact);
  };
  for (const std::optional<size_t> size : {std::optional<size_t>(11), {10}, {6}, {5}, {}, {0}}) {
    add(size);
  }
  host::MarkInline(outcome);
  std::string inlined;
  for (const host::Artifact& artifact : outcome.artifacts)
    inlined += artifact.is_inline ? 'y' : 'n';
  EXPECT_EQ(inlined, "nynyny");
}

// --- the host's side, with a folder for a workspace
// -------------------------------------------------

class Folder : public ::testing::Test {
 protected:
  Folder() : root_(open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // The collection reads as the guest's user.
    if (geteuid() == 0 && chown(folder_.path().c_str(), 65534, 65534) != 0) abort();
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  host::Outcome Collect(std::vector<host::InputFile> files = {}) {
    host::Request request;
    request.files = std::move(files);
    host::Outcome outcome;
    CollectArtifacts(root_.get(), request, outcome);
    return outcome;
  }
  std::string Names(const host::Outcome& outcome) {
    std::string names;
    for (const host::Artifact& artifact : outcome.artifacts) names += artifact.name + " ";
    return names;
  }

  tests::TemporaryFolder folder_;
  core::UniqueFd root_;
};

TEST_F(Folder, FilesArePutWhereRequestedAndOnlyChangesComeOut) {
  const std::vector<host::InputFile> files = {{"a", "one"}, {"d/e/b", "two"}, {"d/c", ""}};
  ASSERT_TRUE(PutFiles(root_.get(), files));
  struct stat status;
  ASSERT_EQ(stat(Path("d/e/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(status.st_uid, geteuid() == 0 ? 65534u : geteuid());
  ASSERT_EQ(stat(Path("d").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  EXPECT_EQ(Names(Collect(files)), "");
  folder_.Write("a", "two");
  std::filesystem::remove(Path("d/c"));
  folder_.Write("new", "n");
  const host::Outcome outcome = Collect(files);
  EXPECT_EQ(Names(outcome), "a new ");
  EXPECT_EQ(outcome.artifacts[0].sha256, host::Sha256("two"));
  EXPECT_EQ(outcome.artifacts_note, "");
}

// The kernel clears it when the file system's user changes, and an application would outlive its
// supervisor.
TEST_F(Folder, TheProgramsDeathSignalStays) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  EXPECT_TRUE(PutFiles(root_.get(), {{"a", "one"}}));
  EXPECT_FALSE(IsEmptyWorkspace(root_.get()));
  EXPECT_EQ(Names(Collect()), "a ");
  int signal = 0;
  prctl(PR_GET_PDEATHSIG, &signal);
  prctl(PR_SET_PDEATHSIG, 0);
  EXPECT_EQ(signal, SIGTERM);
}

TEST_F(Folder, NothingIsPutThroughALink) {
  tests::TemporaryFolder elsewhere;
  std::filesystem::create_symlink(elsewhere.path(), Path("d"));
  std::filesystem::create_symlink(elsewhere.path() + "/f", Path("f"));
  EXPECT_FALSE(PutFiles(root_.get(), {{"d/x", "out"}}));
  EXPECT_FALSE(PutFiles(root_.get(), {{"f", "out"}}));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(Folder, LinksAreNotFollowedAndSpecialFilesNotOpened) {
  std::filesystem::create_symlink("/etc/passwd", Path("password"));
  std::filesystem::create_symlink("/etc", Path("etc"));
  std::filesystem::create_symlink("nowhere", Path("broken"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const core::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, Path("s").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(mknod(Path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)), 0);
  }
  folder_.Write("file", "x");
  const host::Outcome outcome = Collect();
  EXPECT_EQ(Names(outcome), "file ");
  const std::string special = geteuid() == 0 ? "3" : "2";
  EXPECT_EQ(outcome.artifacts_note,
            "left out: 3 symbolic links, " + special + " FIFOs, sockets or devices");
  EXPECT_EQ(outcome.artifacts_left_out, 3 + std::stoull(special));
}

TEST_F(Folder, WhatIsDisplayedGivesWayToFilesOfItsName) {
  ASSERT_TRUE(PutFiles(root_.get(), {{"plot.png", "x"}, {"table.html/part", "y"}}).ok());
  host::Outcome outcome;
  for (const char* name : {"plot.png", "displayed-plot.png", "table.html", "other.png"}) {
    host::Artifact artifact;
    artifact.name = name;
    artifact.origin = host::Artifact::Origin::kDisplay;
    outcome.artifacts.push_back(std::move(artifact));
  }
  CollectArtifacts(root_.get(), {}, outcome);
  EXPECT_EQ(Names(outcome),
            "displayed-plot.png displayed-displayed-plot.png displayed-table.html other.png "
            "plot.png table.html/part ");
}

TEST_F(Folder, ASparseFileCostsWhatIsRead) {
  const std::string path = folder_.Write("a", "");
  ASSERT_EQ(truncate(path.c_str(), int64_t{64} << 30), 0);
  folder_.Write("b", "small");
  const host::Outcome outcome = Collect();
  ASSERT_EQ(Names(outcome), "a b ");
  EXPECT_EQ(outcome.artifacts[0].size, uint64_t{64} << 30);
  EXPECT_FALSE(outcome.artifacts[0].content);
  EXPECT_EQ(outcome.artifacts[0].sha256, "");
  EXPECT_NE(outcome.artifacts[0].note, "");
  EXPECT_EQ(outcome.artifacts[1].content, "small");
}

TEST_F(Folder, WhatCannotBeReadIsCounted) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("takes files of another user");
  folder_.Write("of root", "x");
  chmod(Path("of root").c_str(), 0600);
  folder_.Write("ours", "x");
  const host::Outcome outcome = Collect();
  EXPECT_EQ(Names(outcome), "ours ");
  EXPECT_EQ(outcome.artifacts_note, "left out: 1 entry that could not be read");
}

TEST_F(Folder, AnEmptyOneIsDistinguished) {
  EXPECT_TRUE(IsEmptyWorkspace(root_.get()));
  folder_.Write("a", "");
  EXPECT_FALSE(IsEmptyWorkspace(root_.get()));
  EXPECT_FALSE(IsEmptyWorkspace(-1));
  host::Outcome outcome;
  CollectArtifacts(-1, {}, outcome);
  EXPECT_EQ(outcome.artifacts_note, "left out: 1 entry that could not be read");
}

// --- with real workers
// ------------------------------------------------------------------------------

class Workspace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
    ASSERT_TRUE(catalogue) << catalogue.error().ToString();
    outside::SandboxOptions options;
    options.profile = std::move(*catalogue->Choose("filesystem"));
    options.policy = outside::Policy::kOff;
    options.spares = 2;
    sandbox_ = belljar::tests::Open(std::move(options)).release();
  }
  static void TearDownTestSuite() { delete sandbox_; }

  host::Outcome Run(const std::string& source, std::vector<host::InputFile> files = {},
                    std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    host::Request request = tests::MakeRequest(source, timeout);
    const core::Limits& limits = sandbox_->profile().default_limits;
    request.limits.file_size = limits.file_size;
    request.limits.artifact = limits.artifact;
    request.limits.artifacts = limits.artifacts;
    request.files = std::move(files);
    core::Result<host::Outcome> outcome = sandbox_->Run(request);
    if (outcome) return std::move(*outcome);
    ADD_FAILURE() << outcome.error().ToString();
    return {};
  }

  static std::string Names(const host::Outcome& outcome) {
    std::string names;
    for (const host::Artifact& artifact : outcome.artifacts) names += artifact.name + " ";
    return names;
  }

  static outside::Sandbox* sandbox_;
};
outside::Sandbox* Workspace::sandbox_ = nullptr;

TEST_F(Workspace, FilesGoInAndComeOut) {
  const std::string all(256, '\0');
  const host::Outcome outcome =
      Run("import os\n"
          "text = open('in/a.csv').read()\n"
          "open('in/a.csv', 'a').write('3,4\\n')\n"
          "os.mkdir('out')\n"
          "open('out/b.json', 'w').write('{}')\n"
          "os.rename('same', 'moved')\n"
          "print(text, len(open('zeros', 'rb').read()))",
          {{"in/a.csv", "1,2\n"}, {"zeros", all}, {"same", "same"}});
  EXPECT_EQ(outcome.stdout_stream.text, "1,2\n 256\n");
  ASSERT_EQ(Names(outcome), "in/a.csv moved out/b.json ");
  EXPECT_EQ(outcome.artifacts[0].content, "1,2\n3,4\n");
  EXPECT_EQ(outcome.artifacts[0].media_type, "text/csv");
  EXPECT_EQ(outcome.artifacts[0].size, 8u);
  EXPECT_EQ(outcome.artifacts[0].sha256, host::Sha256("1,2\n3,4\n"));
  EXPECT_TRUE(outcome.artifacts[0].is_inline);
  EXPECT_EQ(outcome.artifacts[2].media_type, "application/json");
  EXPECT_EQ(outcome.artifacts_left_out, 0u);
}

TEST_F(Workspace, WhatHoldsTheSameIsNoArtifact) {
  const host::Outcome outcome =
      Run("a = open('a').read()\nopen('a', 'w').write(a)\nopen('b', 'r+').write('X')",
          {{"a", "as it was"}, {"b", "changed in place"}});
  EXPECT_EQ(Names(outcome), "b ");
}

TEST_F(Workspace, AKilledRunLeavesItsFilesToo) {
  const std::string write = "open('half', 'w').write('done so far')\nimport os\n";
  for (const char* end : {BELLJAR_UNTIL_KILLED, "os.kill(os.getpid(), 9)", "os._exit(3)",
                          "x = bytearray(1 << 40)", "raise SystemExit(4)", "1/0"}) {
    const host::Outcome outcome = Run(write + end, {}, std::chrono::seconds(3));
    EXPECT_FALSE(outcome.success()) << end;
    EXPECT_EQ(Names(outcome), "half ") << end;
  }
}

TEST_F(Workspace, LargeFilesAreKeptAndNotInline) {
  const host::Outcome outcome =
      Run("open('large', 'wb').write(b'x' * (2 << 20))\nopen('small', 'w').write('y')");
  ASSERT_EQ(Names(outcome), "large small ");
  EXPECT_FALSE(outcome.artifacts[0].is_inline);
  EXPECT_EQ(outcome.artifacts[0].content->size(), 2u << 20);
  EXPECT_EQ(outcome.artifacts[0].sha256, host::Sha256(std::string(2 << 20, 'x')));
  EXPECT_TRUE(outcome.artifacts[1].is_inline);
  const std::string json = host::OutcomeToJson(outcome);
  EXPECT_LT(json.size(), 100'000u);
}

TEST_F(Workspace, LockedFilesAndFoldersAreReadAllTheSame) {
  const host::Outcome outcome =
      Run("import os\n"
          "os.makedirs('d/e')\n"
          "for name in ('d/e/f', 'd/g', 'h'): open(name, 'w').write(name)\n"
          "for name in ('d/e/f', 'd/g', 'h', 'd/e', 'd', '.'): os.chmod(name, 0)\n");
  EXPECT_TRUE(outcome.success()) << outcome.stderr_stream.text;
  EXPECT_EQ(Names(outcome), "d/e/f d/g h ");
  EXPECT_EQ(outcome.artifacts_note, "");
}

TEST_F(Workspace, OddNamesAreShownAndFlagged) {
  const host::Outcome outcome =
      Run("import os\n"
          "for name in (b'\\xff\\xfe', b'new\\nline', b'\\x1b[2J', '日本'.encode(), b'-rf', b' ', "
          "b'\\\\',\n"
          "             b'x' * 255):\n"
          "    open(name, 'w').write('x')\n"
          "os.link('-rf', 'link')\n");
  EXPECT_EQ(Names(outcome),
            "\\x1b[2J   -rf \\ link new\\x0aline " + std::string(255, 'x') + " 日本 \\xff\\xfe ");
  for (const host::Artifact& artifact : outcome.artifacts) {
    EXPECT_EQ(artifact.note.empty(),
              !artifact.name.starts_with("\\x") && artifact.name != "new\\x0aline")
        << artifact.name;
  }
}

TEST_F(Workspace, DeepAndWideTreesAreBounded) {
  const host::Outcome deep =
      Run("import os\n"
          "for i in range(1000):\n"
          "    os.mkdir('d'); os.chdir('d'); open('f', 'w').close()\n");
  EXPECT_TRUE(deep.success()) << deep.stderr_stream.text;
  // 511 directories and a name are 1023 bytes; the next directory itself is too long.
  EXPECT_EQ(deep.artifacts.size(), 511u);
  EXPECT_EQ(deep.artifacts_note, "left out: 2 entries whose paths are too long");
  const host::Outcome wide = Run("for i in range(4000): open(f'f{i:04}', 'w').write(str(i))");
  ASSERT_EQ(wide.artifacts.size(), 4000u);
  EXPECT_EQ(wide.artifacts[3999].content, "3999");
  EXPECT_EQ(wide.artifacts_note, "");
}

TEST_F(Workspace, AGuestThatSaysItIsDoneAndGoesOnSwappingLinks) {
  // A process that the kernel jail alone holds can write the word "done" itself; a thread is not to
  // be had, so it swaps a file and a link up to its death, when its time is over.
  const host::Outcome outcome =
      Run("import os\n"
          "open('real', 'w').write('mine')\n"
          "os.symlink('/etc/passwd', 'link')\n"
          "os.mkdir('d'); os.symlink('/etc', 'e')\n"
          "while True:\n"
          "    os.rename('real', 'x'); os.rename('link', 'real'); os.rename('x', 'link')\n"
          "    os.rename('d', 'y'); os.rename('e', 'd'); os.rename('y', 'e')\n",
          {}, std::chrono::milliseconds(500));
  EXPECT_EQ(outcome.status, host::Status::kTimeout);
  for (const host::Artifact& artifact : outcome.artifacts) EXPECT_EQ(artifact.content, "mine");
}

TEST_F(Workspace, FilesOfACallThatCannotBeAreAnErrorAndCostNoWorker) {
  host::Request request = tests::MakeRequest("1");
  request.files = {{"../out", "x"}};
  const auto before = sandbox_->counters().workers_spawned;
  const core::Result<host::Outcome> outcome = sandbox_->Run(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().ToString().find("file \"../out\""), std::string::npos);
  EXPECT_EQ(sandbox_->counters().workers_spawned, before);
}

TEST_F(Workspace, NoDescriptorIsLeft) {
  Run("1");
  ASSERT_TRUE(tests::WaitForSpares(*sandbox_, 2));
  const size_t before = tests::OpenDescriptors();
  for (int i = 0; i < 5; ++i) {
    Run("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w')", {{"in/x", "y"}});
  }
  ASSERT_TRUE(tests::WaitForSpares(*sandbox_, 2));
  EXPECT_TRUE(tests::Eventually([&] { return tests::OpenDescriptors() <= before; }))
      << tests::OpenDescriptors();
}

}  // namespace
}  // namespace belljar::workspace::workspace_test
