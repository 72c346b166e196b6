#include "container/image/image_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "container/image/byte_code.h"
#include "container/image/language_selection.h"
#include "container/image/library_search.h"
#include "container/image/selection.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"

namespace belljar::container::image {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxFile = size_t{1} << 30;
// The environment's, if an interpreter of its own is used; otherwise that of the build.
std::string StandardLibraryOf(const installation::Installation& installation) {
  return installation.interpreter.empty() ? BELLJAR_PYTHON_STDLIB : installation.StandardLibrary();
}

// The program that a zygote or launcher executes, regardless of what is loaded into it.
const std::string& ZygoteProgram(const ImageRequest& request) {
  const installation::Installation& installation = request.installation;
  if (request.profile.program) return installation.launcher;
  return installation.interpreter.empty() ? installation.zygote : installation.interpreter;
}

// "python3.11", the name of its program and of its library's folder.
std::string PythonName() { return fs::path(BELLJAR_PYTHON_STDLIB).filename(); }

constexpr char kTimeZones[] = "/usr/share/zoneinfo";
constexpr char kCertificates[] = "/etc/ssl/certs";
constexpr char kSystemRoots[] = "/etc/ssl/certs/ca-certificates.crt";
// The targets of links in kCertificates; an image has no links.
constexpr std::string_view kSourcesOfCertificates[] = {"/usr/share/ca-certificates",
                                                       "/usr/local/share/ca-certificates"};

// Mount points for runtimes. Not /tmp: runc before 1.1 gives a tmpfs the mode of the folder that it
// covers, whatever mode is requested, and these folders are not writable. If it is missing, a
// runtime creates it.
constexpr const char* kEmptyFolders[] = {"dev", "etc", "proc", "sys"};

// Libraries that glibc loads by name on demand: this one to end a thread.
constexpr const char* kLoadedByName[] = {"libgcc_s.so.1"};

std::string Below(const std::string& folder, const std::string& path) {
  return folder.empty() ? path : folder + "/" + path;
}

// "usr/lib" from "/usr/lib".
std::string ImagePath(const std::string& path) {
  const std::string normal = fs::path(path).lexically_normal();
  const size_t first = normal.find_first_not_of('/');
  return first == normal.npos ? "" : normal.substr(first);
}

bool IsSourceOfCertificates(const std::string& path) {
  return std::find(std::begin(kSourcesOfCertificates), std::end(kSourcesOfCertificates), path) !=
         std::end(kSourcesOfCertificates);
}

bool IsByteCodeFolder(const fs::path& path) { return path.filename() == "__pycache__"; }

class Collection {
 public:
  explicit Collection(const ImageRequest& request) : request_(request) {}

  core::Result<ImageFiles> Collect() {
    const bool is_language = request_.profile.program.has_value();
    const auto belljar = is_language ? &Collection::AddLanguage : &Collection::AddBelljar;
    const auto paths = is_language ? &Collection::AddPathsOfLanguage : &Collection::AddPaths;
    for (const auto step : {&Collection::AddPrograms, belljar, paths, &Collection::AddSystemFiles,
                            &Collection::AddLibraries}) {
      if (core::Result<void> done = (this->*step)(); !done) return done.error();
    }
    for (const char* folder : kEmptyFolders) files_.folders.insert(folder);
    const std::set<std::string> folders = files_.folders;
    for (const std::string& path : folders) AddParents(path);
    for (const auto& [path, file] : files_.files) AddParents(path);
    return std::move(files_);
  }

 private:
  using Selection = std::function<bool(const std::string&)>;

  static core::Error Failure(const std::string& detail) {
    return core::MakeError("build an image", detail);
  }

