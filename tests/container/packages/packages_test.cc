// Packages: what may be asked for, the tree that comes back, and the cache, without installing
// anything: package_installer_test.cc does.

#include <sys/file.h>
#include <sys/stat.h>
#include <zlib.h>

#include <atomic>
#include <thread>

#include "container/packages/package_cache.h"
#include "container/packages/package_lock.h"
#include "container/packages/package_profile.h"
#include "container/packages/package_requirement.h"
#include "container/packages/package_tree.h"
#include "tests/container/image_support.h"

namespace belljar::container::packages::packages_test {
namespace {

namespace fs = std::filesystem;

// --- what may be asked for ----------------------------------------------------------------------

std::string Canonical(const std::string& text) {
  const core::Result<std::vector<PackageRequirement>> read = ParseRequirements({text});
  return read ? read->front().ToString() : "refused";
}

TEST(PackageRequirements, HaveOneForm) {
  EXPECT_EQ(Canonical("requests"), "requests");
  EXPECT_EQ(Canonical("  Typing_Extensions "), "typing-extensions");
  EXPECT_EQ(Canonical("zope.interface"), "zope-interface");
  EXPECT_EQ(Canonical("Requests[Socks, security]>=2.31 , < 3"),
            "requests[security,socks]<3,>=2.31");
  EXPECT_EQ(Canonical("x==1.*"), "x==1.*");
  EXPECT_EQ(Canonical("x==1.0+local.1"), "x==1.0+local.1");
  EXPECT_EQ(Canonical("x~=1!2.0.post1,!=1!2.0rc1"), "x!=1!2.0rc1,~=1!2.0.post1");
}

TEST(PackageRequirements, NothingButNamesAndVersions) {
  const std::vector<std::string> refused = {"",
                                            " ",
                                            "-r",
                                            "--index-url=x",
                                            "-e.",
                                            ".",
                                            "..",
                                            "./here",
                                            "/etc",
                                            "a/b",
                                            "file:x",
                                            "x @ http://example.org/x.whl",
                                            "x@git+ssh://h/x",
                                            "http://example.org/x.whl",
                                            "x.whl/../y",
                                            "x; python_version<'4'",
                                            "x#fragment",
                                            "x\n--pre",
                                            "x\t",
                                            "x>=1 --pre",
                                            "x>=1;y",
                                            "x>=",
                                            "x=1",
                                            "x===anything",
                                            "x>=1.*",
                                            "x>1+local",
                                            "x[",
                                            "x[]",
                                            "x[a",
                                            "x[a,]",
                                            "x[-a]",
                                            "x[a]b",
                                            "x,y",
                                            "x y",
                                            "x>=1,",
                                            "x>=-1",
                                            "x>=1-",
                                            "x(>=1)",
                                            "a-",
                                            "-a",
                                            "_a",
                                            "a.",
                                            "$HOME",
                                            "`id`",
                                            "x\\",
                                            "p\xc3\xa9p",
                                            std::string("x\0y", 3),
                                            std::string(300, 'a'),
                                            "x>=" + std::string(300, '1')};
  for (const std::string& text : refused) EXPECT_EQ(Canonical(text), "refused") << text;
}

TEST(PackageRequirements, DigestsAreThoseOfARequirementsFile) {
  const std::string one(64, 'a');
  const std::string other(64, 'b');
  const auto hash = [](const std::string& digits) { return " --hash=sha256:" + digits; };
  EXPECT_EQ(Canonical("Six == 1.16.0" + hash(other) + hash(one) + hash(one) + " "),
            "six==1.16.0" + hash(one) + hash(other));
  for (const std::string& text :
       {"six==1 --hash=md5:" + std::string(32, 'a'), "six" + hash("a"), "six" + hash(one) + "0",
        "six" + hash(one) + " --index-url=http://example.org", hash(one), "six" + hash(one) + ";x",
        "six --no-deps" + hash(one), "six" + hash("../../" + one.substr(6))}) {
    EXPECT_EQ(Canonical(text), "refused") << text;
  }
}

TEST(PackageRequirements, OfNpmThereAreANameAndARange) {
  for (const std::string text : {"npm:left-pad", "npm:@types/node", "npm:left-pad@^1.3.0",
                                 "npm:@types/node@>=20 <22 || 24.x", "npm:a@latest", "npm:a@*"}) {
    EXPECT_EQ(Canonical(text), text);
  }
  for (const std::string text :
       {"npm:",          "npm:A",      "npm:./a", "npm:../a",  "npm:/a",       "npm:a/b",
        "npm:@a",        "npm:@a/b/c", "npm:a@",  "npm:a@b@c", "npm:a@file:b", "npm:a@git+ssh://b",
        "npm:a@b/c",     "npm:a@-x",   "npm:-a",  "npm:_a",    "npm:a\nb",     "npm:a@1\n",
        "npm:a --force", "NPM:a"}) {
    EXPECT_EQ(Canonical(text), "refused") << text;
  }
}

TEST(PackageRequirements, AListIsSortedAndNamesEachOnce) {
  const auto read = ParseRequirements({"b", "A>1"});
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].ToString(), "a>1");
  EXPECT_EQ((*read)[1].ToString(), "b");
  EXPECT_FALSE(ParseRequirements({}));
  const auto twice = ParseRequirements({"a.b<2", "A_B>1"});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().ToString().find("twice"), std::string::npos);
  EXPECT_FALSE(ParseRequirements(std::vector<std::string>(kMaxRequirements + 1, "a")));
}

