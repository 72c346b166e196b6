#include "cli/validate/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxList = 64 << 20;
// Common templates have about 10 kB. A larger file is ignored, and the files that it would exclude
// are checked.
constexpr size_t kMaxIgnoreFile = 64 << 10;
// In increasing order of precedence.
constexpr const char* kIgnoreFiles[] = {".gitignore", ".belljarignore"};
constexpr const char* kVirtualEnvironment = "pyvenv.cfg";

std::string Absolute(const std::string& folder, const std::string& path) {
  std::string normal = (fs::path(folder) / path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return folder == "/" ||
         (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

// Empty if it cannot be resolved.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : "";
}

std::string Joined(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

using Identity = std::pair<dev_t, ino_t>;

// A directory of the search: the path to open, and the path matched by patterns.
struct Folder {
  std::string path;
  std::string absolute;
};

class Searcher {
 public:
  Searcher(const Search& search, const std::function<bool()>& interrupted)
      : search_(search), interrupted_(interrupted) {}

  FoundFiles Find() {
    for (const std::string& name : search_.named) {
      if (interrupted_()) break;
      AddNamed(name);
    }
    return std::move(found_);
  }

 private:
  // A symbolic link, which is processed after everything that is not a link.
  struct Link {
    Folder at;
    std::shared_ptr<const IgnoreLevel> level;
  };

  void AddNamed(const std::string& name);
  void AddTarget(Target target, const std::string& absolute);
  void AddError(const Folder& at, const core::Error& error);
  void WalkFrom(const Folder& root);
  void Walk(const Folder& folder, std::shared_ptr<const IgnoreLevel> level, bool is_named);
  void Visit(const Folder& at, unsigned char type, const std::string& name,
             const std::shared_ptr<const IgnoreLevel>& level);
  void Follow(const Link& link);
  bool IsLeftOut(const Folder& at, const std::string& name, const IgnoreLevel* level,
                 bool is_directory) const;
  std::shared_ptr<const IgnoreLevel> LevelsAbove(const Folder& root);
  std::shared_ptr<const IgnoreLevel> LevelOf(const Folder& folder,
                                             std::shared_ptr<const IgnoreLevel> above);
  std::string Shown(const Folder& at) const;

  const Search& search_;
  const std::function<bool()>& interrupted_;
  FoundFiles found_;
  std::unordered_set<std::string> known_;  // absolute paths that are targets
  // For the named directory:
  std::string real_root_;
  std::set<Identity> visited_;
  std::deque<Link> links_;
};

std::string Searcher::Shown(const Folder& at) const {
  if (IsBelow(at.absolute, search_.working_folder)) {
    return RelativeTo(search_.working_folder, at.absolute);
  }
  return fs::path(at.path).lexically_normal().string();
}

void Searcher::AddTarget(Target target, const std::string& absolute) {
  if (!target.is_standard_input && !known_.insert(absolute).second) return;
  target.project_path = RelativeTo(search_.project_folder, absolute);
  found_.targets.push_back(std::move(target));
}

void Searcher::AddError(const Folder& at, const core::Error& error) {
  Target target;
  target.path = at.path;
  target.shown = Shown(at);
  target.error = error.ToString();
  AddTarget(std::move(target), at.absolute);
}

void Searcher::AddNamed(const std::string& name) {
  Target target;
  target.path = name;
  if (name == "-") {
    target.is_standard_input = true;
    target.shown = search_.standard_input_name;
    return AddTarget(std::move(target),
                     Absolute(search_.working_folder, search_.standard_input_name));
  }
  const Folder at{name, Absolute(search_.working_folder, name)};
  struct stat status;
  if (stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return WalkFrom(at);
  // Not checked for existence here: opening it reports that.
  target.shown = Shown(at);
  AddTarget(std::move(target), at.absolute);
}

void Searcher::WalkFrom(const Folder& root) {
  real_root_ = RealPath(root.path);
  visited_.clear();
  const size_t first = found_.targets.size();
  Walk(root, LevelsAbove(root), true);
  for (; !links_.empty() && !interrupted_(); links_.pop_front()) {
    const Link link = links_.front();
    Follow(link);
  }
  links_.clear();
  std::sort(found_.targets.begin() + static_cast<std::ptrdiff_t>(first), found_.targets.end(),
            [](const Target& a, const Target& b) { return a.shown < b.shown; });
}

void Searcher::Walk(const Folder& folder, std::shared_ptr<const IgnoreLevel> level, bool is_named) {
  if (interrupted_()) return;
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_named ? 0 : O_NOFOLLOW);
  core::UniqueFd fd(open(folder.path.c_str(), flags));
  struct stat status;
  if (!fd || fstat(fd.get(), &status) != 0) {
    return AddError(folder, core::SystemError("read directory " + core::Quoted(folder.path)));
  }
  if (!visited_.insert({status.st_dev, status.st_ino}).second) return;
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(fd.get()));
  if (!stream)
    return AddError(folder, core::SystemError("read directory " + core::Quoted(folder.path)));
  (void)fd.Release();

  std::vector<std::pair<std::string, unsigned char>> entries;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") entries.emplace_back(name, entry->d_type);
    errno = 0;
  }
  if (errno != 0)
    AddError(folder, core::SystemError("read directory " + core::Quoted(folder.path)));
  const auto is_marker = [](const auto& entry) { return entry.first == kVirtualEnvironment; };
  if (search_.uses_ignore_files && !is_named &&
      std::any_of(entries.begin(), entries.end(), is_marker)) {
    return;
  }
  std::sort(entries.begin(), entries.end());
  level = LevelOf(folder, std::move(level));
  for (const auto& [name, type] : entries) {
    const Folder at{Joined(folder.path, name), Joined(folder.absolute, name)};
    Visit(at, type, name, level);
  }
}

void Searcher::Visit(const Folder& at, unsigned char type, const std::string& name,
                     const std::shared_ptr<const IgnoreLevel>& level) {
  if (type == DT_UNKNOWN) {  // not supported by the file system
    struct stat status;
    if (lstat(at.path.c_str(), &status) != 0) {
      return AddError(at, core::SystemError("look at " + core::Quoted(at.path)));
    }
    type = static_cast<unsigned char>(IFTODT(status.st_mode));
  }
  if (type == DT_LNK) {
    links_.push_back({at, level});
  } else if (type == DT_DIR) {
    if (!IsLeftOut(at, name, level.get(), true)) Walk(at, level, false);
  } else if (type == DT_REG && search_.include.Matches(at.absolute, false) &&
             !IsLeftOut(at, name, level.get(), false)) {
    Target target;
    target.path = at.path;
    target.shown = Shown(at);
    target.was_found = true;
    AddTarget(std::move(target), at.absolute);
  }
}

// A dangling link cannot be run, so it is ignored silently.
void Searcher::Follow(const Link& link) {
  const Folder& at = link.at;
  struct stat status;
  if (stat(at.path.c_str(), &status) != 0) return;
  const bool is_directory = S_ISDIR(status.st_mode);
  const std::string name = at.absolute.substr(at.absolute.rfind('/') + 1);
  if (!is_directory && !search_.include.Matches(at.absolute, false)) return;
  if (IsLeftOut(at, name, link.level.get(), is_directory)) return;
  const std::string real = RealPath(at.path);
  const bool is_inside = real == real_root_ || IsBelow(real, real_root_);
  if (is_directory) {
    if (is_inside) Walk({real, at.absolute}, link.level, false);
    return;
  }
  if (!is_inside) {
    return AddError(
        at, core::MakeError(
                "open " + core::Quoted(at.path),
                "a link that leaves the checked directory; name the file itself to check it"));
  }
  if (!S_ISREG(status.st_mode)) return;
  // The target has been seen under its own name, unless that does not match `include`.
  if (known_.contains(Absolute(search_.working_folder, real))) return;
  Target target;
  target.path = real;
  target.shown = Shown(at);
  target.was_found = true;
  AddTarget(std::move(target), at.absolute);
}

bool Searcher::IsLeftOut(const Folder& at, const std::string& name, const IgnoreLevel* level,
                         bool is_directory) const {
  if (search_.exclude.Matches(at.absolute, is_directory)) return true;
  if (!search_.uses_ignore_files) return false;
  if (is_directory && (name.starts_with('.') || name == "__pycache__" || name == "node_modules")) {
    return true;
  }
  return IsIgnored(level, at.absolute, is_directory);
}

// Ignore files above the named directory, from the root of the repository down; outside a
// repository, from the working directory down.
std::shared_ptr<const IgnoreLevel> Searcher::LevelsAbove(const Folder& root) {
  if (!search_.uses_ignore_files) return nullptr;
  std::vector<std::string> folders;  // from `root` up, without it
  size_t kept = 0;
  std::error_code none;
  std::string folder = root.absolute;
  for (;;) {
    const bool is_repository = fs::exists(Joined(folder, ".git"), none);
    if (is_repository || (kept == 0 && folder == search_.working_folder)) kept = folders.size();
    if (is_repository || folder == "/") break;
    folder = fs::path(folder).parent_path().string();
    folders.push_back(folder);
  }
  folders.resize(kept);
  std::shared_ptr<const IgnoreLevel> level;
  for (auto above = folders.rbegin(); above != folders.rend(); ++above) {
    level = LevelOf({*above, *above}, std::move(level));
  }
  return level;
}

std::shared_ptr<const IgnoreLevel> Searcher::LevelOf(const Folder& folder,
                                                     std::shared_ptr<const IgnoreLevel> above) {
  if (!search_.uses_ignore_files) return above;
  IgnoreRules rules;
  for (const char* name : kIgnoreFiles) {
    const std::string path = Joined(folder.path, name);
    // As in git, links are not followed. Opening a FIFO would block until it has a writer.
    const core::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (!fd && errno == ENOENT) continue;
    const bool is_file = fd && fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
    const core::Result<std::string> text =
        is_file ? core::ReadAll(fd.get(), kMaxIgnoreFile)
                : core::SystemErrorOf(EINVAL, "read", "not a regular file");
    if (text) {
      rules.Append(IgnoreRules::Parse(*text));
    } else {
      found_.notes.push_back(core::Quoted(path) +
                             " is not a regular file or is larger than 64k, so it is not used: "
                             "the files it excludes are checked");
    }
  }
  if (rules.empty()) return above;
  return std::make_shared<const IgnoreLevel>(
      IgnoreLevel{Joined(folder.absolute, ""), std::move(rules), std::move(above)});
}

}  // namespace

