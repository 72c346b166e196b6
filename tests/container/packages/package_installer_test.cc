// The installer, with pip itself and an index of this test's own (package_index.py), in a sandbox
// of this machine: what a container adds is another wall, and tests/container/… look at that.

#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "container/packages/installer.h"
#include "container/packages/package_cache.h"
#include "container/packages/package_profile.h"
#include "engine/host/version.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/image_support.h"
#include "tests/support/support.h"

namespace belljar::container::packages::package_installer_test {
namespace {

namespace fs = std::filesystem;

// A process with the index, as long as the test program runs.
class Index {
 public:
  Index() {
    int to_it[2];
    int from_it[2];
    EXPECT_EQ(pipe2(to_it, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from_it, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_it[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_it[1], 1);
    const std::string log = folder_.File("asked");
    const char* arguments[] = {BELLJAR_TEST_PYTHON, "-I", BELLJAR_TEST_INDEX, log.c_str(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, arguments[0], &actions, nullptr,
                          const_cast<char* const*>(arguments), environ),
              0);
    posix_spawn_file_actions_destroy(&actions);
    close(to_it[0]);
    close(from_it[1]);
    input_ = core::UniqueFd(to_it[1]);
    const core::UniqueFd output(from_it[0]);
    for (char digit; read(output.get(), &digit, 1) == 1 && digit != '\n';) port_ += digit;
    EXPECT_FALSE(port_.empty()) << "the index did not start";
  }
  ~Index() {
    input_.Reset();
    waitpid(pid_, nullptr, 0);
  }

  std::string Address() const { return "http://127.0.0.1:" + port_ + "/simple"; }
  // How many requests there were.
  size_t RequestCount() const { return RequestCountBelow(""); }
  // The same, for what begins so.
  size_t RequestCountBelow(const std::string& beginning) const {
    std::error_code code;
    if (!fs::exists(folder_.File("asked"), code)) return 0;
    const std::string text = "\n" + tests::ReadText(folder_.File("asked"));
    size_t count = 0;
    for (size_t at = text.find("\n" + beginning); at != text.npos && at + 1 < text.size();
         at = text.find("\n" + beginning, at + 1)) {
      ++count;
    }
    return count;
  }

 private:
  tests::TestFolder folder_;
  pid_t pid_ = -1;
  core::UniqueFd input_;
  std::string port_;
};

PackageSource SourceAt(const std::string& address) {
  return {.index = address, .hosts = {}, .allow_private = {"127.0.0.1"}, .resolve = {}};
}

// One index, and one sandbox of installers, for all tests: either takes a second to start.
class PackageInstaller : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    installation_ =
        std::make_unique<installation::Installation>(*installation::Installation::Find());
    index_process_ = std::make_unique<Index>();
    index_ =
        std::make_unique<PackageIndex>(*PackageIndex::Parse(SourceAt(index_process_->Address())));
    sandbox_ = OpenSandbox(*index_);
  }
  static void TearDownTestSuite() {
    sandbox_.reset();
    index_.reset();
    index_process_.reset();
    installation_.reset();
  }

  static std::unique_ptr<outside::Sandbox> OpenSandbox(const PackageIndex& index) {
    const core::Result<outside::SandboxOptions> options =
        InstallerOptions(*installation_, index, Bounds());
    EXPECT_TRUE(options) << options.error().ToString();
    return options ? tests::Open(*options) : nullptr;
  }

  static InstallBounds Bounds() { return {.timeout = std::chrono::seconds(100), .tree = {}}; }

  static PackageQuestion Question(const std::vector<std::string>& packages) {
    PackageQuestion question{.requirements = {},
                             .runtime = host::kPythonVersion,
                             .architecture = "here",
                             .index = index_->shown()};
    const auto requirements = ParseRequirements(packages);
    EXPECT_TRUE(requirements);
    for (const PackageRequirement& each : *requirements) {
      question.requirements.push_back(each.ToString());
    }
    return question;
  }

