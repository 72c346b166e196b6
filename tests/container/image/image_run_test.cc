// The image of this installation: what is in it, and that a program in it runs with nothing else.

#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "container/image/archive.h"
#include "container/image/elf_file.h"
#include "engine/host/version.h"
#include "engine/profiles/profile_catalogue.h"
#include "tests/container/image_support.h"
#include "tests/support/support.h"

namespace belljar::container::image::image_run_test {
namespace {

namespace fs = std::filesystem;

// For profile basic: what docs/images.md states, with some headroom.
constexpr uint64_t kLargestBasic = 60'000'000;

// One image for all tests here, unpacked. The command stands where belljar-guest will: it starts
// the same zygote, and needs no host to talk to.
class ImageRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
    ASSERT_TRUE(catalogue) << catalogue.error().ToString();
    const core::Result<core::Profile> profile = catalogue->Choose("basic");
    ASSERT_TRUE(profile);
    const fs::path build = fs::path(catalogue->installation().zygote).parent_path();
    core::Result<ImageFiles> files = CollectImageFiles({.installation = catalogue->installation(),
                                                        .profile = *profile,
                                                        .profile_file = "",
                                                        .guest = build / "belljar"});
    ASSERT_TRUE(files) << files.error().ToString();
    shared_ = new Shared{*profile, std::move(*files), {}, {}};
    const std::string path = shared_->folder.File("image.tar");
    core::Result<ImageFacts> facts = WriteImage(shared_->files, Identity(), path, nullptr);
    ASSERT_TRUE(facts) << facts.error().ToString();
    shared_->facts = std::move(*facts);
    Unpack(path);
  }

  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  static ImageIdentity Identity() {
    return {.version = host::kBelljarVersion,
            .profile = "basic",
            .python = host::kPythonVersion,
            .inputs = "",
            .architecture = shared_->files.architecture};
  }

  struct Done {
    int code = -1;
    std::string output;  // both streams
  };

  static std::string Root() { return shared_->folder.File("root"); }

  // A command line in the image, as its user, with nothing of this machine.
  static Done Run(const std::string& arguments, const std::string& input = "/dev/null") {
    const std::string user = std::to_string(kImageUser);
    const std::string command =
        "bwrap --unshare-all --uid " + user + " --gid " + user + " --ro-bind " + Root() +
        " / --proc /proc --dev /dev --tmpfs /tmp --clearenv -- " + arguments + " 2>&1 <" + input;
    FILE* pipe = popen(command.c_str(), "re");
    Done done;
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, pipe)) > 0;) {
      done.output.append(piece, got);
    }
    const int status = pclose(pipe);
    done.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return done;
  }

  static Done RunPython(const std::string& source) {
    const std::string program = shared_->folder.File("program.py");
    tests::WriteText(program, source);
    return Run("/opt/belljar/belljar-guest run --isolation standard -", program);
  }

  static bool Has(const std::string& path) {
    return shared_->files.files.contains(path) || shared_->files.folders.contains(path);
  }

  void SetUp() override { ASSERT_NE(shared_, nullptr); }

  struct Shared {
    core::Profile profile;
    ImageFiles files;
    ImageFacts facts;
    tests::TestFolder folder;
  };
  static Shared* shared_;

 private:
  static void Unpack(const std::string& path) {
    const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const core::Result<ImageInspection> inspection = InspectImage(path, nullptr);
    ASSERT_TRUE(inspection);
    ASSERT_TRUE(inspection->faults.empty()) << inspection->faults[0];
    uint64_t layer_at = 0;
    const TarVisitor outer{.entry = [&](const TarEntry& entry, uint64_t at) -> core::Result<void> {
                             if (entry.path == BlobPath(shared_->facts.layer)) layer_at = at;
                             return {};
                           },
                           .bytes = [](std::string_view) -> core::Result<void> { return {}; }};
    ASSERT_TRUE(ReadTar(fd.get(), 0, fs::file_size(path), outer));
    fs::create_directory(Root());
    fs::create_directory(Root() + "/tmp");  // as a runtime would
    std::ofstream file;
    const TarVisitor layer{.entry = [&](const TarEntry& entry, uint64_t) -> core::Result<void> {
                             file.close();
                             const std::string target = Root() + "/" + entry.path;
                             if (entry.is_folder) {
                               fs::create_directory(target);
                             } else {
                               file.open(target, std::ios::binary);
                               chmod(target.c_str(), entry.is_program ? 0755 : 0644);
                             }
                             return {};
                           },
                           .bytes = [&](std::string_view bytes) -> core::Result<void> {
                             file << bytes;
                             return {};
                           }};
    ASSERT_TRUE(ReadTar(fd.get(), layer_at, shared_->facts.layer.size, layer));
    file.close();
  }
};