  core::Result<void> AddPrograms() {
    const installation::Installation& from = request_.installation;
    std::vector<std::pair<std::string, std::string>> programs = {
        {Below(kImagePrefix, kGuestProgram), request_.guest}};
    if (request_.profile.program) {
      programs.push_back({Below(kImagePrefix, kLauncherProgram), from.launcher});
    } else if (from.interpreter.empty()) {
      programs.push_back({Below(kImagePrefix, kZygoteProgram), from.zygote});
    } else {
      // The interpreter keeps its path, since it finds its library from there.
      const fs::path folder = fs::path(from.zygote).parent_path();
      programs.push_back({ImagePath(from.interpreter), from.interpreter});
      programs.push_back({Below(kImagePrefix, kZygoteModule), from.zygote});
      programs.push_back({Below(kImagePrefix, kPreloadModule), folder / kPreloadModule});
      AddText(Below(kImagePrefix, kInterpreterFile), from.interpreter + "\n");
    }
    std::error_code code;
    for (const auto& [place, path] : programs) {
      if (!fs::is_regular_file(path, code)) {
        return Failure("there is no " + path +
                       ", which containers start; build with ./dev build, or install with "
                       "cmake --install or pip");
      }
      ImageFile& file = Add(place, path);
      file.form = ImageFile::Form::kProgram;
      file.is_program = true;
    }
    return {};
  }

  core::Result<void> AddBelljar() {
    const std::string share = Below(kImagePrefix, "share/belljar");
    const installation::Installation& from = request_.installation;
    const std::pair<const std::string&, const char*> trees[] = {
        {from.policy, "/policy"}, {from.runner, "/runner"}, {from.profiles, "/profiles"}};
    for (const auto& [folder, name] : trees) {
      if (core::Result<void> done = AddTree(folder, share + name, WantsAll); !done) return done;
    }
    if (!request_.profile_file.empty()) {
      Add(share + "/profiles/" + request_.profile.name + ".toml", request_.profile_file);
    }
    Add(share + "/rules.json", from.rules);
    // Without it a zygote compiles its regular expressions itself.
    const fs::path patterns = fs::path(from.rules).parent_path() / "patterns";
    std::error_code code;
    if (fs::exists(patterns, code)) Add(share + "/patterns", patterns);
    // Without these workers are slower.
    if (fs::exists(from.hot_blocks, code)) {
      core::Result<void> done = AddTree(from.hot_blocks, share + "/hot_blocks", WantsAll);
      if (!done) return done;
    }
    return AddPackages();
  }

  // Instead of it, for a language besides Python.
  core::Result<void> AddLanguage() {
    const std::string share = Below(kImagePrefix, "share/belljar");
    const installation::Installation& from = request_.installation;
    const std::string languages = share + "/languages";
    for (const auto& [folder, target] :
         {std::pair<const std::string&, std::string>{from.profiles, share + "/profiles"},
          {from.languages, languages}}) {
      if (core::Result<void> done = AddTree(folder, target, WantsAll); !done) return done;
    }
    const std::string own = languages + "/" + request_.profile.name;
    if (!request_.profile_file.empty()) Add(own + ".toml", request_.profile_file);
    for (const auto& [path, text] : request_.texts) AddText(Below(share, path), text);
    return {};
  }

  core::Result<void> AddPackages() {
    const std::string share = Below(kImagePrefix, "share/belljar");
    const installation::Installation& from = request_.installation;
    if (core::Result<void> done =
            AddTree(from.site_packages, share + "/site-packages", WantsOfPackages);
        !done) {
      return done;
    }
    for (const installation::MissingPackages& missing : from.Missing(request_.profile)) {
      if (request_.package_paths.contains(missing.set)) continue;
      return Failure("the packages of " + missing.set +
                     " are not installed. To install them: " + missing.command);
    }
    for (const core::PackageSet& set : request_.profile.packages) {
      const auto given = request_.package_paths.find(set.name);
      const installation::PackageFolder folder =
          given == request_.package_paths.end() ? from.FolderOfSet(set.name)
                                                : installation::PackageFolder{given->second, {}};
      const std::string target = share + "/packages/" + set.name;
      if (core::Result<void> done = AddPackageFolder(folder, target); !done) return done;
    }
    return {};
  }

  core::Result<void> AddPackageFolder(const installation::PackageFolder& folder,
                                      const std::string& target) {
    if (folder.entries.empty()) return AddTree(folder.path, target, WantsOfPackages);
    std::error_code code;
    for (const std::string& entry : folder.entries) {
      const std::string source = Below(folder.path, entry);
      if (fs::is_regular_file(source, code)) {
        if (WantsOfPackages(entry)) AddWithByteCode(Below(target, entry), source);
        continue;
      }
      // By the whole path, since the selection depends on the package that contains it.
      const Selection wants = [&](const std::string& path) {
        return WantsOfPackages(Below(entry, path));
      };
      if (core::Result<void> done = AddTree(source, Below(target, entry), wants); !done)
        return done;
    }
    return {};
  }