  static core::Result<PackageLock> Install(const std::vector<std::string>& packages,
                                           const std::string& site, InstallBounds bounds = Bounds(),
                                           outside::Sandbox* sandbox = nullptr,
                                           const PackageIndex* index = nullptr) {
    if (!sandbox) sandbox = sandbox_.get();
    fs::create_directory(site);
    const Installer installer(*installation_, index ? *index : *index_, bounds,
                              [&](const host::Request& request, const run::RunOptions& options) {
                                return sandbox->Run(request, options);
                              });
    return installer.Install(Question(packages), site, -1);
  }

  // The error of an installation, and that nothing came of it.
  static std::string Refusal(const std::vector<std::string>& packages,
                             InstallBounds bounds = Bounds(), outside::Sandbox* sandbox = nullptr,
                             const PackageIndex* index = nullptr) {
    const tests::TestFolder folder;
    const core::Result<PackageLock> lock =
        Install(packages, folder.File("site"), bounds, sandbox, index);
    EXPECT_FALSE(lock) << packages[0];
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
    return lock ? "" : lock.error().ToString();
  }

  static std::unique_ptr<installation::Installation> installation_;
  static std::unique_ptr<Index> index_process_;
  static std::unique_ptr<PackageIndex> index_;
  static std::unique_ptr<outside::Sandbox> sandbox_;
};
std::unique_ptr<installation::Installation> PackageInstaller::installation_;
std::unique_ptr<Index> PackageInstaller::index_process_;
std::unique_ptr<PackageIndex> PackageInstaller::index_;
std::unique_ptr<outside::Sandbox> PackageInstaller::sandbox_;

bool Has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// Runs `source` with what was installed into `site`, on this machine: the policy and the profile
// are what an image has.
host::Outcome RunWith(const PackageLock& lock, const std::string& site, const std::string& source,
                      outside::Policy policy = outside::Policy::kOn) {
  const tests::TestFolder folder;
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  const core::Result<PackageProfile> made =
      MakePackageProfile(tests::BasicProfile(), lock, folder.path(), installation->profiles);
  EXPECT_TRUE(made) << made.error().ToString();
  // The set, where the sandbox looks for one; other processes of these tests have theirs there.
  const std::string link = installation->packages + "/" + kInstalledSet;
  const core::UniqueFd turn(
      open(installation->packages.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(flock(turn.get(), LOCK_EX), 0);
  std::error_code code;
  fs::remove(link, code);
  fs::create_directory_symlink(site, link, code);
  EXPECT_FALSE(code) << code.message();
  outside::SandboxOptions options;
  options.profile = made->profile;
  options.policy = policy;
  const std::unique_ptr<outside::Sandbox> sandbox = tests::Open(std::move(options));
  host::Request request = tests::MakeRequest(source);
  const core::Result<host::Outcome> outcome = sandbox->Run(request);
  fs::remove(link, code);
  EXPECT_TRUE(outcome) << outcome.error().ToString();
  return outcome ? *outcome : host::Outcome();
}

// --- what is installed --------------------------------------------------------------------------

TEST_F(PackageInstaller, InstallsWhatIsRequestedAndItsDependencies) {
  const tests::TestFolder folder;
  const std::string site = folder.File("site");
  const core::Result<PackageLock> lock = Install({"Host.of_Guests"}, site);
  ASSERT_TRUE(lock) << lock.error().ToString();
  EXPECT_EQ(lock->Names(), (std::vector<std::string>{"greeting==1.0", "host-of-guests==1.0"}));
  EXPECT_EQ(lock->packages[0].file, "greeting-1.0-py3-none-any.whl");
  EXPECT_EQ(lock->tree.modules, (std::vector<std::string>{"greeting", "greeting.words", "guests"}));
  const core::Result<TreeFacts> tree = ReadTree(site);
  ASSERT_TRUE(tree);
  EXPECT_EQ(*tree, lock->tree);

  const host::Outcome used = RunWith(*lock, site,
                                     "import guests, greeting.words\n"
                                     "from greeting import greet\n"
                                     "[guests.LIST, greet('me'), greeting.words.HELLO]");
  EXPECT_EQ(used.status, host::Status::kOk) << (used.error ? used.error->message : "");
  EXPECT_EQ(used.result_json, R"([["good day, you"],"good day, me","good day"])");
  // The policy still holds for what the program itself does.
  const host::Outcome hidden = RunWith(*lock, site, "import greeting\ngreeting.words.__loader__");
  EXPECT_EQ(hidden.status, host::Status::kRefused);
  EXPECT_EQ(RunWith(*lock, site, "import glob").status, host::Status::kRefused);
}

TEST_F(PackageInstaller, VersionsAsRequested) {
  const tests::TestFolder folder;
  const core::Result<PackageLock> old = Install({"greeting<2"}, folder.File("old"));
  ASSERT_TRUE(old) << old.error().ToString();
  EXPECT_EQ(old->Names(), std::vector<std::string>{"greeting==1.0"});
  const core::Result<PackageLock> last = Install({"greeting"}, folder.File("last"));
  ASSERT_TRUE(last) << last.error().ToString();
  EXPECT_EQ(last->Names(), std::vector<std::string>{"greeting==2.0"});
  EXPECT_NE(last->packages[0].sha256, old->packages[0].sha256);
}

TEST_F(PackageInstaller, TheCacheNeedsNoIndex) {
  const tests::TestFolder folder;
  core::Result<PackageCache> cache = PackageCache::Open(folder.File("packages"));
  ASSERT_TRUE(cache);
  const PackageQuestion question = Question({"greeting"});
  const LockWait wait{.deadline = core::Clock::now() + std::chrono::seconds(100)};
  const auto fill = [&](const std::string& site) { return Install({"greeting"}, site); };
  const core::Result<CachedPackages> first = cache->Get(question, wait, fill);
  ASSERT_TRUE(first) << first.error().ToString();
  const size_t requested = index_process_->RequestCount();
  EXPECT_GT(requested, 0u);
  const core::Result<CachedPackages> second = cache->Get(question, wait, fill);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->lock, first->lock);
  EXPECT_EQ(index_process_->RequestCount(), requested);
}

// --- hostile wheels -----------------------------------------------------------------------------

TEST_F(PackageInstaller, NothingIsWrittenElsewhere) {
  for (const char* name : {"climbs", "absolute"}) {
    EXPECT_TRUE(Has(Refusal({name}), "install packages")) << name;
    EXPECT_FALSE(fs::exists("/tmp/escape.py"));
  }
  // As a file with the link's target for its text.
  const tests::TestFolder folder;
  const core::Result<PackageLock> lock = Install({"linked"}, folder.File("site"));
  ASSERT_TRUE(lock) << lock.error().ToString();
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.File("site/linked/passwd"))));
}

