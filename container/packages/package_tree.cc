#include "container/packages/package_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "container/image/tar.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"

namespace belljar::container::packages {

namespace fs = std::filesystem;

namespace {

constexpr char kUnpack[] = "unpack the packages";
constexpr size_t kPiece = size_t{256} << 10;
// Whatever the umask says: guests of another user read them.
constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kProgramMode = 0755;

core::Error Fault(const std::string& what) { return core::MakeError(kUnpack, what); }

core::Error TooLarge(const std::string& than) {
  return core::SystemErrorOf(EFBIG, kUnpack, "they exceed " + than);
}

core::Result<void> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return core::SystemError(kUnpack);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// --- decompressing ----------------------------------------------------------------------------

struct Inflation {
  Inflation() : is_ready(inflateInit(&stream) == Z_OK) {}
  Inflation(const Inflation&) = delete;
  ~Inflation() {
    if (is_ready) inflateEnd(&stream);
  }

  z_stream stream{};
  const bool is_ready;
};

// Writes at most `max` bytes to `fd`. Returns how many.
core::Result<uint64_t> Decompress(std::string_view compressed, int fd, uint64_t max) {
  Inflation inflation;
  if (!inflation.is_ready) return core::SystemErrorOf(ENOMEM, kUnpack);
  z_stream& stream = inflation.stream;
  if (compressed.size() > std::numeric_limits<uInt>::max()) return Fault("there is too much");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string piece(kPiece, '\0');
  uint64_t size = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    // Z_BUF_ERROR: the input ends too early.
    if (state != Z_OK && state != Z_STREAM_END) return Fault("the data is damaged");
    const size_t got = piece.size() - stream.avail_out;
    size += got;
    if (size > max) return TooLarge(core::Bytes{max}.ToString() + " with their names");
    if (core::Result<void> done = WriteAll(fd, std::string_view(piece).substr(0, got)); !done) {
      return done.error();
    }
  }
  if (stream.avail_in != 0) return Fault("there is data after its end");
  return size;
}

// --- writing ----------------------------------------------------------------------------------

// Writes one entry after the other, as received from the tar reader.
class TreeWriter {
 public:
  TreeWriter(int root, const TreeBounds& bounds) : root_(root), bounds_(bounds) {}

  core::Result<void> Begin(const image::TarEntry& entry) {
    if (++entries_ > bounds_.entries) {
      return TooLarge(std::to_string(bounds_.entries) + " files and folders");
    }
    const std::vector<std::string_view> parts = host::PathParts(entry.path);
    core::Result<core::UniqueFd> parent = host::MakeParents(root_, parts, kFolderMode);
    if (!parent) return parent.error();
    const std::string name(parts.back());
    if (entry.is_folder) {
      const bool is_made = mkdirat(parent->get(), name.c_str(), kFolderMode) == 0 &&
                           fchmodat(parent->get(), name.c_str(), kFolderMode, 0) == 0;
      if (is_made) return {};
      return core::SystemError("make folder " + core::Quoted(entry.path));
    }
    bytes_ += entry.size;
    if (bytes_ > bounds_.size.count) return TooLarge(bounds_.size.ToString());
    const mode_t mode = entry.is_program ? kProgramMode : kFileMode;
    file_ = host::OpenBeneath(parent->get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!file_ || fchmod(file_.get(), mode) != 0)
      return core::SystemError("make file " + core::Quoted(entry.path));
    paths_.push_back(entry.path);
    return {};
  }

  core::Result<void> Append(std::string_view bytes) { return WriteAll(file_.get(), bytes); }

  TreeFacts Facts(const std::string& digest) const {
    return {
        .sha256 = digest, .files = paths_.size(), .bytes = bytes_, .modules = ModulesOf(paths_)};
  }

 private:
  const int root_;
  const TreeBounds& bounds_;
  core::UniqueFd file_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  std::vector<std::string> paths_;
};

// An unnamed file on the file system of `folder`, removed with its descriptor.
core::Result<core::UniqueFd> OpenScratch(const std::string& folder) {
  std::string path = folder + "/.unpacking-XXXXXX";
  core::UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return core::SystemError("make a file in " + folder);
  if (unlink(path.c_str()) != 0) return core::SystemError("remove " + path);
  return fd;
}

// --- reading ----------------------------------------------------------------------------------

struct FoundEntry {
  image::TarEntry entry;
  std::string place;
};

core::Result<std::vector<FoundEntry>> ListTree(const std::string& folder) {
  std::vector<FoundEntry> found;
  std::error_code code;
  fs::recursive_directory_iterator entries(folder, code);
  for (; !code && entries != fs::recursive_directory_iterator(); entries.increment(code)) {
    image::TarEntry entry;
    entry.path = entries->path().lexically_relative(folder);
    struct stat status;
    if (lstat(entries->path().c_str(), &status) != 0) {
      return core::SystemError("look at " + entries->path().string());
    }
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) {
      return core::MakeError("read the packages",
                             core::Quoted(entry.path) + " is neither a file nor a folder");
    }
    entry.is_folder = S_ISDIR(status.st_mode);
    entry.is_program = !entry.is_folder && (status.st_mode & S_IXUSR) != 0;
    entry.size = entry.is_folder ? 0 : static_cast<uint64_t>(status.st_size);
    found.push_back({std::move(entry), entries->path()});
  }
  if (code) return core::SystemErrorOf(code.value(), "read " + folder);
  std::sort(found.begin(), found.end(),
            [](const FoundEntry& a, const FoundEntry& b) { return a.entry.path < b.entry.path; });
  return found;
}