  // What the profile allows a worker to read.
  core::Result<void> AddPaths() {
    for (const core::PathRule& rule : request_.profile.paths) {
      if (rule.device) continue;  // every runtime provides its own
      const bool is_library = rule.path == "{stdlib}";
      const std::string path = is_library ? StandardLibraryOf(request_.installation) : rule.path;
      std::error_code code;
      if (rule.optional && (!fs::exists(path, code) || IsSourceOfCertificates(path))) continue;
      if (fs::is_regular_file(path, code)) {
        Add(ImagePath(path), path);
        continue;
      }
      const Selection wants = is_library                   ? WantsOfStandardLibrary
                              : rule.path == kTimeZones    ? WantsOfTimeZones
                              : rule.path == kCertificates ? WantsOfCertificates
                                                           : WantsAll;
      if (core::Result<void> done = AddTree(path, ImagePath(path), wants); !done) return done;
    }
    if (request_.profile.egress && !files_.files.contains(ImagePath(kSystemRoots))) {
      return Failure(std::string("there is no ") + kSystemRoots + ", with which profile " +
                     request_.profile.name +
                     " verifies certificates; on Debian it is in the package ca-certificates");
    }
    return {};
  }

  // What a language allows its programs to read, as far as they can be expected to use it.
  core::Result<void> AddPathsOfLanguage() {
    core::Result<LibrarySearch> search = LibrarySearch::OfThisMachine();
    if (!search) return search.error();
    language_.emplace(request_.profile, std::move(*search));
    for (const core::PathRule& rule : request_.profile.paths) {
      std::error_code code;
      if (rule.device || rule.is_link || !LanguageSelection::WantsTree(rule.path) ||
          (rule.optional && !fs::exists(rule.path, code))) {
        continue;
      }
      if (fs::is_regular_file(rule.path, code)) {
        Add(ImagePath(rule.path), rule.path);
        continue;
      }
      const Selection wants = [&](const std::string& path) {
        return language_->Wants(rule.path, path);
      };
      if (core::Result<void> done = AddTree(rule.path, ImagePath(rule.path), wants); !done)
        return done;
    }
    for (const std::string& command : LanguageSelection::CommandsOfBin()) {
      const auto found = files_.files.find("usr/bin/" + command);
      if (found != files_.files.end()) files_.files["bin/" + command] = found->second;
    }
    return {};
  }

  core::Result<void> AddSystemFiles() {
    const std::string number = std::to_string(kImageUser);
    AddText("etc/passwd", "belljar:x:" + number + ":" + number + "::/nonexistent:/nonexistent\n");
    AddText("etc/group", "belljar:x:" + number + ":\n");
    return {};
  }