TEST_F(PackageInstaller, NothingOfThemStartsByItself) {
  const tests::TestFolder folder;
  const std::string site = folder.File("site");
  const core::Result<PackageLock> lock = Install({"starts-itself"}, site);
  ASSERT_TRUE(lock) << lock.error().ToString();
  ASSERT_TRUE(fs::exists(site + "/starts.pth")) << "what has to be harmless";
  const host::Outcome outcome = RunWith(*lock, site, "import starts_itself\nstarts_itself.x");
  EXPECT_EQ(outcome.status, host::Status::kOk) << (outcome.error ? outcome.error->message : "");
  EXPECT_EQ(outcome.result_json, "1");
}

TEST_F(PackageInstaller, PythonsOwnModulesStayPythons) {
  const tests::TestFolder folder;
  const std::string site = folder.File("site");
  const core::Result<PackageLock> lock = Install({"shadows", "exits"}, site);
  ASSERT_TRUE(lock) << lock.error().ToString();
  const host::Outcome outcome = RunWith(*lock, site,
                                        "import json, math, shadows\n"
                                        "[json.dumps({}), math.pi > 3.1, shadows.x]");
  EXPECT_EQ(outcome.result_json, R"(["{}",true,1])")
      << (outcome.error ? outcome.error->message : "");
  EXPECT_EQ(RunWith(*lock, site, "import json\njson.codecs").status, host::Status::kRefused);
  // One that does not let itself be imported is not there, and takes no other with it.
  EXPECT_EQ(RunWith(*lock, site, "import exits").status, host::Status::kRefused);
  EXPECT_EQ(RunWith(*lock, site, "import json\njson.dumps([])", outside::Policy::kOff).status,
            host::Status::kOk);
}