bool FolderPatterns::Matches(const std::string& path, bool is_directory) const {
  return rules.Judge(RelativeTo(folder, path), is_directory) == Verdict::kIgnored;
}

std::string RelativeTo(const std::string& folder, const std::string& path) {
  const std::string absolute = Absolute(folder, path);
  if (!IsBelow(absolute, folder)) return absolute;
  return absolute.substr(folder == "/" ? 1 : folder.size() + 1);
}

FoundFiles FindFiles(const Search& search, const std::function<bool()>& interrupted) {
  return Searcher(search, interrupted).Find();
}

core::Result<std::vector<std::string>> ReadFileList(const std::string& list) {
  core::UniqueFd opened;
  if (list != "-") {
    opened.Reset(open(list.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return core::SystemError("open " + core::Quoted(list));
  }
  core::Result<std::string> text =
      core::ReadAll(list == "-" ? STDIN_FILENO : opened.get(), kMaxList);
  if (!text) {
    return core::SystemErrorOf(text.error().error_number,
                               list == "-" ? "read standard input" : "read " + core::Quoted(list));
  }
  const char separator = text->find('\0') == std::string::npos ? '\n' : '\0';
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text->size();) {
    const size_t end = std::min(text->find(separator, begin), text->size());
    std::string name = text->substr(begin, end - begin);
    if (separator == '\n' && name.ends_with('\r')) name.pop_back();
    // Here "-" is the name of a file, not standard input.
    if (name == "-") name = "./-";
    if (!name.empty()) names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

}  // namespace belljar::cli::validate
