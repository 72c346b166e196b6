// Files of a workspace, kept and brought back. The guest's part is played by this program, with the
// guest's user id on a folder of a tmpfs.
#include "engine/workspace/workspace_snapshot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/host/digest.h"
#include "engine/workspace/workspace.h"
#include "engine/workspace/workspace_access.h"
#include "tests/support/support.h"

namespace belljar::workspace::workspace_snapshot_test {
namespace {

namespace fs = std::filesystem;
using Kind = SnapshotEntry::Kind;

const SnapshotBounds kBounds{core::Bytes::Mebi(64), 8192};

std::string BytesOf(const FileContent& content) {
  std::string bytes;
  for (size_t i = 0; i < content.pieces(); ++i) bytes += content.Piece(i);
  return bytes;
}

uint64_t MemoryOf(const std::vector<WorkspaceSnapshot>& snapshots) {
  SharedMemory memory;
  for (const WorkspaceSnapshot& snapshot : snapshots) snapshot.AddTo(memory);
  return memory.bytes;
}

core::UniqueFd OpenFolder(const std::string& path) {
  return core::UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A workspace of its own: a folder of a tmpfs, if there is one.
class Snapshots : public ::testing::Test {
 protected:
  Snapshots() {
    struct statfs system;
    const bool shm = statfs("/dev/shm", &system) == 0 && system.f_type == TMPFS_MAGIC;
    path_ = (shm ? std::string("/dev/shm") : fs::temp_directory_path().string()) +
            "/belljar-test-XXXXXX";
    if (!mkdtemp(path_.data())) abort();
    if (geteuid() == 0 && chown(path_.c_str(), 65534, 65534) != 0) abort();
    root_ = OpenFolder(path_);
  }
  ~Snapshots() override {
    EXPECT_TRUE(WorkspaceSnapshot().Restore(root_.get(), {core::Bytes{0}, 1 << 20}));
    EXPECT_TRUE(fs::is_empty(path_));
    fs::remove_all(path_);
  }

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // As the guest: overwrites in place.
  void Write(const std::string& name, const std::string& content) const {
    const GuestIdentity guest;
    const core::UniqueFd fd(open(Path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644));
    ASSERT_TRUE(fd) << core::SystemError(name).ToString();
    ASSERT_TRUE(core::WriteBytes(fd.get(), content));
    ASSERT_EQ(fchmod(fd.get(), 0644), 0);
  }
  void MakeDirectory(const std::string& name) const {
    const GuestIdentity guest;
    ASSERT_EQ(mkdir(Path(name).c_str(), 0755), 0) << core::SystemError(name).ToString();
  }
  void Link(const std::string& name, const std::string& target) const {
    const GuestIdentity guest;
    ASSERT_EQ(symlink(target.c_str(), Path(name).c_str()), 0) << core::SystemError(name).ToString();
  }
  void Mode(const std::string& name, mode_t mode) const {
    const GuestIdentity guest;
    ASSERT_EQ(chmod(Path(name).c_str(), mode), 0) << core::SystemError(name).ToString();
  }
  void Remove(const std::string& name) const { fs::remove_all(Path(name)); }
  struct stat Status(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(lstat(Path(name).c_str(), &status), 0) << core::SystemError(name).ToString();
    return status;
  }

  WorkspaceSnapshot Take(const WorkspaceSnapshot& previous = {}) const {
    core::Result<WorkspaceSnapshot> taken = WorkspaceSnapshot::Take(root_.get(), previous, kBounds);
    if (taken) return *std::move(taken);
    ADD_FAILURE() << taken.error().ToString();
    return {};
  }
  core::Error TakeError(const SnapshotBounds& bounds = kBounds) const {
    core::Result<WorkspaceSnapshot> taken = WorkspaceSnapshot::Take(root_.get(), {}, bounds);
    if (!taken) return taken.error();
    ADD_FAILURE() << "it was taken";
    return {};
  }
  // Restores, and checks that it is as it was.
  void Restore(const WorkspaceSnapshot& snapshot) const {
    const core::Result<void> restored = snapshot.Restore(root_.get(), kBounds);
    ASSERT_TRUE(restored) << restored.error().ToString();
    const WorkspaceSnapshot now = Take(snapshot);
    EXPECT_TRUE(now == snapshot) << Differences(snapshot, now);
    EXPECT_EQ(now.left_out(), 0u);
  }
  static std::string Differences(const WorkspaceSnapshot& before, const WorkspaceSnapshot& now) {
    std::string text;
    for (const auto& entry : before.entries()) {
      const SnapshotEntry* other = now.Find(entry->path);
      if (!other || *other != *entry) text += entry->path + (other ? " differs\n" : " is gone\n");
    }
    for (const auto& entry : now.entries()) {
      if (!before.Find(entry->path)) text += entry->path + " is new\n";
    }
    return text;
  }

  std::string path_;
  core::UniqueFd root_;
};

TEST_F(Snapshots, WhatIsThereIsListed) {
  Write("b", "two\n");
  MakeDirectory("a");
  MakeDirectory("a-b");
  MakeDirectory("a/empty");
  Write("a/x", std::string(100'000, 'x'));
  Link("link", "a/x");
  Mode("b", 0640);
  const timespec times[2] = {{1, 2}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("b").c_str(), times, 0), 0);
  const WorkspaceSnapshot snapshot = Take();
  std::string paths;
  for (const auto& entry : snapshot.entries()) paths += entry->path + " ";
  EXPECT_EQ(paths, "a a-b a/empty a/x b link ");
  EXPECT_EQ(snapshot.bytes(), 100'000u + 4 + 3);
  EXPECT_EQ(snapshot.left_out(), 0u);
  EXPECT_EQ(snapshot.Find("a")->kind, Kind::kDirectory);
  EXPECT_EQ(snapshot.Find("a")->mode, 0755u);
  const SnapshotEntry& file = *snapshot.Find("b");
  EXPECT_EQ(file.kind, Kind::kFile);
  EXPECT_EQ(file.mode, 0640u);
  EXPECT_EQ(file.modified, (FileTime{1'700'000'000, 123'456'789}));
  EXPECT_EQ(file.size(), 4u);
  EXPECT_EQ(file.Sha256(), host::Sha256("two\n"));
  EXPECT_EQ(BytesOf(snapshot.Find("a/x")->content), std::string(100'000, 'x'));
  EXPECT_EQ(snapshot.Find("a/x")->Sha256(), host::Sha256(std::string(100'000, 'x')));
  EXPECT_EQ(snapshot.Find("link")->kind, Kind::kLink);
  EXPECT_EQ(snapshot.Find("link")->target, "a/x");
  EXPECT_EQ(snapshot.Find("nothing"), nullptr);
  EXPECT_EQ(snapshot.Find(""), nullptr);
}

TEST_F(Snapshots, EverythingIsBroughtBack) {
  MakeDirectory("kept");
  MakeDirectory("kept/deep");
  MakeDirectory("gone");
  MakeDirectory("gone/empty");
  MakeDirectory("to file");
  Write("kept/same", "same");
  Write("kept/deep/shorter", std::string(200'000, 's'));
  Write("kept/longer", "l");
  Write("gone/a", "a");
  Write("to file/x", "x");
  Write("to directory", "file");
  Write("to link", "file");
  Write("mode", "m");
  Write("time", "t");
  Link("link", "kept/same");
  Link("other", "before");
  const WorkspaceSnapshot first = Take();

  Write("kept/deep/shorter", "short");
  Write("kept/longer", std::string(300'000, 'L'));
  Remove("gone");
  Remove("to file");
  Write("to file", "now a file");
  Remove("to directory");
  MakeDirectory("to directory");
  Write("to directory/inner", "i");
  Remove("to link");
  Link("to link", "/etc/passwd");
  Mode("mode", 0);
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("time").c_str(), times, 0), 0);
  Remove("link");
  Write("link", "no link");
  Remove("other");
  Link("other", "after");
  MakeDirectory("new");
  MakeDirectory("new/sub");
  Write("new/sub/f", "f");
  Mode("kept", 0500);
  const WorkspaceSnapshot second = Take(first);
  EXPECT_FALSE(first == second);

  Restore(first);
  Restore(second);
  Restore(first);
  EXPECT_EQ(Status("gone/a").st_uid, geteuid() == 0 ? 65534u : geteuid());
  EXPECT_EQ(Status("gone/a").st_gid, geteuid() == 0 ? 65534u : getegid());
  Restore({});
  EXPECT_TRUE(fs::is_empty(path_));
  Restore(second);
}

TEST_F(Snapshots, WhatIsTheSameIsNotTouched) {
  MakeDirectory("d");
  Write("d/same", std::string(70'000, 'x'));
  Write("changes", "1");
  Link("link", "d");
  const WorkspaceSnapshot first = Take();
  const struct stat file = Status("d/same"), directory = Status("d"), link = Status("link");
  Write("changes", "2");
  Restore(first);
  for (const auto& [name, before] : {std::pair("d/same", file), {"d", directory}, {"link", link}}) {
    const struct stat now = Status(name);
    EXPECT_EQ(now.st_ino, before.st_ino) << name;
    EXPECT_EQ(now.st_ctim.tv_sec, before.st_ctim.tv_sec) << name;
    EXPECT_EQ(now.st_ctim.tv_nsec, before.st_ctim.tv_nsec) << name;
  }
}

TEST_F(Snapshots, OtherBytesAreWrittenInPlace) {
  Write("f", std::string(200'000, 'a'));
  const core::UniqueFd open_file(open(Path("f").c_str(), O_RDWR | O_CLOEXEC));
  char* const mapped = static_cast<char*>(
      mmap(nullptr, 200'000, PROT_READ | PROT_WRITE, MAP_SHARED, open_file.get(), 0));
  ASSERT_NE(mapped, MAP_FAILED);
  mapped[150'000] = 'a';  // the kernel notices the first write to a page only
  const WorkspaceSnapshot first = Take();
  const struct stat before = Status("f");
  mapped[150'000] = 'b';
  EXPECT_EQ(Status("f").st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_EQ(Status("f").st_ctim.tv_nsec, before.st_ctim.tv_nsec);
  const WorkspaceSnapshot second = Take(first);
  EXPECT_EQ(second.ChangesSince(first), (SnapshotChanges{{}, {"f"}, {}}));
  const ino_t inode = Status("f").st_ino;
  Restore(first);
  EXPECT_EQ(mapped[150'000], 'a');
  Restore(second);
  EXPECT_EQ(mapped[150'000], 'b');
  ASSERT_EQ(ftruncate(open_file.get(), 3), 0);
  Restore(first);
  EXPECT_EQ(mapped[199'999], 'a');
  EXPECT_EQ(Status("f").st_ino, inode);
  EXPECT_EQ(lseek(open_file.get(), 0, SEEK_END), 200'000);
  munmap(mapped, 200'000);
}

TEST_F(Snapshots, WhatIsTheSameIsInMemoryOnce) {
  std::string large(8 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i / 4099 % 26);
  Write("large", large);
  for (int i = 0; i < 100; ++i) Write("f" + std::to_string(i), std::string(1000, 'x'));
  const WorkspaceSnapshot first = Take();
  EXPECT_GT(MemoryOf({first}), large.size());
  EXPECT_LT(MemoryOf({first}), large.size() + 300'000);
  const WorkspaceSnapshot same = Take(first);
  EXPECT_EQ(MemoryOf({first, same}), MemoryOf({first}));
  EXPECT_TRUE(same == first);

  large[5'000'000] = '!';
  large += "more";
  Write("large", large);
  Write("f7", "changed");
  const WorkspaceSnapshot second = Take(same);
  const uint64_t both = MemoryOf({first, second});
  EXPECT_EQ(both, MemoryOf({first, same, second, WorkspaceSnapshot(second)}));
  // Two pieces, and the lists of pieces and entries.
  EXPECT_LT(both - MemoryOf({first}), 2 * FileContent::kPieceSize + 16'384);
  // Without a previous one nothing is shared.
  EXPECT_GT(MemoryOf({second, Take()}), 2 * large.size());
  EXPECT_TRUE(Take() == second);
  Restore(first);
  EXPECT_EQ(second.bytes(), large.size() + 99'000 + 7);
}

TEST_F(Snapshots, ChangesAreListedByPath) {
  MakeDirectory("d");
  for (const char* name : {"a", "bytes", "mode", "time", "same", "d/x", "kind"}) Write(name, name);
  Link("link", "a");
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.ChangesSince(first), SnapshotChanges{});
  EXPECT_EQ(first.ChangesSince({}).added.size(), 9u);
  EXPECT_EQ(WorkspaceSnapshot().ChangesSince(first).removed.size(), 9u);
  Remove("a");
  Write("bytes", "other");
  Mode("mode", 0600);
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, Path("time").c_str(), times, 0), 0);
  Remove("d/x");
  Remove("kind");
  MakeDirectory("kind");
  Remove("link");
  Link("link", "b");
  Write("z", "z");
  MakeDirectory("0");
  const WorkspaceSnapshot second = Take(first);
  EXPECT_EQ(second.ChangesSince(first),
            (SnapshotChanges{{"0", "z"}, {"bytes", "kind", "link", "mode"}, {"a", "d/x"}}));
  EXPECT_EQ(first.ChangesSince(second),
            (SnapshotChanges{{"a", "d/x"}, {"bytes", "kind", "link", "mode"}, {"0", "z"}}));
}

TEST_F(Snapshots, LinksAreNeverFollowed) {
  tests::TemporaryFolder elsewhere;
  const std::string secret = elsewhere.Write("secret", "secret");
  ASSERT_EQ(chmod(elsewhere.path().c_str(), 0777), 0);
  ASSERT_EQ(chmod(secret.c_str(), 0666), 0);
  MakeDirectory("d");
  Write("d/secret", "mine");
  Write("f", "mine");
  const WorkspaceSnapshot first = Take();
  Remove("d");
  Remove("f");
  Link("d", elsewhere.path());
  Link("f", secret);
  Link("up", "..");
  const WorkspaceSnapshot second = Take(first);
  EXPECT_EQ(second.entries().size(), 3u);
  EXPECT_EQ(second.Find("f")->target, secret);
  Restore(first);
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(Path("d"))));
  Restore(second);
  Restore({});
  const core::Result<std::string> still = core::ReadFile(secret, 100);
  ASSERT_TRUE(still);
  EXPECT_EQ(*still, "secret");
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms(0666));
}

TEST_F(Snapshots, FifosSocketsAndDevicesAreLeftOutAndDoNotBlock) {
  Write("file", "x");
  const WorkspaceSnapshot first = Take();
  {
    const GuestIdentity guest;
    ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  }
  const core::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, Path("s").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const bool device =
      geteuid() == 0 && mknod(Path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0;
  const WorkspaceSnapshot second = Take(first);
  EXPECT_EQ(second.left_out(), device ? 3u : 2u);
  EXPECT_TRUE(second == first);
  Remove("file");
  {
    const GuestIdentity guest;
    ASSERT_EQ(mkfifo(Path("file").c_str(), 0600), 0);
  }
  Restore(second);
  EXPECT_FALSE(fs::exists(Path("fifo")));
}

TEST_F(Snapshots, LockedFilesAndFoldersStayLocked) {
  MakeDirectory("d");
  MakeDirectory("d/e");
  MakeDirectory("read only");
  Write("d/e/f", "one");
  Write("read only/f", "two");
  for (const char* name : {"d/e/f", "d/e", "d"}) Mode(name, 0);
  Mode("read only/f", 0400);
  Mode("read only", 0500);
  Mode(".", 0100);
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(Status(".").st_mode & 07777, 0100u);
  for (const char* name : {"d/e/f", "d/e", "d"}) {
    if (geteuid() == 0) {
      EXPECT_EQ(Status(name).st_mode & 07777, 0u) << name;
    }
    EXPECT_EQ(first.Find(name)->mode, 0u) << name;
  }
  EXPECT_EQ(first.Find("d/e/f")->Sha256(), host::Sha256("one"));
  Mode(".", 0700);
  Mode("read only", 0700);
  Mode("read only/f", 0600);
  Write("read only/f", "changed");
  Write("read only/g", "new");
  Mode("d", 0700);
  Mode("d/e", 0700);
  Remove("d/e/f");
  Mode(".", 0);
  Restore(first);
  EXPECT_EQ(Status(".").st_mode & 07777, 0100u);
  EXPECT_EQ(Status("d").st_mode & 07777, 0u);
  Mode(".", 0700);
  Restore(first);
}

TEST_F(Snapshots, BitsBeyondThePermissionsAreDropped) {
  Write("f", "x");
  MakeDirectory("d");
  Mode("f", 04755);
  Mode("d", 01777);
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.Find("f")->mode, 0755u);
  EXPECT_EQ(first.Find("d")->mode, 0777u);
  Restore(first);
  EXPECT_EQ(Status("f").st_mode & 07777, 0755u);
  EXPECT_EQ(Status("d").st_mode & 07777, 0777u);
}

TEST_F(Snapshots, TimesOfAnyKindAreKept) {
  Write("f", "x");
  Link("l", "f");
  MakeDirectory("d");
  for (const int64_t seconds : {int64_t{-1}, int64_t{0}, int64_t{1} << 33}) {
    const timespec times[2] = {{0, UTIME_OMIT}, {seconds, 999'999'999}};
    for (const char* name : {"f", "l", "d"}) {
      const GuestIdentity guest;
      ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
    }
    const WorkspaceSnapshot snapshot = Take();
    EXPECT_EQ(snapshot.Find("l")->modified, (FileTime{seconds, 999'999'999}));
    for (const char* name : {"f", "l", "d"}) {
      const GuestIdentity guest;
      ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), nullptr, AT_SYMLINK_NOFOLLOW), 0);
    }
    Restore(snapshot);
    Write("d/new", "n");
    Remove("l");
    Write("f", "longer");
    Restore(snapshot);
  }
  // More than fits into nanoseconds of 64 bits.
  const timespec times[2] = {{0, UTIME_OMIT}, {int64_t{1} << 62, 0}};
  {
    const GuestIdentity guest;
    ASSERT_EQ(utimensat(AT_FDCWD, Path("f").c_str(), times, 0), 0);
  }
  const WorkspaceSnapshot snapshot = Take();
  Write("f", "other");
  Restore(snapshot);
}

TEST_F(Snapshots, NamesOfAnyBytesAreKept) {
  for (const std::string& name :
       {std::string("\xff\xfe"), std::string("new\nline"), std::string("\x1b[2J"),
        std::string("-rf"), std::string(" "), std::string("\\"), std::string(255, 'x'),
        std::string("日本"), std::string("...")}) {
    Write(name, name);
  }
  Link("link", "\xff/\n");
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.entries().size(), 10u);
  EXPECT_EQ(BytesOf(first.Find("\xff\xfe")->content), "\xff\xfe");
  Restore({});
  Restore(first);
}

TEST_F(Snapshots, NamesOfOneFileBecomeFiles) {
  Write("a", "one");
  Write("b", "two");
  const WorkspaceSnapshot apart = Take();
  Remove("b");
  const GuestIdentity guest;
  ASSERT_EQ(link(Path("a").c_str(), Path("b").c_str()), 0);
  const WorkspaceSnapshot together = Take(apart);
  EXPECT_EQ(BytesOf(together.Find("b")->content), "one");
  Restore(apart);
  EXPECT_EQ(Status("a").st_nlink, 1u);
  Restore(together);
  Remove("b");
  ASSERT_EQ(link(Path("a").c_str(), Path("b").c_str()), 0);
  Restore(together);  // nothing is different
  EXPECT_EQ(Status("a").st_nlink, 2u);
  Write("a", "changed");
  Restore(together);
  Write("a", "changed");
  Restore(together);
}

TEST_F(Snapshots, BoundsNameTheFileAndWhatToDo) {
  Write("small", "x");
  Write("large", std::string(100'000, 'x'));
  core::Error error = TakeError({core::Bytes{100'000}, 10});
  EXPECT_EQ(error.error_number, 0);
  const std::string text = error.ToString();
  // Whichever was read last.
  EXPECT_TRUE(text ==
                  "keep file \"large\": with it the files have more than 100000 in all; make "
                  "it shorter or remove it" ||
              text ==
                  "keep file \"small\": with it the files have more than 100000 in all; make "
                  "it shorter or remove it")
      << text;
  EXPECT_TRUE(WorkspaceSnapshot::Take(root_.get(), {}, {core::Bytes{100'001}, 2}));
  error = TakeError({core::Bytes{100'001}, 1});
  EXPECT_EQ(error.error_number, 0);
  EXPECT_EQ(error.detail, "the workspace has more than 1 entries; remove some");
  // The targets of links count, too.
  Remove("large");
  Link("l", std::string(1000, 'x'));
  EXPECT_NE(TakeError({core::Bytes{1000}, 10}).ToString().find("1000 in all"), std::string::npos);

  const core::Result<void> restored = WorkspaceSnapshot().Restore(root_.get(), {core::Bytes{0}, 1});
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().error_number, 0);
  EXPECT_NE(restored.error().detail.find("more than 1 entries"), std::string::npos);
}

TEST_F(Snapshots, ASparseFileOverTheBoundIsNotRead) {
  Write("sparse", "");
  ASSERT_EQ(truncate(Path("sparse").c_str(), int64_t{1} << 40), 0);
  const core::Error error = TakeError();
  EXPECT_EQ(error.ToString(),
            "keep file \"sparse\": with it the files have more than 64m in all (1099511627776 "
            "bytes alone, most of them a hole); make it shorter or remove it");
  const WorkspaceSnapshot empty;
  Restore(empty);
  Write("sparse", "short");
  const WorkspaceSnapshot first = Take();
  ASSERT_EQ(truncate(Path("sparse").c_str(), int64_t{1} << 40), 0);
  Restore(first);
}

TEST_F(Snapshots, HolesOccupyNothing) {
  Write("f", "");
  const core::UniqueFd file(open(Path("f").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 32 << 20), 0);
  ASSERT_EQ(pwrite(file.get(), "one", 3, 5'000'000), 3);
  ASSERT_EQ(pwrite(file.get(), "two", 3, (32 << 20) - 3), 3);
  const blkcnt_t blocks = Status("f").st_blocks;
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.bytes(), 32u << 20);
  EXPECT_LT(MemoryOf({first}), 3 * FileContent::kPieceSize);
  ASSERT_EQ(pwrite(file.get(), std::string(3 << 20, 'x').data(), 3 << 20, 4'000'001), 3 << 20);
  Restore(first);
  EXPECT_LE(Status("f").st_blocks, blocks);
  Restore({});
  Restore(first);
  EXPECT_LE(Status("f").st_blocks, blocks);
}

TEST_F(Snapshots, ATreeOfAnyDepthIsRemoved) {
  MakeDirectory("kept");
  Write(".removed-1", "in the way");
  const WorkspaceSnapshot first = Take();
  {
    const GuestIdentity guest;
    // 1500 directories, whose path is longer than any system call takes.
    core::UniqueFd here = OpenFolder(Path("kept"));
    for (int i = 0; i < 1500; ++i) {
      ASSERT_EQ(mkdirat(here.get(), "deep", 0700), 0);
      core::UniqueFd next(openat(here.get(), "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(next);
      if (i % 100 == 0) {
        ASSERT_TRUE(core::UniqueFd(openat(here.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0)));
        ASSERT_EQ(symlinkat("..", here.get(), "link"), 0);
      }
      ASSERT_EQ(fchmod(here.get(), i % 3 == 0 ? 0 : 0500), 0);
      here = std::move(next);
    }
  }
  const core::Error error = TakeError();
  EXPECT_EQ(error.error_number, 0);
  EXPECT_EQ(error.detail, "its path is longer than 1024 bytes; remove it or move it up");
  Restore(first);
  EXPECT_TRUE(fs::is_empty(Path("kept")));
}

TEST_F(Snapshots, ManyFilesAreRemovedAndCreated) {
  for (int i = 0; i < 4000; ++i) Write("f" + std::to_string(i), std::to_string(i));
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.entries().size(), 4000u);
  Restore({});
  EXPECT_TRUE(fs::is_empty(path_));
  Restore(first);
}

TEST_F(Snapshots, WhatCannotBeReadIsAnErrorWithItsName) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("makes files of another user");
  Write("of root", "x");
  ASSERT_EQ(chown(Path("of root").c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(Path("of root").c_str(), 0600), 0);
  const core::Error error = TakeError();
  EXPECT_EQ(error.error_number, EACCES);
  EXPECT_EQ(error.operation, "read file \"of root\"");
  Restore({});
  const core::Result<WorkspaceSnapshot> none = WorkspaceSnapshot::Take(-1, {}, kBounds);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().error_number, EBADF);
  EXPECT_FALSE(WorkspaceSnapshot().Restore(-1, kBounds));
}

TEST_F(Snapshots, AFileThatCannotBeOpenedIsReplaced) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("makes files of another user");
  Write("f", "before");
  const WorkspaceSnapshot first = Take();
  Write("f", "after");
  ASSERT_EQ(chown(Path("f").c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(Path("f").c_str(), 0), 0);
  Restore(first);
  EXPECT_EQ(Status("f").st_uid, 65534u);
}

TEST_F(Snapshots, FilesThatWerePutAreKeptToo) {
  ASSERT_TRUE(PutFiles(root_.get(), {{"a/b/c", "one"}, {"d", ""}}));
  const WorkspaceSnapshot first = Take();
  EXPECT_EQ(first.Find("a/b/c")->mode, 0600u);
  Restore({});
  EXPECT_TRUE(IsEmptyWorkspace(root_.get()));
  Restore(first);
}

TEST_F(Snapshots, NoDescriptorIsLeft) {
  MakeDirectory("d");
  Write("d/f", "x");
  const WorkspaceSnapshot first = Take();
  const size_t before = tests::OpenDescriptors();
  for (int i = 0; i < 3; ++i) {
    Write("d/f", std::to_string(i));
    Restore(first);
    Restore({});
    Restore(first);
    TakeError({core::Bytes{0}, 1});
    TakeError({core::Bytes{0}, 8});
  }
  EXPECT_EQ(tests::OpenDescriptors(), before);
}

// --- full file systems, other namespaces, processes that run on ----------------------------------

// A tmpfs of 1 MiB that is mounted nowhere. Empty: not possible here.
core::UniqueFd SmallFileSystem() {
  const core::UniqueFd context(static_cast<int>(syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC)));
  const auto set = [&](const char* name, const char* value) {
    return syscall(SYS_fsconfig, context.get(), FSCONFIG_SET_STRING, name, value, 0) == 0;
  };
  if (!context || !set("size", "1m") || !set("nr_inodes", "32") || !set("mode", "0700") ||
      !set("uid", "65534") || !set("gid", "65534") ||
      syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return {};
  }
  const core::UniqueFd mount(
      static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  return core::UniqueFd(openat(mount.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void Fill(int root, const char* name, size_t size, char byte) {
  const GuestIdentity guest;
  const core::UniqueFd fd(openat(root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd) << core::SystemError(name).ToString();
  ASSERT_TRUE(core::WriteBytes(fd.get(), std::string(size, byte)))
      << core::SystemError(name).ToString();
}

TEST(FullWorkspace, SpaceIsFreedBeforeAnyIsUsed) {
  const core::UniqueFd root = SmallFileSystem();
  if (!root) BELLJAR_SKIP_OR_FAIL("mounts a tmpfs");
  constexpr size_t kMaxSize = 1000 << 10;
  const auto take = [&] {
    core::Result<WorkspaceSnapshot> taken = WorkspaceSnapshot::Take(root.get(), {}, kBounds);
    EXPECT_TRUE(taken) << taken.error().ToString();
    return taken ? *taken : WorkspaceSnapshot();
  };
  Fill(root.get(), "a", kMaxSize, 'a');
  Fill(root.get(), "b", 10, 'b');
  const WorkspaceSnapshot first = take();
  Fill(root.get(), "a", 10, 'a');
  Fill(root.get(), "b", kMaxSize, 'b');
  const WorkspaceSnapshot second = take();
  Fill(root.get(), "a", 0, 'a');
  Fill(root.get(), "b", 0, 'b');
  // Holes in each where the other has bytes.
  const auto hole = [&](const char* name, off_t size, off_t offset) {
    const GuestIdentity guest;
    const core::UniqueFd fd(openat(root.get(), name, O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(ftruncate(fd.get(), kMaxSize), 0);
    ASSERT_EQ(pwrite(fd.get(), std::string(static_cast<size_t>(size), 'x').data(),
                     static_cast<size_t>(size), offset),
              size);
  };
  hole("a", 500 << 10, 0);
  hole("b", 500 << 10, 500 << 10);
  const WorkspaceSnapshot third = take();
  Fill(root.get(), "a", 0, 'a');
  Fill(root.get(), "b", 0, 'b');
  hole("a", 500 << 10, 500 << 10);
  hole("b", 500 << 10, 0);
  const WorkspaceSnapshot fourth = take();
  // As many files as fit.
  Fill(root.get(), "a", 0, 'a');
  unlinkat(root.get(), "b", 0);
  for (int i = 0; i < 30; ++i) Fill(root.get(), ("n" + std::to_string(i)).c_str(), 1, 'n');
  const WorkspaceSnapshot fifth = take();
  for (const WorkspaceSnapshot* next :
       {&first, &second, &first, &third, &fourth, &third, &fifth, &second, &fourth, &first}) {
    const core::Result<void> restored = next->Restore(root.get(), kBounds);
    ASSERT_TRUE(restored) << restored.error().ToString();
    EXPECT_TRUE(take() == *next);
  }
}

TEST(FullWorkspace, WhatDoesNotFitIsAnErrorThatNamesTheFile) {
  const core::UniqueFd root = SmallFileSystem();
  if (!root) BELLJAR_SKIP_OR_FAIL("mounts a tmpfs");
  tests::TemporaryFolder folder;
  // Only root has come this far.
  ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  const core::UniqueFd larger = OpenFolder(folder.path());
  Fill(larger.get(), "large", 2 << 20, 'x');
  Fill(larger.get(), "a", 1, 'x');
  const core::Result<WorkspaceSnapshot> taken = WorkspaceSnapshot::Take(larger.get(), {}, kBounds);
  ASSERT_TRUE(taken);
  const core::Result<void> restored = taken->Restore(root.get(), kBounds);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().ToString(), "write file \"large\": No space left on device (ENOSPC)");
  EXPECT_TRUE(WorkspaceSnapshot().Restore(root.get(), kBounds));
  EXPECT_TRUE(IsEmptyWorkspace(root.get()));
}

// A tmpfs of a user namespace in which only the guest's user is mapped, as a worker's workspace is.
TEST(ForeignWorkspace, FilesBelongToTheGuest) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("acts for another user");
  int ready[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const core::UniqueFd from(ready[0]);
  core::UniqueFd to(ready[1]);
  const pid_t child = fork();
  if (child == 0) {
    const auto put = [](const char* path, const char* text) {
      const core::UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
      return fd && core::WriteBytes(fd.get(), text);
    };
    // Dumpable: its files in /proc are its own.
    const bool done = setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
                      prctl(PR_SET_DUMPABLE, 1) == 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
                      put("/proc/self/setgroups", "deny") &&
                      put("/proc/self/uid_map", "65534 65534 1") &&
                      put("/proc/self/gid_map", "65534 65534 1") &&
                      mount("t", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") == 0;
    (void)!write(to.get(), done ? "y" : "n", 1);
    for (;;) pause();
  }
  to.Reset();
  char answer = 'n';
  EXPECT_EQ(read(from.get(), &answer, 1), 1);
  const core::UniqueFd root = OpenFolder("/proc/" + std::to_string(child) + "/root/tmp");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (answer != 'y') BELLJAR_SKIP_OR_FAIL("makes a user namespace");
  ASSERT_TRUE(root);
  Fill(root.get(), "f", 100'000, 'x');
  core::Result<WorkspaceSnapshot> first = WorkspaceSnapshot::Take(root.get(), {}, kBounds);
  ASSERT_TRUE(first) << first.error().ToString();
  Fill(root.get(), "f", 1, 'y');
  ASSERT_EQ(unlinkat(root.get(), "f", 0), 0);
  for (const WorkspaceSnapshot& next : {*first, WorkspaceSnapshot(), *first}) {
    const core::Result<void> restored = next.Restore(root.get(), kBounds);
    ASSERT_TRUE(restored) << restored.error().ToString();
    EXPECT_TRUE(*WorkspaceSnapshot::Take(root.get(), {}, kBounds) == next);
  }
  struct stat status;
  ASSERT_EQ(fstatat(root.get(), "f", &status, 0), 0);
  EXPECT_EQ(status.st_uid, 65534u);
}

// A worker's readable trees may be mounted below its workspace.
TEST(ForeignWorkspace, WhatIsMountedBelowIsLeftAlone) {
  if (geteuid() != 0) BELLJAR_SKIP_OR_FAIL("mounts");
  const tests::TemporaryFolder folder, tree;
  tree.Write("theirs", "theirs");
  const tests::Death death = tests::InChild([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("t", folder.path().c_str(), "tmpfs", 0, "uid=65534,gid=65534") != 0) {
      return 2;
    }
    const core::UniqueFd root = OpenFolder(folder.path());
    const std::string place = folder.path() + "/a/b";
    if (!PutFiles(root.get(), {{"a/b/x", "covered"}, {"a/file", "x"}, {"y", "y"}})) return 3;
    if (mount(tree.path().c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0) return 4;
    const core::UniqueFd file(open((folder.path() + "/y").c_str(), O_RDONLY | O_CLOEXEC));
    if (mount((tree.path() + "/theirs").c_str(), (folder.path() + "/y").c_str(), nullptr, MS_BIND,
              nullptr) != 0) {
      return 5;
    }
    const core::Result<WorkspaceSnapshot> taken = WorkspaceSnapshot::Take(root.get(), {}, kBounds);
    if (!taken || taken->left_out() != 2 || taken->entries().size() != 2) return 6;
    for (const WorkspaceSnapshot& next : {WorkspaceSnapshot(), *taken, WorkspaceSnapshot()}) {
      if (!next.Restore(root.get(), kBounds)) return 7;
      if (!fs::exists(place + "/theirs")) return 8;
      if (fs::exists(folder.path() + "/a/file") != !next.entries().empty()) return 9;
    }
    return 0;
  });
  if (death == tests::Exited(2)) BELLJAR_SKIP_OR_FAIL("mounts");
  EXPECT_EQ(death, tests::Exited(0));
  EXPECT_TRUE(fs::exists(tree.path() + "/theirs"));
}

TEST_F(Snapshots, ProcessesThatRunOnGainNothing) {
  tests::TemporaryFolder elsewhere;
  const std::string secret = elsewhere.Write("f", "secret");
  ASSERT_EQ(chmod(elsewhere.path().c_str(), 0777), 0);
  ASSERT_EQ(chmod(secret.c_str(), 0666), 0);
  MakeDirectory("d");
  Write("d/f", "mine");
  Write("f", "mine");
  Write("grows", "");
  const WorkspaceSnapshot first = Take();
  fflush(nullptr);
  std::vector<pid_t> guests;
  for (int number = 0; number < 2; ++number) {
    guests.push_back(fork());
    if (guests.back() != 0) continue;
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)) {
      _exit(1);
    }
    if (chdir(path_.c_str()) != 0) _exit(1);
    const std::string page(70'000, 'p');
    for (int i = 0;; ++i) {
      if (number == 0) {
        (void)!rename("d", "x");
        (void)!symlink(elsewhere.path().c_str(), "d");
        (void)!unlink("d");
        (void)!rename("x", "d");
        (void)!mkdir("d", 0700);
        (void)!rename("f", "y");
        (void)!symlink(secret.c_str(), "f");
        (void)!unlink("f");
        (void)!mkfifo("f", 0600);
        (void)!rename("y", "f");
        (void)!chmod("d", static_cast<mode_t>(i % 2 ? 0 : 0700));
      } else {
        const core::UniqueFd fd(open("grows", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        for (int part = 0; part < 5; ++part) (void)!write(fd.get(), page.data(), page.size());
        (void)!ftruncate(fd.get(), 3);
        (void)!chmod("grows", static_cast<mode_t>(i % 2 ? 0 : 0600));
        (void)!unlink("grows");
      }
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  int taken = 0, restored = 0;
  while (std::chrono::steady_clock::now() < end) {
    const core::Result<WorkspaceSnapshot> snapshot =
        WorkspaceSnapshot::Take(root_.get(), first, kBounds);
    if (snapshot) {
      ++taken;
      for (const auto& entry : snapshot->entries()) {
        EXPECT_NE(BytesOf(entry->content), "secret") << entry->path;
      }
    }
    if (first.Restore(root_.get(), kBounds)) ++restored;
  }
  for (const pid_t guest : guests) {
    kill(guest, SIGKILL);
    waitpid(guest, nullptr, 0);
  }
  EXPECT_GT(taken, 0);
  RecordProperty("taken", taken);
  RecordProperty("restored", restored);
  const core::Result<std::string> still = core::ReadFile(secret, 100);
  ASSERT_TRUE(still);
  EXPECT_EQ(*still, "secret");
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms(0666));
  EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere.path()), {}), 1);
  Restore(first);
}

}  // namespace
}  // namespace belljar::workspace::workspace_snapshot_test