TEST_F(PackageInstaller, ScriptsAreOurs) {
  const tests::TestFolder folder;
  const core::Result<PackageLock> lock = Install({"scripted"}, folder.File("site"));
  ASSERT_TRUE(lock) << lock.error().ToString();
  EXPECT_TRUE(fs::exists(folder.File("site/scripted/__init__.py")));
  const std::string script = folder.File("site/bin/scripted");
  EXPECT_EQ(tests::ReadText(script),
            "#!/usr/bin/env python3\nimport sys\nfrom scripted import main\nsys.exit(main())\n");
  EXPECT_NE(fs::status(script).permissions() & fs::perms::others_exec, fs::perms::none);
}

// pip fetches what a wheel requires by its address, whatever it was told of wheels.
TEST_F(PackageInstaller, NothingIsBuilt) {
  EXPECT_TRUE(Has(Refusal({"to-build"}), "has no wheel of \"to-build\""));
  EXPECT_EQ(index_process_->RequestCountBelow("/files/to-build-1.0.tar.gz"), 0u);
  const std::string built = Refusal({"needs-a-build"});
  // The filter of a sandbox may refuse what pip does before it would start a program.
  EXPECT_TRUE(Has(built, "nothing is built here") || Has(built, "not permitted")) << built;
  EXPECT_EQ(index_process_->RequestCountBelow("/files/to-build-1.0.tar.gz"), 1u);
}

TEST_F(PackageInstaller, SaysWhatIsWrongWithThem) {
  EXPECT_TRUE(Has(Refusal({"no-such-thing"}), "has no package \"no-such-thing\""));
  EXPECT_TRUE(Has(Refusal({"needs-nothing-there"}), "has no package \"no-such-thing\""));
  EXPECT_TRUE(Has(Refusal({"source-only"}), "has no wheel of \"source-only\""));
  EXPECT_TRUE(Has(Refusal({"not-a-wheel"}), "pip says"));
  EXPECT_TRUE(Has(Refusal({"wrong-digest"}), "pip says"));
  EXPECT_TRUE(Has(Refusal({"deep"}), "cannot be installed"));
}

TEST_F(PackageInstaller, IsBounded) {
  EXPECT_TRUE(Has(Refusal({"huge"}), "they exceed 256m"));
  InstallBounds few = Bounds();
  few.tree.entries = 1000;
  EXPECT_TRUE(Has(Refusal({"many"}, few), "ask for fewer"));
  InstallBounds brief = Bounds();
  brief.timeout = std::chrono::milliseconds(300);
  EXPECT_TRUE(Has(Refusal({"greeting"}, brief), "did not finish within 300ms"));
}

// --- the index ----------------------------------------------------------------------------------

TEST_F(PackageInstaller, ANameAndAPasswordAreInNoMessage) {
  std::string address = index_process_->Address();
  address.insert(std::string("http://").size(), "me:secret@");
  const PackageIndex index = *PackageIndex::Parse(SourceAt(address));
  const std::string unknown = Refusal({"no-such-thing"}, Bounds(), nullptr, &index);
  EXPECT_TRUE(Has(unknown, "has no package \"no-such-thing\"")) << unknown;
  EXPECT_FALSE(Has(unknown, "secret")) << unknown;
  const std::string damaged = Refusal({"not-a-wheel"}, Bounds(), nullptr, &index);
  EXPECT_TRUE(Has(damaged, "pip says")) << damaged;
  EXPECT_FALSE(Has(damaged, "secret")) << damaged;
}