ImageRun::Shared* ImageRun::shared_ = nullptr;

TEST_F(ImageRun, IsSmall) {
  EXPECT_LE(shared_->facts.layer.size, kLargestBasic);
  for (const auto& [part, bytes] : BytesByPart(shared_->facts.listing)) {
    RecordProperty(ImagePartName(part), std::to_string(bytes));
  }
}

TEST_F(ImageRun, HasOneUserAndNoShellNoPackageManagerNoPython) {
  EXPECT_EQ(tests::ReadText(Root() + "/etc/passwd"),
            "belljar:x:65534:65534::/nonexistent:/nonexistent\n");
  for (const char* path : {"bin", "sbin", "usr/bin", "usr/sbin", "etc/shadow", "root", "home"}) {
    EXPECT_FALSE(Has(path)) << path;
  }
  // What may be executed is exactly this.
  for (const auto& [path, file] : shared_->files.files) {
    if (!file.is_program) continue;
    const bool is_known = path == "opt/belljar/belljar-guest" ||
                          path == "opt/belljar/belljar-zygote" || path.find("/ld-") != path.npos;
    EXPECT_TRUE(is_known) << path;
  }
}

TEST_F(ImageRun, HasNothingThatNoProgramUses) {
  for (const auto& [path, file] : shared_->files.files) {
    for (const char* part :
         {"/test/", "/idlelib/", "/ensurepip/", "/tkinter/", "/config-3", "-311d-", "/pip/",
          "/RECORD", ".pyi", ".opt-1.pyc", "/dist-packages/"}) {
      EXPECT_EQ(path.find(part), path.npos) << path;
    }
  }
}

TEST_F(ImageRun, AnotherBuildHasTheSameBytes) {
  const std::string path = shared_->folder.File("again.tar");
  const core::Result<ImageFacts> again = WriteImage(shared_->files, Identity(), path, nullptr);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->manifest.digest, shared_->facts.manifest.digest);
  EXPECT_EQ(tests::ReadText(path), tests::ReadText(shared_->folder.File("image.tar")));
}

TEST_F(ImageRun, ByteCodeIsTakenWithoutALookAtTheSource) {
  size_t count = 0;
  for (const auto& [path, file] : shared_->files.files) {
    if (!path.ends_with(".pyc")) continue;
    ++count;
    const core::Result<std::optional<std::string>> content = ReadContent(file);
    ASSERT_TRUE(content && *content) << path;
    EXPECT_EQ((*content)->substr(4, 4), std::string("\1\0\0\0", 4)) << path;
  }
  EXPECT_GT(count, 300u);
}

// ld.so's own word on every file that it would ever load there.
TEST_F(ImageRun, EachLibraryFindsWhatItNeeds) {
  if (std::system("bwrap --version >/dev/null 2>&1") != 0)
    BELLJAR_SKIP_OR_FAIL("there is no bwrap");
  const core::Result<std::optional<ElfFile>> zygote =
      ReadElfFile(Root() + "/opt/belljar/belljar-zygote");
  ASSERT_TRUE(zygote && *zygote);
  size_t count = 0;
  for (const auto& [path, file] : shared_->files.files) {
    const core::Result<std::optional<ElfFile>> elf = ReadElfFile(Root() + "/" + path);
    if (!elf || !*elf || "/" + path == (*zygote)->interpreter) continue;
    ++count;
    const Done done = Run((*zygote)->interpreter + " --list /" + path);
    EXPECT_EQ(done.code, 0) << path << ": " << done.output;
    EXPECT_EQ(done.output.find("not found"), std::string::npos) << path << ": " << done.output;
  }
  EXPECT_GT(count, 30u);
}