TEST(PackageRequirements, PatternsOfAnOperator) {
  EXPECT_FALSE(IsAllowedPackage("requests", {}));
  EXPECT_TRUE(IsAllowedPackage("requests", {"Requests"}));
  EXPECT_FALSE(IsAllowedPackage("requests-evil", {"requests"}));
  EXPECT_TRUE(IsAllowedPackage("google-auth", {"google-*"}));
  EXPECT_FALSE(IsAllowedPackage("googleauth", {"google-*"}));
  EXPECT_TRUE(IsAllowedPackage("anything", {"*"}));
  EXPECT_FALSE(IsAllowedPackage("npm:anything", {"*", "npm"}));
  EXPECT_TRUE(IsAllowedPackage("npm:anything", {"npm:*"}));
  EXPECT_TRUE(IsAllowedPackage("npm:@own/a", {"npm:@own/*"}));
  EXPECT_FALSE(IsAllowedPackage("npm:left-pad", {"npm:left"}));
  EXPECT_FALSE(IsAllowedPackage("left", {"npm:left", "npm:*"}));
}

// --- the tree -----------------------------------------------------------------------------------

std::string Compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string compressed(size, '\0');
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(compressed.data()), &size,
                      reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1),
            Z_OK);
  compressed.resize(size);
  return compressed;
}

std::string SmallTar() {
  return tests::TarOf({tests::Folder("pkg"), tests::File("pkg/__init__.py", "x = 1\n"),
                       tests::File("pkg/_private.py", ""), tests::File("pkg/sub.py", "y = 2\n"),
                       tests::File("single.py", "")});
}

// What is said of `bytes` as a tree; empty: nothing is wrong. Nothing may lie beside the folder.
std::string TreeFault(const std::string& bytes, const TreeBounds& bounds = {}) {
  const tests::TestFolder folder;
  const std::string site = folder.File("site");
  fs::create_directory(site);
  const core::Result<TreeFacts> facts = UnpackTree(bytes, site, bounds);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  return facts ? "" : facts.error().ToString();
}

TEST(PackageTree, ComesOutAsItWentIn) {
  const tests::TestFolder folder;
  const core::Result<TreeFacts> facts = UnpackTree(Compressed(SmallTar()), folder.path(), {});
  ASSERT_TRUE(facts) << facts.error().ToString();
  EXPECT_EQ(tests::ReadText(folder.File("pkg/__init__.py")), "x = 1\n");
  EXPECT_EQ(facts->files, 4u);
  EXPECT_EQ(facts->bytes, 12u);
  EXPECT_EQ(facts->modules, (std::vector<std::string>{"pkg", "pkg.sub", "single"}));
  const core::Result<TreeFacts> again = ReadTree(folder.path());
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(*again, *facts);
}

