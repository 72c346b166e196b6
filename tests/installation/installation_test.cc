// Where an installation is looked for, which interpreter becomes its zygote, and which packages of
// an environment are a profile's.
#include "engine/installation/installation.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace belljar::installation::installation_test {
namespace {

namespace fs = std::filesystem;

const std::string kPython = "python" BELLJAR_TEST_PYTHON_MINOR;

class Environment : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "belljar-installation-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = fs::canonical(name);
    packages_ = root_ / "lib" / kPython / "site-packages";
    Write(packages_ / "belljar/_installation/libexec/belljar/belljar-zygote.so");
    fs::create_directories(Share() / "requirements");
    // An interpreter as environments have it: a link to a program elsewhere.
    fs::create_directories(root_ / "bin");
    fs::create_symlink(fs::canonical("/proc/self/exe"), root_ / "bin" / kPython);
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, const std::string& text = "") {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  fs::path Share() const { return packages_ / "belljar/_installation/share/belljar"; }
  core::Result<Installation> Find(const std::string& interpreter = "") const {
    return Installation::Find({.folder = packages_ / "belljar", .interpreter = interpreter});
  }
  // A package as pip leaves it, with one file more than its metadata.
  void Install(const std::string& name, const std::string& version, const std::string& record) {
    Write(packages_ / (name + "-" + version + ".dist-info") / "RECORD", record);
  }
  core::Profile WithSet() const {
    core::Profile profile;
    profile.packages = {{"numbers", {"numpy", "six"}}};
    return profile;
  }

  fs::path root_, packages_;
};

TEST_F(Environment, IsFoundFromItsPackage) {
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->zygote, packages_ / "belljar/_installation/libexec/belljar/belljar-zygote.so");
  EXPECT_EQ(found->rules, Share() / "rules.json");
  EXPECT_EQ(found->environment, packages_);
}

TEST_F(Environment, ItsZygoteIsTheProgramBehindItsInterpreter) {
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->interpreter, fs::canonical("/proc/self/exe"));
}

TEST_F(Environment, AnInterpreterThatIsNamedComesFirst) {
  const core::Result<Installation> found = Find("/bin/true");
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->interpreter, fs::canonical("/bin/true"));
}

TEST_F(Environment, AnInterpreterThatIsNoProgramIsRefused) {
  Write(root_ / "shim", "#!/bin/sh\n");
  fs::permissions(root_ / "shim", fs::perms::owner_all);
  for (const std::string& named : {(root_ / "shim").string(), std::string("/nowhere/python")}) {
    const core::Result<Installation> found = Find(named);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().ToString().find("is not a program"), std::string::npos);
  }
}

// `pip install --user` and --target: there is no interpreter near.
TEST_F(Environment, WithoutOneTheInterpreterIsTheFirstProgramOnPath) {
  fs::remove(root_ / "bin" / kPython);
  Write(root_ / "shims" / kPython, "#!/bin/sh\n");
  fs::permissions(root_ / "shims" / kPython, fs::perms::owner_all);
  fs::create_directories(root_ / "programs");
  fs::create_symlink("/bin/true", root_ / "programs" / kPython);
  const std::string before = getenv("PATH");
  setenv("PATH",
         ("shims:" + (root_ / "shims").string() + ":" + (root_ / "programs").string()).c_str(), 1);
  const core::Result<Installation> found = Find();
  setenv("PATH", (root_ / "shims").c_str(), 1);
  const core::Result<Installation> none = Find();
  setenv("PATH", before.c_str(), 1);
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->interpreter, fs::canonical("/bin/true"));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().ToString().find(kPython), std::string::npos);
}

TEST_F(Environment, TheStandardLibraryIsThatOfItsInterpreter) {
  fs::copy("/bin/true", root_ / "real");
  fs::create_directories(root_ / "opt/bin");
  fs::rename(root_ / "real", root_ / "opt/bin" / kPython);
  Write(root_ / "opt/lib" / kPython / "os.py");
  const core::Result<Installation> found = Find(root_ / "opt/bin" / kPython);
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->StandardLibrary(), root_ / "opt/lib" / kPython);
}