  // Where ld.so looks without a cache: next to libc, a path built into each libc.
  core::Result<void> AddLibraries() {
    const std::string& program = ZygoteProgram(request_);
    core::Result<std::optional<ElfFile>> zygote = ReadElfFile(program);
    if (!zygote) return zygote.error();
    if (!*zygote) return Failure(program + " is not a program");
    files_.architecture = ArchitectureName((*zygote)->kind);
    if (files_.architecture.empty())
      return Failure("OCI images have no name for this architecture");
    core::Result<LibrarySearch> search = LibrarySearch::OfThisMachine();
    if (!search) return search.error();
    std::vector<std::string> objects;
    for (const auto& [path, file] : files_.files) {
      const bool is_copy =
          file.form == ImageFile::Form::kCopy || file.form == ImageFile::Form::kProgram;
      // A library that is there by another name is needed by its own as well.
      if (is_copy && !(language_ && LanguageSelection::IsLibrary(file.source)))
        objects.push_back(file.source);
    }
    std::vector<std::string> untrusted;
    for (const auto& [set, path] : request_.package_paths) {
      std::error_code code;
      untrusted.push_back(fs::canonical(path, code));
      if (code) return core::SystemErrorOf(code.value(), "build an image: open " + path);
    }
    core::Result<LinkedLibraries> linked = FindLinkedLibraries(objects, *search, untrusted);
    if (!linked) return linked.error();
    std::vector<std::string> names(std::begin(kLoadedByName), std::end(kLoadedByName));
    if (language_) {
      const std::vector<std::string> more = language_->LibrariesOfPrograms();
      names.insert(names.end(), more.begin(), more.end());
    }
    for (const std::string& name : names) {
      const std::string path = search->Find(name, **zygote, program, {});
      if (!path.empty()) linked->paths[name] = path;
    }
    if (core::Result<void> judged = CheckMissing(*linked); !judged) return judged;
    const auto libc = linked->paths.find("libc.so.6");
    if (libc == linked->paths.end()) return Failure("the zygote is not linked with glibc");
    const std::string folder = ImagePath(fs::path(libc->second).parent_path());
    const std::string& linker = (*zygote)->interpreter;
    for (const auto& [name, path] : linked->paths) {
      // Libraries name the linker too; it is only needed at the path that programs name.
      if (name == fs::path(linker).filename()) continue;
      Add(Below(folder, fs::path(name).filename()), path);
    }
    Add(ImagePath(linker), linker).is_program = true;
    return {};
  }

  // A program without a library does not start. An extension module without one cannot be imported
  // on this machine either.
  core::Result<void> CheckMissing(const LinkedLibraries& linked) {
    for (const MissingLibrary& missing : linked.missing) {
      const std::string what = missing.name + ", which " + missing.needed_by + " needs";
      if (missing.needed_by == ZygoteProgram(request_) ||
          missing.needed_by == request_.installation.zygote ||
          missing.needed_by == request_.installation.interpreter ||
          missing.needed_by == request_.guest) {
        return Failure("there is no " + what);
      }
      files_.left_out.push_back(what + ": it is not on this machine");
    }
    return {};
  }

  // All files in the folder `source` that `wants` selects. Links that stay within it, or within the
  // trees of a language, are replaced by their targets: an image has no links, so none can lead
  // elsewhere.
  core::Result<void> AddTree(const std::string& source, const std::string& target,
                             const Selection& wants) {
    std::error_code code;
    const fs::path root = fs::canonical(source, code);
    if (code) return core::SystemErrorOf(code.value(), "build an image: open " + source);
    files_.folders.insert(target);
    size_t left_out = 0;
    fs::recursive_directory_iterator entries(root, code);
    for (; !code && entries != fs::recursive_directory_iterator(); entries.increment(code)) {
      const fs::path& from = entries->path();
      const std::string path = from.lexically_relative(root);
      if (IsByteCodeFolder(from) || !wants(path)) {
        entries.disable_recursion_pending();
        continue;
      }
      if (const char* fault = host::PathFault(path)) {
        return Failure("the name of " + core::Quoted(from.string()) +
                       " cannot be in one: " + fault);
      }
      if (entries->is_symlink(code)) {
        const fs::path real = fs::canonical(from, code);
        const bool leads_on = !code && !IsWithin(real, root) && language_ &&
                              language_->IsShown(real) && depth_ < kMaxDepth;
        const bool stays =
            !code && (leads_on || IsWithin(real, root)) && fs::is_regular_file(real, code);
        const bool is_folder = leads_on && fs::is_directory(real, code);
        code.clear();  // a dangling link is skipped
        if (stays) AddWithByteCode(Below(target, path), real);
        if (is_folder) {
          ++depth_;
          core::Result<void> done = AddTree(real, Below(target, path), WantsAll);
          --depth_;
          if (!done) return done;
        }
        left_out += !stays && !is_folder;
      } else if (entries->is_directory(code)) {
        files_.folders.insert(Below(target, path));
      } else if (entries->is_regular_file(code)) {
        AddWithByteCode(Below(target, path), from);
      }
    }
    if (code) return core::SystemErrorOf(code.value(), "build an image: read " + source);
    if (left_out > 0) {
      files_.left_out.push_back(std::to_string(left_out) + " links of " + source +
                                " that lead to folders or out of it");
    }
    return {};
  }