TEST(PackageTree, HostileBytesAreRefused) {
  const std::string tar = SmallTar();
  EXPECT_EQ(TreeFault(Compressed(tar)), "");
  EXPECT_NE(TreeFault(""), "");
  EXPECT_NE(TreeFault("not compressed at all"), "");
  EXPECT_NE(TreeFault(Compressed(tar) + "more"), "");
  EXPECT_NE(TreeFault(Compressed(tar).substr(0, 40)), "");
  EXPECT_NE(TreeFault(Compressed(tests::TarOf({}))), "") << "it is empty";
  // Names and kinds: the writer would refuse them too, so they are written into its headers.
  const std::string one = tests::TarOf({tests::File("aaaaaaaaa", "text")});
  EXPECT_EQ(TreeFault(Compressed(one)), "");
  for (const std::string name :
       {"../escape", "/absolute", "a/../../b", "aa/./bbbb", "C\nontrol\1"}) {
    EXPECT_NE(TreeFault(Compressed(
                  tests::WithField(one, 0, 0, name + std::string(9 - name.size() % 9, 0)))),
              "")
        << name;
  }
  for (const char kind : {'1', '2', '3', '4', '6', '7', 'x', 'g', 'L'}) {
    EXPECT_NE(
        TreeFault(Compressed(tests::WithField(one, 0, tests::kTypeField, std::string(1, kind)))),
        "")
        << kind;
  }
  EXPECT_NE(TreeFault(Compressed(tests::WithField(one, 0, tests::kModeField, "0004755"))), "");
}

TEST(PackageTree, IsBounded) {
  const std::string large = tests::TarOf({tests::File("large", std::string(size_t{4} << 20, 'a'))});
  const std::string bomb = Compressed(large);
  ASSERT_LT(bomb.size(), size_t{64} << 10);
  EXPECT_EQ(TreeFault(bomb), "");
  EXPECT_NE(TreeFault(bomb, {.size = core::Bytes::Mebi(3)}).find("EFBIG"), std::string::npos);
  EXPECT_NE(TreeFault(bomb, {.size = core::Bytes::Mebi(1)}).find("EFBIG"), std::string::npos);
  const std::string small = Compressed(SmallTar());
  EXPECT_EQ(TreeFault(small, {.entries = 5}), "");
  EXPECT_NE(TreeFault(small, {.entries = 4}).find("EFBIG"), std::string::npos);
}

TEST(PackageTree, ModulesThatProgramsMayImport) {
  EXPECT_EQ(
      ModulesOf({"a/__init__.py", "a/b.py", "a/b/c.py", "a/b/c/d.py", "a/_b.py", "_a.py",
                 "a/tests/x.py", "setup.py", "sitecustomize.py", "not-a-name.py",
                 "c.cpython-311-x86_64-linux-gnu.so", "space/one/__init__.py", "space/one/two.py",
                 "space/one/two/three.py", "a-1.0.dist-info/METADATA", "a/data.txt", "bin/tool"}),
      (std::vector<std::string>{"a", "a.b", "c", "space.one", "space.one.two"}));
  std::vector<std::string> many = {"top/__init__.py"};
  for (int i = 0; i < 2000; ++i) many.push_back("top/m" + std::to_string(i) + ".py");
  EXPECT_EQ(ModulesOf(many).size(), kMaxModules);
}

// --- lock and cache -----------------------------------------------------------------------------

PackageQuestion Question() {
  return {.requirements = {"pkg>=1"},
          .runtime = "3.11.2",
          .architecture = "amd64",
          .index = "https://index.example/simple"};
}

PackageLock LockOf(const TreeFacts& tree) {
  return {.question = Question(),
          .packages = {{"pkg", "1.0", "pkg-1.0-py3-none-any.whl", std::string(64, 'a')}},
          .tree = tree};
}

core::Result<PackageLock> FillWith(const std::string& site) {
  core::Result<TreeFacts> tree = UnpackTree(Compressed(SmallTar()), site, {});
  if (!tree) return tree.error();
  return LockOf(*tree);
}

LockWait Soon() { return {.deadline = core::Clock::now() + std::chrono::seconds(20)}; }

PackageCache OpenCache(const std::string& folder) {
  core::Result<PackageCache> cache = PackageCache::Open(folder);
  EXPECT_TRUE(cache) << cache.error().ToString();
  return std::move(*cache);
}

TEST(PackageLocks, AreReadAsTheyWereWritten) {
  const PackageLock lock = LockOf({std::string(64, 'b'), 4, 12, {"pkg", "pkg.sub"}});
  const core::Result<PackageLock> read = PackageLockFromText(PackageLockToText(lock));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, lock);
  EXPECT_EQ(read->Names(), std::vector<std::string>{"pkg==1.0"});
}