TEST_F(PackageInstaller, AnIndexThatIsNotThere) {
  // Port 1: nothing listens there.
  const PackageIndex nobody = *PackageIndex::Parse(SourceAt("http://127.0.0.1:1/simple"));
  const std::unique_ptr<outside::Sandbox> sandbox = OpenSandbox(nobody);
  const std::string refusal = Refusal({"greeting"}, Bounds(), sandbox.get(), &nobody);
  EXPECT_TRUE(Has(refusal, "http://127.0.0.1:1/simple cannot be reached")) << refusal;
}

TEST_F(PackageInstaller, NobodyElseIsReached) {
  // The index is there, and is not the one that the sandbox's egress proxy leads to.
  const PackageIndex another = *PackageIndex::Parse(SourceAt("http://127.0.0.1:1/simple"));
  const std::unique_ptr<outside::Sandbox> sandbox = OpenSandbox(another);
  const size_t requested = index_process_->RequestCount();
  const std::string refusal = Refusal({"greeting"}, Bounds(), sandbox.get(), index_.get());
  EXPECT_TRUE(Has(refusal, "cannot be reached")) << refusal;
  EXPECT_EQ(index_process_->RequestCount(), requested);
}

TEST(PackageIndexes, AreAddressesOfWebServers) {
  const auto parse = [](const std::string& address) {
    return PackageIndex::Parse(
        PackageSource{.index = address, .hosts = {}, .allow_private = {}, .resolve = {}});
  };
  const core::Result<PackageIndex> index = parse("https://me:secret@index.example:8443/simple/");
  ASSERT_TRUE(index) << index.error().ToString();
  EXPECT_EQ(index->shown(), "https://index.example:8443/simple/");
  EXPECT_EQ(index->trusted_host(), "");
  EXPECT_EQ(index->network().allowed_domains, std::vector<std::string>{"index.example:8443"});
  EXPECT_EQ(parse("http://index.example:8080/x")->trusted_host(), "index.example");
  EXPECT_EQ(parse("http://[2001:db8::1]/x")->trusted_host(), "[2001:db8::1]");
  for (const char* bad :
       {"", "index.example", "file:///srv/index", "ftp://index.example/", "https://", "https:///x",
        "https://*/x", "https://index.example/a b", "https://index.example/?a", "https://a@/x",
        "https://index.example:port/", "git+https://index.example/"}) {
    EXPECT_FALSE(parse(bad)) << bad;
  }
  for (const char* bad : {"https://me:secret@*/x", "https://me:se/cret@index.example/x"}) {
    const core::Result<PackageIndex> secret = parse(bad);
    ASSERT_FALSE(secret) << bad;
    EXPECT_FALSE(Has(secret.error().ToString(), "cret")) << secret.error().ToString();
  }
  EXPECT_TRUE(parse("https://index.example/feed@view/simple"));
  EXPECT_TRUE(parse("https://index.example:8443/feed@view/simple"));
  EXPECT_EQ(index->WithoutAccount("404 of me:secret@index.example, secret"),
            "404 of ****@index.example, ****");
  EXPECT_EQ(parse("https://index.example/x")->WithoutAccount("as it is"), "as it is");
}

// --- hostile installers -------------------------------------------------------------------------
// Whoever broke out of pip, and of the worker, answers in its place.

