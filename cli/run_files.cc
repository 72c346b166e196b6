#include "cli/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cli/console.h"
#include "cli/source_file.h"
#include "engine/core/text.h"
#include "engine/host/beneath.h"
#include "engine/host/random.h"
#include "engine/workspace/workspace.h"

namespace belljar::cli {
namespace {

namespace fs = std::filesystem;

// Modified by the umask.
constexpr mode_t kFileMode = 0666;
constexpr mode_t kDirectoryMode = 0777;

std::string NeedsWorkspace(const std::string& what, const core::Profile& profile) {
  return what + " needs a profile with a workspace, and " + profile.name +
         " has none: use --profile filesystem, or combine profiles, as in data-science+filesystem";
}

// Limit of one folder.
constexpr size_t kMaxFolderFiles = 10'000;

struct Given {
  std::string source;
  std::string target;
};

Given Split(const std::string& given) {
  std::error_code error;
  const size_t colon = given.rfind(':');
  const bool whole = colon == given.npos || colon == 0 || fs::exists(given, error);
  Given split{whole ? given : given.substr(0, colon), whole ? "" : given.substr(colon + 1)};
  if (split.target.empty() || split.target.back() == '/') {
    split.target += fs::path(split.source).filename().string();
  }
  return split;
}

// The files below a folder, sorted.
core::Result<std::vector<Given>> FilesIn(const Given& folder, bool only_modules,
                                         const std::string& option) {
  const std::string prefix =
      folder.target.empty() || folder.target == "." ? "" : folder.target + "/";
  std::vector<Given> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder.source, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    if (name.starts_with('.') || name == "__pycache__") {
      entry.disable_recursion_pending();
    } else if (!entry->is_symlink(unknown) && entry->is_regular_file(unknown) &&
               (!only_modules || workspace::IsModule(name))) {
      files.push_back({entry->path().string(),
                       prefix + entry->path().lexically_relative(folder.source).string()});
    }
    if (files.size() > kMaxFolderFiles) {
      return UsersError(option + " " + core::Quoted(folder.source) + " holds more than " +
                        WithThousands(kMaxFolderFiles) + " files");
    }
  }
  if (error) {
    return core::SystemErrorOf(error.value(), option + " " + core::Quoted(folder.source));
  }
  std::ranges::sort(files, {}, &Given::target);
  return files;
}

// With the files of folders in place of these.
core::Result<std::vector<Given>> Expanded(const std::vector<std::string>& given, bool only_modules,
                                          const std::string& option) {
  std::vector<Given> all;
  for (const std::string& one : given) {
    const Given split = Split(one);
    std::error_code error;
    if (!fs::is_directory(split.source, error)) {
      all.push_back(split);
      continue;
    }
    core::Result<std::vector<Given>> below = FilesIn(split, only_modules, option);
    if (!below) return below.error();
    all.insert(all.end(), below->begin(), below->end());
  }
  return all;
}

core::Result<host::InputFile> ReadInputFile(const Given& split, core::Bytes bound,
                                            const std::string& option) {
  if (split.source == "-") {
    return UsersError(option + " expects file names; use --stdin for standard input");
  }
  core::Result<SourceFile> read = ReadSourceFile(split.source, bound);
  if (!read) return read.error();
  if (read->is_too_long) {
    return UsersError(option + " " + core::Quoted(split.source) + " exceeds the " +
                      bound.ToString() + " that may be given");
  }
  return host::InputFile{split.target, std::move(read->bytes)};
}

// Replaces an existing file or symbolic link; links are not followed.
core::Result<void> Replace(int directory, const std::string& name, const std::string& scratch) {
  if (renameat(directory, scratch.c_str(), directory, name.c_str()) == 0) return {};
  const core::Error failure = core::SystemError("replace " + core::Quoted(name));
  (void)unlinkat(directory, scratch.c_str(), 0);
  return failure;
}

core::Result<void> Save(const SaveDirectory& root, const host::Artifact& artifact) {
  if (const char* fault = host::PathFault(artifact.name)) {
    return core::MakeError("save " + core::Quoted(artifact.name), fault);
  }
  const std::vector<std::string_view> parts = host::PathParts(artifact.name);
  core::Result<core::UniqueFd> directory = host::MakeParents(root.fd.get(), parts, kDirectoryMode);
  if (!directory) return directory.error();
  const std::string name(parts.back());
  const std::string written = root.force ? ".belljar-" + core::Hex(host::RandomBytes()) : name;
  const core::UniqueFd file =
      host::OpenBeneath(directory->get(), written.c_str(), O_WRONLY | O_CREAT | O_EXCL, kFileMode);
  if (!file) {
    return core::SystemError("save " + core::Quoted(artifact.name),
                             errno == EEXIST ? "use --force to overwrite it" : "");
  }
  if (!core::WriteBytes(file.get(), *artifact.content)) {
    const core::Error failure = core::SystemError("save " + core::Quoted(artifact.name));
    (void)unlinkat(directory->get(), written.c_str(), 0);
    return failure;
  }
  return root.force ? Replace(directory->get(), name, written) : core::Result<void>();
}

std::string SizeText(uint64_t bytes) {
  return WithThousands(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// About one screen.
constexpr size_t kMaxLines = 20;

}  // namespace

core::Result<std::vector<host::InputFile>> ReadInputFiles(const std::vector<std::string>& given,
                                                          const core::Profile& profile,
                                                          const std::string& option,
                                                          bool takes_modules) {
  std::vector<host::InputFile> files;
  if (!given.empty() && !profile.workspace && !takes_modules) {
    return UsersError(NeedsWorkspace(option, profile));
  }
  const core::Result<std::vector<Given>> all = Expanded(given, !profile.workspace, option);
  if (!all) return all.error();
  const core::Bytes bound = profile.workspace ? profile.workspace->size : workspace::kMaxModules;
  uint64_t size = 0;
  for (const Given& one : *all) {
    if (!profile.workspace && !workspace::IsModule(one.target)) {
      return UsersError(NeedsWorkspace(option + " " + core::Quoted(one.source), profile));
    }
    core::Result<host::InputFile> file = ReadInputFile(one, bound, option);
    if (!file) return file.error();
    size += file->content.size();
    files.push_back(std::move(*file));
    // The total is already too large; CheckFiles reports it.
    if (size > bound.count) break;
  }
  if (core::Result<void> checked = workspace::CheckFiles(files, profile); !checked)
    return checked.error();
  return files;
}

std::string TextOfModules(const std::vector<std::string>& given) {
  const core::Result<std::vector<Given>> all = Expanded(given, true, "");
  std::string text;
  for (const Given& one : all ? *all : std::vector<Given>()) {
    if (!workspace::IsModule(one.target) || text.size() > workspace::kMaxModules.count) continue;
    core::Result<SourceFile> read = ReadSourceFile(one.source, workspace::kMaxModules);
    if (read) text += "\n" + read->bytes;
  }
  return text;
}

core::Result<SaveDirectory> SaveDirectory::Open(std::string name, bool force,
                                                const std::string& option) {
  const std::string what = option + " " + core::Quoted(name);
  std::error_code error;
  fs::create_directories(name, error);
  if (error && !fs::exists(name)) return core::MakeError(what, "create it: " + error.message());
  core::UniqueFd fd(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return core::SystemError(what);
  return SaveDirectory{std::move(name), std::move(fd), force};
}

std::vector<std::optional<core::Error>> SaveArtifacts(const std::vector<host::Artifact>& artifacts,
                                                      const SaveDirectory& directory) {
  std::vector<std::optional<core::Error>> errors(artifacts.size());
  for (size_t i = 0; i < artifacts.size(); ++i) {
    if (!artifacts[i].content) continue;
    if (core::Result<void> saved = Save(directory, artifacts[i]); !saved) errors[i] = saved.error();
  }
  return errors;
}

const core::Error* Saved::first_error() const {
  const auto first = std::find_if(errors.begin(), errors.end(),
                                  [](const auto& error) { return error.has_value(); });
  return first == errors.end() ? nullptr : &**first;
}

std::string ArtifactsText(const host::Outcome& outcome, const Saved* saved) {
  std::string text;
  const std::vector<host::Artifact>& artifacts = outcome.artifacts;
  const bool is_one = artifacts.size() == 1;
  if (!artifacts.empty()) {
    text = "belljar: " + WithThousands(artifacts.size()) + (is_one ? " artifact" : " artifacts");
    text += saved ? " in " + core::Printable(saved->directory)
                  : std::string("; --save-artifacts DIR keeps ") + (is_one ? "it" : "them");
    text += "\n";
  }
  for (size_t i = 0; i < std::min(artifacts.size(), kMaxLines); ++i) {
    const host::Artifact& artifact = artifacts[i];
    const bool is_lost = saved && saved->errors[i];
    text += "  " + core::Printable(artifact.name) + "  " + SizeText(artifact.size) + "  " +
            artifact.media_type +
            (!artifact.content ? "  (too large, not kept)"
             : is_lost         ? "  (not saved)"
                               : "") +
            "\n";
  }
  if (artifacts.size() > kMaxLines) {
    text += "  and " + WithThousands(artifacts.size() - kMaxLines) + " more\n";
  }
  if (!outcome.artifacts_note.empty()) text += "belljar: files " + outcome.artifacts_note + "\n";
  return text;
}

}  // namespace belljar::cli