TEST(PackageLocks, OfNpmThereMayBeSeveralVersionsOfOneName) {
  PackageLock lock = LockOf({std::string(64, 'b'), 4, 12, {}});
  lock.question.requirements = {"npm:left@2"};
  lock.packages = {{"npm:left", "1.0.0", "left-1.0.0.tgz", std::string(64, 'a')},
                   {"npm:left", "2.0.0", "left-2.0.0.tgz", std::string(64, 'a')}};
  const core::Result<PackageLock> read = PackageLockFromText(PackageLockToText(lock));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->Names(), (std::vector<std::string>{"npm:left@1.0.0", "npm:left@2.0.0"}));
  PackageLock twice = lock;
  twice.packages[1].version = "1.0.0";
  EXPECT_FALSE(PackageLockFromText(PackageLockToText(twice)));
  PackageLock mixed = lock;
  mixed.packages[1] = LockOf({}).packages[0];
  EXPECT_FALSE(PackageLockFromText(PackageLockToText(mixed)));
}

TEST(PackageLocks, OthersAreRefused) {
  const std::string text = PackageLockToText(LockOf({std::string(64, 'b'), 4, 12, {"pkg"}}));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    EXPECT_NE(at, other.npos) << from;
    return other.replace(at, from.size(), to);
  };
  ASSERT_TRUE(PackageLockFromText(text));
  for (const std::string& other :
       {std::string(), text.substr(1), with("\"schema\": 2", "\"schema\": 1"),
        with("\"pkg\",", "\"-r\","), with("1.0\"", "1.0\\n\""), with("pkg-1.0-py3", "../x"),
        with("aaaa", "AAAA"), with("bbbb", "xxxx"), with("\"files\": 4", "\"files\": -4"),
        with("\"pkg\"\n", "\"os'\"\n"), with("\"tree\"", "\"tree\": {}, \"tree\""),
        with("\"schema\"", "\"more\": 1, \"schema\"")}) {
    EXPECT_FALSE(PackageLockFromText(other)) << other;
  }
}

TEST(PackageProfiles, ABaseIsKnownByTheName) {
  const PackageLock lock = LockOf({std::string(64, 'b'), 4, 12, {"pkg"}});
  for (const std::string base : {"basic", "data-science+network"}) {
    EXPECT_EQ(BaseOfPackageProfile(PackageProfileName(base, lock)), base);
  }
  for (const std::string& other :
       {std::string("basic"), std::string("basic-packages-"), std::string("basic-packages-bb"),
        "basic-packages-" + std::string(32, 'x'), "basic-packages-" + std::string(64, 'b')}) {
    EXPECT_EQ(BaseOfPackageProfile(other), "") << other;
  }
}

TEST(PackageLocks, KeyIsOfTheWholeQuestion) {
  const std::string key = Question().Key();
  EXPECT_EQ(key.size(), 64u);
  for (const auto change : {+[](PackageQuestion& q) { q.requirements = {"pkg"}; },
                            +[](PackageQuestion& q) { q.runtime = "3.12.0"; },
                            +[](PackageQuestion& q) { q.architecture = "arm64"; },
                            +[](PackageQuestion& q) { q.index += "/"; }}) {
    PackageQuestion other = Question();
    change(other);
    EXPECT_NE(other.Key(), key);
  }
}

TEST(PackageCache, InstallsOnceAndNeverAsksAgain) {
  const tests::TestFolder folder;
  const PackageCache cache = OpenCache(folder.File("packages"));
  const auto nothing = cache.Find(Question());
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  int fills = 0;
  const auto fill = [&](const std::string& site) { return ++fills, FillWith(site); };
  const core::Result<CachedPackages> first = cache.Get(Question(), Soon(), fill);
  ASSERT_TRUE(first) << first.error().ToString();
  const core::Result<CachedPackages> second = cache.Get(Question(), Soon(), fill);
  ASSERT_TRUE(second);
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(first->lock, second->lock);
  EXPECT_TRUE(CheckTree(*second));
}

TEST(PackageCache, OfManyAtTheSameTimeOneInstalls) {
  const tests::TestFolder folder;
  const PackageCache cache = OpenCache(folder.File("packages"));
  std::atomic<int> fills = 0;
  std::atomic<int> well = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      well += cache
                  .Get(Question(), Soon(),
                       [&](const std::string& site) {
                         ++fills;
                         // sleeps: the others come meanwhile
                         std::this_thread::sleep_for(std::chrono::milliseconds(300));
                         return FillWith(site);
                       })
                  .ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(well, 6);
}