class HostileInstaller : public testing::Test {
 protected:
  static core::Result<PackageLock> Take(const std::string& result, const std::string& archive,
                                        const std::string& name = "packages.tar.z") {
    const tests::TestFolder folder;
    fs::create_directory(folder.File("site"));
    const core::Result<installation::Installation> installation =
        installation::Installation::Find();
    const core::Result<PackageIndex> index =
        PackageIndex::Parse(SourceAt("http://127.0.0.1:1/simple"));
    const Installer installer(*installation, *index, {},
                              [&](const host::Request& request, const run::RunOptions&) {
                                host::Outcome outcome;
                                outcome.status = host::Status::kOk;
                                outcome.limits = request.limits;
                                outcome.result_json = result;
                                host::Artifact artifact;
                                artifact.name = name;
                                artifact.content = archive;
                                outcome.artifacts.push_back(artifact);
                                return core::Result<host::Outcome>(outcome);
                              });
    return installer.Install(
        {.requirements = {"x"}, .runtime = "", .architecture = "", .index = ""},
        folder.File("site"), -1);
  }
};

TEST_F(HostileInstaller, IsNotBelieved) {
  const std::string digest(64, 'a');
  const auto list = [&](const std::string& name, const std::string& version,
                        const std::string& file, const std::string& sha256) {
    return nlohmann::json{
        {"packages", {{{"name", name}, {"version", version}, {"file", file}, {"sha256", sha256}}}}}
        .dump();
  };
  const std::string good = list("x", "1.0", "x-1.0.whl", digest);
  EXPECT_TRUE(Has(Take(good, "no archive").error().ToString(), "damaged")) << "the control";
  for (const std::string& bad :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
        std::string(R"({"packages": []})"), std::string(R"({"packages": {}})"),
        list("X", "1.0", "x.whl", digest), list("../x", "1.0", "x.whl", digest),
        list("x", "1.0\n", "x.whl", digest), list("x", "", "x.whl", digest),
        list("x", "1.0", "a/b.whl", digest), list("x", "1.0", "..", digest),
        list("x", "1.0", "x-1.0.tar.gz", digest), list("x", "1.0", "x.whl", "short"),
        good.substr(0, good.size() - 1) + R"(,"more":1})"}) {
    const core::Result<PackageLock> lock = Take(bad, "no archive");
    ASSERT_FALSE(lock);
    EXPECT_TRUE(Has(lock.error().ToString(), "no valid answer")) << bad << lock.error().ToString();
  }
  EXPECT_TRUE(Has(Take(good, "x", "another.name").error().ToString(), "produced no packages"));
  // What it says is shown, and shown only.
  const core::Result<PackageLock> shown = Take(R"({"fault": "path", "what": "\u001b[2J"})", "");
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().ToString().find('\x1b'), std::string::npos);
}

// The name that a container's outcome gives an error is its own to choose.
TEST(InstallerEnd, OnlyACancellationIsOne) {
  const auto error_of = [](const host::Outcome& outcome) {
    const core::Result<installation::Installation> installation =
        installation::Installation::Find();
    const core::Result<PackageIndex> index =
        PackageIndex::Parse(SourceAt("http://127.0.0.1:1/simple"));
    const Installer installer(*installation, *index, {},
                              [&](const host::Request&, const run::RunOptions&) {
                                return core::Result<host::Outcome>(outcome);
                              });
    const tests::TestFolder folder;
    fs::create_directory(folder.File("site"));
    return installer
        .Install({.requirements = {"x"}, .runtime = "", .architecture = "", .index = ""},
                 folder.File("site"), -1)
        .error();
  };
  host::Outcome outcome;
  host::SetKilled(outcome, host::KillCause::kCancelled, "stopped");
  EXPECT_EQ(error_of(outcome).error_number, ECANCELED);
  outcome.status = host::Status::kException;
  outcome.kill_cause = host::KillCause::kUnknown;
  outcome.error->type = "Cancelled";
  const core::Error raised = error_of(outcome);
  EXPECT_EQ(raised.error_number, 0);
  EXPECT_TRUE(Has(raised.ToString(), "the installer ended: Cancelled: stopped"))
      << raised.ToString();
}

}  // namespace
}  // namespace belljar::container::packages::package_installer_test
