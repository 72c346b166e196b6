// The overlay itself. No worker has it here: the layer is written from outside, as the kernel does.
#include "engine/projects/project.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/core/fd.h"
#include "engine/workspace/workspace.h"
#include "tests/support/support.h"

namespace belljar::projects::project_test {
namespace {

namespace fs = std::filesystem;

const core::WorkspaceRule kRule{core::Bytes::Mebi(16), 1024};

class Projects : public ::testing::Test {
 protected:
  Projects() {
    path_ = fs::temp_directory_path().string() + "/belljar-project-XXXXXX";
    if (!mkdtemp(path_.data())) abort();
    std::ofstream(path_ + "/below") << "below";
  }
  ~Projects() override { fs::remove_all(path_); }

  std::shared_ptr<Project> Opened() {
    core::Result<std::shared_ptr<Project>> project = Project::Open(path_, kRule);
    if (project) return *project;
    // What it needs: Linux 6.6, and as root a file system with id-mapped mounts.
    reason_ = project.error().ToString();
    return nullptr;
  }

  std::string path_;
  std::string reason_;
};

TEST_F(Projects, ABranchBeginsWithWhatWasChanged) {
  const std::shared_ptr<Project> project = Opened();
  if (!project) BELLJAR_SKIP_OR_FAIL(reason_);
  const core::UniqueFd merged = project->TakeMount();
  EXPECT_EQ(tests::Had(workspace::ReadFile(merged.get(), "below", core::Bytes::Mebi(1))), "below");
  ASSERT_TRUE(workspace::ReplaceFiles(merged.get(), {{"new/file", "new"}}));
  ASSERT_TRUE(workspace::RemoveFile(merged.get(), "below"));
  const auto branch = tests::Had(project->Branch());
  const core::UniqueFd other = branch->TakeMount();
  EXPECT_EQ(tests::Had(workspace::ReadFile(other.get(), "new/file", core::Bytes::Mebi(1))), "new");
  EXPECT_FALSE(workspace::ReadFile(other.get(), "below", core::Bytes::Mebi(1)));
  ASSERT_TRUE(workspace::ReplaceFiles(other.get(), {{"new/file", "other"}}));
  EXPECT_EQ(tests::Had(workspace::ReadFile(merged.get(), "new/file", core::Bytes::Mebi(1))), "new");
  const ProjectChanges changes = tests::Had(branch->Changes());
  EXPECT_EQ(changes.set.changes.size(), 3u);  // below, new, new/file
  EXPECT_TRUE(fs::exists(path_ + "/below"));
  EXPECT_FALSE(fs::exists(path_ + "/new"));
}

TEST_F(Projects, ItsSizeIsBounded) {
  const std::shared_ptr<Project> project = Opened();
  if (!project) BELLJAR_SKIP_OR_FAIL(reason_);
  const core::UniqueFd merged = project->TakeMount();
  const core::Result<void> put =
      workspace::ReplaceFiles(merged.get(), {{"large", std::string(size_t{17} << 20, 'x')}});
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().cause, core::Cause::kWorkspace) << put.error().ToString();
}

TEST_F(Projects, OnlyAFolderOfOnesOwnIsOne) {
  EXPECT_EQ(Project::Open(path_ + "/none", kRule).error().error_number, 0);
  EXPECT_EQ(Project::Open(path_ + "/below", kRule).error().error_number, 0);
  if (geteuid() == 0) return;
  EXPECT_EQ(Project::Open("/usr", kRule).error().error_number, 0);
}

TEST_F(Projects, NothingIsLeftOfIt) {
  const auto mounts = [] {
    std::ifstream file("/proc/self/mountinfo");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = mounts();
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto opened_before = descriptors();
  for (int i = 0; i < 3; ++i) {
    const std::shared_ptr<Project> project = Opened();
    if (!project) BELLJAR_SKIP_OR_FAIL(reason_);
    (void)project->TakeMount();
  }
  EXPECT_EQ(mounts(), before);
  EXPECT_EQ(descriptors(), opened_before);
  EXPECT_EQ(tests::Children().size(), 0u);
}

}  // namespace
}  // namespace belljar::projects::project_test