TEST(PackageCache, WhoWaitsMayGiveUp) {
  const tests::TestFolder folder;
  const PackageCache cache = OpenCache(folder.File("packages"));
  const std::string path = folder.File("packages/" + Question().Key() + ".lock");
  const core::UniqueFd held(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(flock(held.get(), LOCK_EX), 0);
  const auto late = cache.Get(Question(), {.deadline = core::Clock::now()}, FillWith);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().error_number, ETIMEDOUT);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const core::UniqueFd read_end(ends[0]);
  const core::UniqueFd write_end(ends[1]);
  ASSERT_EQ(write(write_end.get(), "x", 1), 1);
  LockWait wait = Soon();
  wait.cancel_fd = read_end.get();
  const auto cancelled = cache.Get(Question(), wait, FillWith);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().error_number, ECANCELED);
}

TEST(PackageCache, AFailureLeavesNothing) {
  const tests::TestFolder folder;
  const PackageCache cache = OpenCache(folder.File("packages"));
  const auto failed = cache.Get(Question(), Soon(), [](const std::string& site) {
    tests::WriteText(site + "/half", "of it");
    return core::Result<PackageLock>(core::MakeError("install", "no"));
  });
  EXPECT_FALSE(failed);
  for (const auto& entry : fs::directory_iterator(folder.File("packages"))) {
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  }
  // And what a crash has left is in nobody's way.
  fs::create_directories(folder.File("packages/" + Question().Key() + ".new/site/old"));
  EXPECT_TRUE(cache.Get(Question(), Soon(), FillWith));
}

TEST(PackageCache, WhatWasAlteredIsNotRun) {
  const std::vector<std::function<void(const std::string& site)>> alterations = {
      [](const std::string& site) { tests::WriteText(site + "/pkg/sub.py", "y = 3\n"); },
      [](const std::string& site) { tests::WriteText(site + "/more.py", ""); },
      [](const std::string& site) { fs::remove(site + "/single.py"); },
      [](const std::string& site) { fs::create_symlink("/etc/passwd", site + "/link"); },
      [](const std::string& site) { ASSERT_EQ(mkfifo((site + "/pipe").c_str(), 0600), 0); },
      [](const std::string& site) { ASSERT_EQ(chmod((site + "/single.py").c_str(), 0755), 0); }};
  for (size_t i = 0; i < alterations.size(); ++i) {
    const tests::TestFolder folder;
    const PackageCache cache = OpenCache(folder.File("packages"));
    const core::Result<CachedPackages> packages = cache.Get(Question(), Soon(), FillWith);
    ASSERT_TRUE(packages);
    ASSERT_TRUE(CheckTree(*packages));
    alterations[i](packages->site);
    const core::Result<void> checked = CheckTree(*packages);
    ASSERT_FALSE(checked) << i;
    EXPECT_NE(checked.error().ToString().find("remove that folder"), std::string::npos);
  }
}

TEST(PackageCache, ADamagedLockIsNotBelieved) {
  const tests::TestFolder folder;
  const PackageCache cache = OpenCache(folder.File("packages"));
  const core::Result<CachedPackages> packages = cache.Get(Question(), Soon(), FillWith);
  ASSERT_TRUE(packages);
  const std::string path = fs::path(packages->site).parent_path() / "lock.json";
  fs::permissions(path, fs::perms::owner_all);
  PackageLock other = packages->lock;
  other.question.index = "https://elsewhere.example/simple";
  for (const std::string& text : {std::string("{}"), PackageLockToText(other)}) {
    tests::WriteText(path, text);
    const auto found = cache.Get(Question(), Soon(), FillWith);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().ToString().find("remove that folder"), std::string::npos);
  }
}

TEST(PackageCache, AFolderOfOthersIsRefused) {
  const tests::TestFolder folder;
  ASSERT_EQ(mkdir(folder.File("open").c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.File("open").c_str(), 0777), 0);
  EXPECT_FALSE(PackageCache::Open(folder.File("open")));
  tests::WriteText(folder.File("file"), "");
  EXPECT_FALSE(PackageCache::Open(folder.File("file")));
  EXPECT_FALSE(PackageCache::Open(folder.File("file/below")));
  EXPECT_TRUE(PackageCache::Open(folder.File("a/new/one")));
}

}  // namespace
}  // namespace belljar::container::packages::packages_test