TEST_F(ImageRun, AProgramRunsInIt) {
  if (std::system("bwrap --version >/dev/null 2>&1") != 0)
    BELLJAR_SKIP_OR_FAIL("there is no bwrap");
  const Done done = RunPython("import zoneinfo\nprint(6 * 7, zoneinfo.ZoneInfo('Europe/Paris'))");
  EXPECT_EQ(done.output, "42 Europe/Paris\n");
  EXPECT_EQ(done.code, 0);
}

TEST_F(ImageRun, EachModuleOfTheProfileIsImportedInIt) {
  if (std::system("bwrap --version >/dev/null 2>&1") != 0)
    BELLJAR_SKIP_OR_FAIL("there is no bwrap");
  std::string source;
  for (const std::string& name : profiles::ModuleNames(shared_->profile))
    source += "import " + name + "\n";
  const Done done = RunPython(source + "print('all of them')");
  EXPECT_EQ(done.output, "all of them\n");
}

TEST_F(ImageRun, WithoutOneLibraryNothingStarts) {
  if (std::system("bwrap --version >/dev/null 2>&1") != 0)
    BELLJAR_SKIP_OR_FAIL("there is no bwrap");
  std::string library;
  for (const auto& [path, file] : shared_->files.files) {
    if (path.find("/libpython3") != path.npos) library = Root() + "/" + path;
  }
  ASSERT_NE(library, "");
  fs::rename(library, library + ".away");
  EXPECT_NE(RunPython("print(1)").code, 0) << "the tests above would not see what is missing";
  fs::rename(library + ".away", library);
}

TEST(ImageFilesOf, AProgramThatIsNotThereIsNamed) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  ASSERT_TRUE(catalogue);
  const core::Result<ImageFiles> files =
      CollectImageFiles({.installation = catalogue->installation(),
                         .profile = tests::BasicProfile(),
                         .profile_file = "",
                         .guest = "/nowhere/belljar-guest"});
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().ToString().find("there is no /nowhere/belljar-guest"), std::string::npos);
}

TEST(ImageFilesOf, LinksThatLeadOutOfATreeAreLeftOutAndOthersBecomeFiles) {
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  ASSERT_TRUE(catalogue);
  const tests::TestFolder folder;
  const std::string data = folder.File("data");
  fs::create_directory(data);
  tests::WriteText(data + "/real", "real");
  tests::WriteText(folder.File("secret"), "secret");
  fs::create_symlink("real", data + "/inside");
  fs::create_symlink("../secret", data + "/outside");
  fs::create_symlink("/etc/passwd", data + "/absolute");
  fs::create_symlink(".", data + "/around");
  fs::create_symlink("nothing", data + "/broken");
  ASSERT_EQ(mkfifo((data + "/pipe").c_str(), 0600), 0);
  core::Profile profile = tests::BasicProfile();
  profile.paths.push_back({data});
  const core::Result<ImageFiles> files =
      CollectImageFiles({.installation = catalogue->installation(),
                         .profile = profile,
                         .profile_file = "",
                         .guest = "/proc/self/exe"});
  ASSERT_TRUE(files) << files.error().ToString();
  const std::string target = data.substr(1) + "/";
  EXPECT_TRUE(files->files.contains(target + "real"));
  ASSERT_TRUE(files->files.contains(target + "inside"));
  EXPECT_EQ(**ReadContent(files->files.at(target + "inside")), "real");
  for (const char* name : {"outside", "absolute", "around", "broken", "pipe"}) {
    EXPECT_FALSE(files->files.contains(target + name)) << name;
  }
  const auto says = [&](const std::string& text) { return text.find(data) != text.npos; };
  EXPECT_TRUE(std::any_of(files->left_out.begin(), files->left_out.end(), says));
}

}  // namespace
}  // namespace belljar::container::image::image_run_test
