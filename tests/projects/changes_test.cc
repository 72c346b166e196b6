// What is found in the layer of an overlay, as text, made real, and kept in files. The guest's part
// is played by this program: it writes the layer as overlayfs does.
#include "engine/projects/changes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/core/fd.h"
#include "engine/projects/apply.h"
#include "engine/projects/diff.h"
#include "engine/projects/saved_changes.h"
#include "engine/workspace/workspace_snapshot.h"
#include "tests/support/support.h"

namespace belljar::projects::changes_test {
namespace {

namespace fs = std::filesystem;
using workspace::WorkspaceSnapshot;

const workspace::SnapshotBounds kBounds{core::Bytes::Mebi(64), 8192, true};
constexpr uid_t kGuest = 65534;
// After all files of a test were made.
constexpr workspace::FileTime kLater{int64_t{1} << 40, 0};

core::UniqueFd OpenedFolder(const std::string& path) {
  return core::UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string Text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Changes : public ::testing::Test {
 protected:
  Changes() : project_(NewFolder("")), layer_(NewFolder("/dev/shm")) {
    folder_ = OpenedFolder(project_);
  }
  ~Changes() override {
    fs::remove_all(project_);
    fs::remove_all(layer_);
  }

  static std::string NewFolder(const std::string& where) {
    std::string path =
        (where.empty() ? fs::temp_directory_path().string() : where) + "/belljar-changes-XXXXXX";
    if (!mkdtemp(path.data())) abort();
    return path;
  }

  // --- the guest's part ---

  void Put(const std::string& path, const std::string& text) { Write(layer_ + "/" + path, text); }
  void Whiteout(const std::string& path) {
    fs::create_directories(fs::path(layer_ + "/" + path).parent_path());
    if (mknod((layer_ + "/" + path).c_str(), S_IFCHR, 0) != 0) abort();
  }
  bool MakeOpaque(const std::string& path) {
    fs::create_directories(layer_ + "/" + path);
    return setxattr((layer_ + "/" + path).c_str(), "user.overlay.opaque", "y", 1, 0) == 0;
  }
  void Link(const std::string& path, const std::string& target) {
    fs::create_directories(fs::path(layer_ + "/" + path).parent_path());
    fs::create_symlink(target, layer_ + "/" + path);
  }

  ChangeSet Find(const workspace::FileTime& opened = kLater) {
    if (geteuid() == 0) {
      for (const auto& each : fs::recursive_directory_iterator(layer_))
        (void)lchown(each.path().c_str(), kGuest, kGuest);
      (void)chown(layer_.c_str(), kGuest, kGuest);
    }
    const core::UniqueFd root = OpenedFolder(layer_);
    return tests::Had(
        FindChanges(folder_, tests::Had(WorkspaceSnapshot::Take(root.get(), {}, kBounds)), opened));
  }

  // "A new, M old, D gone"
  static std::string Named(const ChangeSet& set) {
    std::string text;
    for (const Change& each : set.changes) {
      text += text.empty() ? "" : ", ";
      text += std::string(ChangeName(each.kind)) + " " + each.path;
    }
    return text;
  }

  core::Result<void> Make(const ChangeSet& set, bool with_git = false) {
    return Apply(folder_, set, {with_git});
  }

  // What is in the project, with the bytes of files.
  std::string Tree() const {
    std::vector<std::string> lines;
    for (const auto& each : fs::recursive_directory_iterator(project_)) {
      const std::string name = each.path().lexically_relative(project_).string();
      if (each.is_symlink())
        lines.push_back(name + "->" + fs::read_symlink(each.path()).string());
      else
        lines.push_back(name + (each.is_directory() ? "/" : "=" + Text(each.path())));
    }
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  void Given(const std::string& path, const std::string& text) {
    Write(project_ + "/" + path, text);
  }

  const std::string project_, layer_;
  core::UniqueFd folder_;
};

TEST_F(Changes, NamesWhatIsAddedChangedAndRemoved) {
  Given("same", "1\n");
  Given("old", "1\n2\n");
  Given("gone", "1\n");
  Given("tree/a", "a");
  Given("tree/b/c", "c");
  Put("same", "1\n");
  Put("old", "1\n2\n3\n");
  Put("new/deep", "n");
  Whiteout("gone");
  Whiteout("tree");
  Whiteout("never");
  const ChangeSet set = Find();
  EXPECT_EQ(Named(set),
            "removed gone, added new, added new/deep, changed old, removed tree, removed tree/a, "
            "removed tree/b, removed tree/b/c");
  EXPECT_TRUE(Make(set));
  EXPECT_EQ(Tree(), "new/\nnew/deep=n\nold=1\n2\n3\n\nsame=1\n\n");
}

TEST_F(Changes, AnOpaqueDirectoryHidesAllThatItDoesNotHave) {
  Given("d/kept", "k");
  Given("d/lost", "l");
  Given("d/sub/lost", "l");
  if (!MakeOpaque("d")) BELLJAR_SKIP_OR_FAIL("no extended attributes of users on this tmpfs");
  Put("d/kept", "k");
  Put("d/new", "n");
  const ChangeSet set = Find();
  EXPECT_EQ(Named(set), "removed d/lost, added d/new, removed d/sub, removed d/sub/lost");
  EXPECT_TRUE(Make(set));
  EXPECT_EQ(Tree(), "d/\nd/kept=k\nd/new=n\n");
}

TEST_F(Changes, KindsAndModesChange) {
  Given("file", "f");
  Given("folder/in", "i");
  Given("script", "#!/bin/sh\n");
  fs::create_symlink("file", project_ + "/link");
  Put("file/now", "a folder");
  Put("folder", "a file");
  Put("script", "#!/bin/sh\n");
  chmod((layer_ + "/script").c_str(), 0755);
  Link("link", "script");
  const ChangeSet set = Find();
  EXPECT_EQ(
      Named(set),
      "changed file, added file/now, changed folder, removed folder/in, changed link, changed "
      "script");
  EXPECT_TRUE(Make(set));
  EXPECT_EQ(Tree(), "file/\nfile/now=a folder\nfolder=a file\nlink->script\nscript=#!/bin/sh\n\n");
  struct stat status;
  EXPECT_EQ(stat((project_ + "/script").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0755u);
}

TEST_F(Changes, ADiffIsWhatGitWrites) {
  Given("old.txt", "1\n2\n3\n");
  Given("gone.txt", "x");
  Given("raw.bin", std::string("a\0b", 3));
  Put("old.txt", "1\nzwei\n3\n");
  Put("new.txt", "n\n");
  Put("empty", "");
  Put("raw.bin", std::string("a\0c", 3));
  Put("a \"b\"\n", "q\n");
  Whiteout("gone.txt");
  chmod((layer_ + "/new.txt").c_str(), 0755);
  for (const char* each : {"old.txt", "empty", "raw.bin"})
    chmod((layer_ + "/" + each).c_str(), 0644);
  chmod((layer_ + "/a \"b\"\n").c_str(), 0644);
  for (const char* each : {"old.txt", "gone.txt", "raw.bin"})
    chmod((project_ + "/" + each).c_str(), 0644);
  EXPECT_EQ(UnifiedDiff(folder_, Find()),
            "diff --git \"a/a \\\"b\\\"\\012\" \"b/a \\\"b\\\"\\012\"\nnew file mode 100644\n"
            "--- /dev/null\n+++ \"b/a \\\"b\\\"\\012\"\n@@ -0,0 +1,1 @@\n+q\n"
            "diff --git a/empty b/empty\nnew file mode 100644\n"
            "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n"
            "--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n"
            "diff --git a/new.txt b/new.txt\nnew file mode 100755\n"
            "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+n\n"
            "diff --git a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n"
            "@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n"
            "diff --git a/raw.bin b/raw.bin\nBinary files a/raw.bin and b/raw.bin differ\n");
}

TEST_F(Changes, AreNotAppliedOverOthers) {
  Given("a", "1");
  Given("b", "1");
  Put("a", "2");
  Put("b", "2");
  Put("c", "new");
  const ChangeSet set = Find();
  const std::string before = Tree();
  Given("b", "somebody else's");
  const core::Result<void> applied = Make(set);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().cause, core::Cause::kWorkspace);
  EXPECT_EQ(applied.error().ToString(),
            "apply the change of \"b\": it has changed in the project since; nothing was applied");
  EXPECT_EQ(Text(project_ + "/a"), "1");
  EXPECT_FALSE(fs::exists(project_ + "/c"));
  // One that has come meanwhile, too.
  Given("c", "somebody else's");
  fs::remove(project_ + "/b");
  Given("b", "1");
  EXPECT_FALSE(Make(Select(set, [](const Change& each) { return each.path == "c"; })));
  EXPECT_EQ(Text(project_ + "/c"), "somebody else's");
}

TEST_F(Changes, WhatWasChangedOutsideWhileTheSessionWasOpenIsAConflict) {
  Given("a", "1");
  Put("a", "2");
  const ChangeSet set = Find({1, 0});  // opened in 1970
  ASSERT_EQ(set.changes.size(), 1u);
  EXPECT_TRUE(set.changes[0].has_conflict);
  EXPECT_FALSE(Make(set));
  EXPECT_EQ(Text(project_ + "/a"), "1");
}

TEST_F(Changes, AreUndoneIfOneCannotBeMade) {
  Given("a", "1");
  Given("d/x", "x");
  Put("a", "2");
  Put("b/new", "n");
  Whiteout("d");
  const ChangeSet set = Find();
  // Not in the list: the directory cannot be removed.
  Given("d/later", "l");
  const std::string before = Tree();
  const core::Result<void> applied = Make(set);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().error_number, ENOTEMPTY) << applied.error().ToString();
  EXPECT_EQ(Tree(), before);
}

// --- attacks -------------------------------------------------------------------------------------

TEST_F(Changes, NoLinkOfTheProjectIsFollowed) {
  const std::string outside = NewFolder("");
  Write(outside + "/victim", "safe");
  Given("d/victim", "1");
  Put("d/victim", "2");
  const ChangeSet set = Find();
  // Somebody replaces the directory by a link that leads out, between review and apply.
  fs::remove_all(project_ + "/d");
  fs::create_symlink(outside, project_ + "/d");
  EXPECT_FALSE(Make(set));
  EXPECT_EQ(Text(outside + "/victim"), "safe");
  // Nor is anything read there.
  EXPECT_EQ(Named(Find()), "changed d, added d/victim");
  EXPECT_FALSE(Make(Select(Find(), [](const Change& each) { return each.path == "d/victim"; })));
  EXPECT_EQ(Text(outside + "/victim"), "safe");
  fs::remove_all(outside);
}

TEST_F(Changes, LinksThatLeadOutAreRefused) {
  for (const char* target : {"/etc/passwd", "../x", "sub/../../x", "a/../b", ""}) {
    EXPECT_TRUE(LeadsOut("link", target)) << target;
  }
  EXPECT_TRUE(LeadsOut("a/b/link", "../../../x"));
  for (const char* target : {"x", "./x", "x/y", "x/./y"}) EXPECT_FALSE(LeadsOut("link", target));
  EXPECT_FALSE(LeadsOut("a/b/link", "../../x"));
  Link("sub/link", "../../etc");
  const ChangeSet set = Find();
  const core::Result<void> applied = Make(set);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().ToString(),
            "apply the change of \"sub/link\": the link leads out of the project");
  EXPECT_EQ(Tree(), "");
}

TEST_F(Changes, GitsOwnFilesNeedAWord) {
  for (const char* path :
       {".git", ".git/hooks/pre-commit", "sub/.git/config", "sub/.git", ".GIT/config"})
    EXPECT_TRUE(IsOfGit(path)) << path;
  for (const char* path : {".gitignore", "a.git", "x.git/config"}) EXPECT_FALSE(IsOfGit(path));
  Given(".git/config", "");
  Put(".git/hooks/pre-commit", "#!/bin/sh\n");
  const ChangeSet set = Find();
  EXPECT_FALSE(Make(set));
  EXPECT_FALSE(fs::exists(project_ + "/.git/hooks"));
  EXPECT_TRUE(Make(set, true));
  EXPECT_TRUE(fs::exists(project_ + "/.git/hooks/pre-commit"));
}

TEST_F(Changes, NoRightsComeWithAFile) {
  Put("tool", "x");
  Put("pipe", "");
  chmod((layer_ + "/tool").c_str(), 06755);
  fs::remove(layer_ + "/pipe");
  ASSERT_EQ(mkfifo((layer_ + "/pipe").c_str(), 0600), 0);
  const ChangeSet set = Find();
  EXPECT_EQ(Named(set), "added tool");
  EXPECT_EQ(set.left_out, 1u);
  ASSERT_TRUE(Make(set));
  struct stat status;
  ASSERT_EQ(stat((project_ + "/tool").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755u);
}

// --- selections and files
// --------------------------------------------------------------------------

TEST_F(Changes, ASelectionBringsItsDirectories) {
  Given("gone/a", "a");
  Given("gone/b", "b");
  Put("new/x/1", "1");
  Put("new/2", "2");
  Whiteout("gone");
  const ChangeSet set = Find();
  const auto select = [&](std::vector<std::string> paths) {
    return Named(Select(set, [&](const Change& each) {
      return std::ranges::find(paths, each.path) != paths.end();
    }));
  };
  EXPECT_EQ(select({"new/x/1"}), "added new, added new/x, added new/x/1");
  EXPECT_EQ(select({"new/2"}), "added new, added new/2");
  EXPECT_EQ(select({"gone/a"}), "removed gone/a");
  EXPECT_EQ(select({"gone/a", "gone/b"}), "removed gone, removed gone/a, removed gone/b");
  EXPECT_EQ(Named(Without(
                set, Select(set, [](const Change& each) { return each.path.starts_with("new"); }))),
            "removed gone, removed gone/a, removed gone/b");
}

TEST_F(Changes, AreKeptInFiles) {
  Given("a", "1");
  Put("a", std::string("2\0\xff", 3));
  Link("l", "a");
  Whiteout("b");
  const std::string folder = project_ + "-store";
  const ChangeStore store(folder);
  EXPECT_EQ(tests::Had(store.List("")).size(), 0u);
  SavedChanges saved{
      .id = {}, .folder = project_, .made = std::chrono::system_clock::now(), .set = Find()};
  saved.id = tests::Had(store.Save(saved));
  const std::vector<SavedChanges> all = tests::Had(store.List(project_));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, saved.id);
  EXPECT_EQ(Named(all[0].set), "changed a, added l");
  EXPECT_TRUE(Make(all[0].set));
  EXPECT_EQ(Text(project_ + "/a"), std::string("2\0\xff", 3));
  EXPECT_EQ(tests::Had(store.List(project_ + "/other")).size(), 0u);
  struct stat status;
  ASSERT_EQ(stat((folder + "/" + saved.id + ".changes").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  // One that is damaged is named.
  fs::resize_file(folder + "/" + saved.id + ".changes", 40);
  EXPECT_NE(store.List("").error().ToString().find(saved.id), std::string::npos);
  EXPECT_TRUE(store.Remove(saved.id));
  EXPECT_FALSE(store.Remove(saved.id));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace belljar::projects::changes_test