TEST_F(Environment, WithoutAnInstallationTheErrorNamesTheFolder) {
  fs::remove_all(packages_ / "belljar/_installation");
  const core::Result<Installation> found = Find();
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().ToString().find((packages_ / "belljar").string()), std::string::npos);
}

TEST_F(Environment, OfASetOnlyItsOwnEntriesAreChosen) {
  Write(Share() / "requirements/numbers.pins", "numpy 2.4.6\npython-dateutil 4.0.0\nsix 1.17.0\n");
  Install(
      "numpy", "2.4.6",
      "../../../bin/f2py,sha256=x,1\nnumpy/__init__.py,sha256=x,1\nnumpy/core/a.py,,\n"
      "numpy.libs/libblas.so,,\nnumpy-2.4.6.dist-info/RECORD,,\nnumpy-2.4.6.dist-info/METADATA,,\n"
      "/etc/passwd,,\nnumpy/../../outside.py,,\n");
  Install("python_dateutil", "4.0.0",
          "shared/dateutil/__init__.py,,\n\"shared/a,\"\"b\"\".txt\",,\nstartup.pth,,\n");
  Install("six", "1.17.0", "six.py,,\n__pycache__/six.cpython-311.pyc,,\n");
  Install("secret", "1.0", "shared/secret/__init__.py,,\nsecret.py,,\n");
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  const PackageFolder folder = found->FolderOfSet("numbers");
  EXPECT_EQ(folder.path, packages_);
  EXPECT_EQ(folder.entries,
            (std::vector<std::string>{"numpy", "numpy-2.4.6.dist-info", "numpy.libs/libblas.so",
                                      "shared/a,\"b\".txt", "shared/dateutil", "six.py"}));
  EXPECT_TRUE(found->Missing(WithSet()).empty());
}

TEST_F(Environment, ASetOfOtherVersionsIsMissingAndSaysWhatIsThere) {
  Write(Share() / "requirements/numbers.pins", "numpy 2.4.6\nsix 1.17.0\n");
  Install("numpy", "2.0.0", "numpy/__init__.py,,\n");
  Install("six", "1.17.0", "six.py,,\n");
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->FolderOfSet("numbers").path, "");
  EXPECT_TRUE(found->PackagesOfSet("numbers").empty());
  const std::vector<MissingPackages> missing = found->Missing(WithSet());
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].command, "pip install \"belljar-sandbox[numbers]\"");
  EXPECT_EQ(missing[0].modules, (std::vector<std::string>{"numpy", "six"}));
  EXPECT_EQ(missing[0].differing, std::vector<std::string>{"numpy 2.0.0, where 2.4.6 is needed"});
}

TEST_F(Environment, ASetWithOnePackageTooFewIsMissing) {
  Write(Share() / "requirements/numbers.pins", "numpy 2.4.6\nsix 1.17.0\n");
  Install("six", "1.17.0", "six.py,,\n");
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  const std::vector<MissingPackages> missing = found->Missing(WithSet());
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_TRUE(missing[0].differing.empty());
}

// Without pins nothing is known of a set: none of it is taken, rather than all of the folder.
TEST_F(Environment, ASetThatNobodyPinnedIsMissing) {
  const core::Result<Installation> found = Find();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->FolderOfSet("numbers").path, "");
  EXPECT_EQ(found->Missing(WithSet()).size(), 1u);
}

TEST(BuildTree, TheZygoteIsAProgramOfItsOwn) {
  const core::Result<Installation> found = Installation::Find();
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_TRUE(found->interpreter.empty());
  EXPECT_TRUE(found->environment.empty());
  EXPECT_TRUE(found->zygote.ends_with("/belljar-zygote"));
}

}  // namespace
}  // namespace belljar::installation::installation_test