  void AddWithByteCode(const std::string& target, const fs::path& source) {
    Add(target, source);
    if (source.extension() != ".py") return;
    const std::string name = source.stem().string() + "." + CacheTag() + ".pyc";
    const fs::path byte_code = source.parent_path() / "__pycache__" / name;
    ImageFile file{ImageFile::Form::kByteCode, byte_code, source, false};
    // If it is missing or belongs to another version of the source, every zygote compiles it again.
    const core::Result<std::optional<std::string>> content = ReadContent(file);
    if (!content || !*content) return;
    const fs::path place = fs::path(target).parent_path() / "__pycache__" / name;
    files_.files[place] = std::move(file);
  }

  ImageFile& Add(const std::string& target, const std::string& source) {
    // None of Python's own files is executed. A language's files are executable if they are here.
    const bool is_program = language_ && access(source.c_str(), X_OK) == 0;
    return files_.files[target] = ImageFile{ImageFile::Form::kCopy, source, "", is_program};
  }

  void AddText(const std::string& target, const std::string& text) {
    files_.files[target] = ImageFile{ImageFile::Form::kText, "", text, false};
  }

  void AddParents(const std::string& path) {
    for (size_t slash = path.rfind('/'); slash != path.npos && slash > 0;
         slash = path.rfind('/', slash - 1)) {
      files_.folders.insert(path.substr(0, slash));
    }
  }

  static constexpr int kMaxDepth = 4;

  const ImageRequest& request_;
  ImageFiles files_;
  std::optional<LanguageSelection> language_;  // once its paths are added
  int depth_ = 0;                              // of trees to which links of others lead
};

core::Result<SourceStamp> StampOf(const std::string& source) {
  struct stat status;
  if (stat(source.c_str(), &status) != 0) return core::SystemError("look at " + source);
  return SourceStamp{static_cast<uint32_t>(status.st_mtime), static_cast<uint32_t>(status.st_size)};
}

}  // namespace

const char* ImagePartName(ImagePart part) {
  switch (part) {
    case ImagePart::kPrograms: return "programs";
    case ImagePart::kLibraries: return "shared libraries";
    case ImagePart::kStandardLibrary: return "standard library";
    case ImagePart::kPolicy: return "policy and profiles";
    case ImagePart::kPackages: return "packages";
    case ImagePart::kData: return "system data";
  }
  return "";
}

ImagePart PartOf(const std::string& path) {
  const auto is_below = [&](const std::string& folder) { return path.starts_with(folder + "/"); };
  const std::string share = Below(kImagePrefix, "share/belljar");
  if (is_below(share + "/site-packages") || is_below(share + "/packages")) {
    return ImagePart::kPackages;
  }
  if (is_below(share)) return ImagePart::kPolicy;
  if (is_below(kImagePrefix)) return ImagePart::kPrograms;
  if (path.find("lib/" + PythonName() + "/") != path.npos) return ImagePart::kStandardLibrary;
  if (path.ends_with("bin/" + PythonName())) return ImagePart::kPrograms;
  if (path.starts_with("lib") || is_below("usr/lib") || is_below("usr/lib64")) {
    return ImagePart::kLibraries;
  }
  return ImagePart::kData;
}

std::string GuestProgramPath(const installation::Installation& installation) {
  return fs::path(installation.zygote).parent_path() / kGuestProgram;
}

core::Result<ImageFiles> CollectImageFiles(const ImageRequest& request) {
  return Collection(request).Collect();
}

core::Result<std::optional<std::string>> ReadContent(const ImageFile& file) {
  if (file.form == ImageFile::Form::kText) return std::optional(file.text);
  core::Result<std::string> bytes = core::ReadFile(file.source, kMaxFile);
  if (!bytes) return bytes.error();
  if (file.form == ImageFile::Form::kCopy) return std::optional(std::move(*bytes));
  if (file.form == ImageFile::Form::kProgram)
    return std::optional(WithoutDebugSections(std::move(*bytes)));
  const core::Result<SourceStamp> stamp = StampOf(file.text);
  if (!stamp) return stamp.error();
  return UncheckedByteCode(std::move(*bytes), *stamp);
}

}  // namespace belljar::container::image