core::Result<void> AppendFile(image::TarWriter& tar, const std::string& path) {
  const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return core::SystemError("open " + path);
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t got = read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return core::SystemError("read " + path);
    if (got == 0) return {};
    core::Result<void> done =
        tar.Append(std::string_view(piece).substr(0, static_cast<size_t>(got)));
    if (!done) return done;
  }
}

// --- modules ----------------------------------------------------------------------------------

bool IsIdentifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// False for private modules, tests, installers, and what an interpreter runs at startup.
bool IsForPrograms(std::string_view part) {
  constexpr std::array<std::string_view, 9> kNotForPrograms = {
      "conftest",      "pip",  "pkg_resources", "setup",        "setuptools",
      "sitecustomize", "test", "tests",         "usercustomize"};
  return part.front() != '_' &&
         std::find(kNotForPrograms.begin(), kNotForPrograms.end(), part) == kNotForPrograms.end();
}

// The components of the module in the file at `path`; nullopt: it is not a module.
std::optional<std::vector<std::string_view>> ModuleParts(std::string_view path) {
  std::vector<std::string_view> parts = host::PathParts(path);
  std::string_view& name = parts.back();
  if (!name.ends_with(".py") && !name.ends_with(".so")) return std::nullopt;
  // "_speedups.cpython-311-x86_64-linux-gnu.so"
  name = name.substr(0, name.find('.'));
  if (name == "__init__") parts.pop_back();
  if (parts.empty()) return std::nullopt;
  const bool is_wanted = std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return IsIdentifier(part) && IsForPrograms(part);
  });
  if (!is_wanted) return std::nullopt;
  return parts;
}

std::string Dotted(const std::vector<std::string_view>& parts) {
  std::string name;
  for (const std::string_view part : parts) {
    name += (name.empty() ? "" : ".") + std::string(part);
  }
  return name;
}

}  // namespace

bool IsModuleName(std::string_view name) {
  for (;;) {
    const size_t dot = name.find('.');
    if (!IsIdentifier(name.substr(0, dot))) return false;
    if (dot == name.npos) return true;
    name.remove_prefix(dot + 1);
  }
}

std::vector<std::string> ModulesOf(const std::vector<std::string>& paths) {
  std::map<size_t, std::set<std::string>> by_depth;
  std::set<std::string_view> packages;  // top-level ones with code of their own
  for (const std::string& path : paths) {
    if (path.ends_with("/__init__.py") && path.find('/') == path.rfind('/')) {
      packages.insert(std::string_view(path).substr(0, path.find('/')));
    }
  }
  for (const std::string& path : paths) {
    const std::optional<std::vector<std::string_view>> parts = ModuleParts(path);
    if (!parts) continue;
    // A namespace package (PEP 420) contains packages of several distributions.
    const size_t deepest = parts->size() > 1 && !packages.contains(parts->front()) ? 3 : 2;
    if (parts->size() <= deepest) by_depth[parts->size()].insert(Dotted(*parts));
  }
  std::vector<std::string> modules;
  for (const auto& [depth, names] : by_depth) {
    for (const std::string& name : names) {
      if (modules.size() < kMaxModules) modules.push_back(name);
    }
  }
  std::sort(modules.begin(), modules.end());
  return modules;
}

core::Result<TreeFacts> UnpackTree(std::string_view compressed, const std::string& folder,
                                   const TreeBounds& bounds) {
  core::Result<core::UniqueFd> scratch = OpenScratch(folder);
  if (!scratch) return scratch.error();
  // Doubled for the headers and the padding of each file.
  core::Result<uint64_t> size = Decompress(compressed, scratch->get(), 2 * bounds.size.count);
  if (!size) return size.error();
  const core::UniqueFd root(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return core::SystemError("open " + folder);
  TreeWriter writer(root.get(), bounds);
  const image::TarVisitor visitor{
      .entry = [&](const image::TarEntry& entry, uint64_t) { return writer.Begin(entry); },
      .bytes = [&](std::string_view bytes) { return writer.Append(bytes); }};
  core::Result<image::TarSummary> tar = image::ReadTar(scratch->get(), 0, *size, visitor);
  if (!tar) return tar.error();
  TreeFacts facts = writer.Facts(tar->digest);
  if (facts.files == 0) return Fault("it is empty");
  return facts;
}

core::Result<TreeFacts> ReadTree(const std::string& folder) {
  core::Result<std::vector<FoundEntry>> found = ListTree(folder);
  if (!found) return found.error();
  const core::UniqueFd nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nowhere) return core::SystemError("open /dev/null");
  image::TarWriter tar(nowhere.get());
  TreeFacts facts;
  std::vector<std::string> paths;
  for (const FoundEntry& each : *found) {
    if (core::Result<void> done = tar.Begin(each.entry); !done) return done.error();
    if (each.entry.is_folder) continue;
    if (core::Result<void> done = AppendFile(tar, each.place); !done) return done.error();
    paths.push_back(each.entry.path);
    facts.bytes += each.entry.size;
  }
  core::Result<image::TarSummary> summary = tar.Finish();
  if (!summary) return summary.error();
  facts.sha256 = summary->digest;
  facts.files = paths.size();
  facts.modules = ModulesOf(paths);
  return facts;
}

}  // namespace belljar::container::packages
