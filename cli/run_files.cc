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
#include "engine/core/beneath.h"
#include "engine/core/random.h"
#include "engine/core/text.h"
#include "engine/outside/workspace.h"

namespace belljar {
namespace {

namespace fs = std::filesystem;

// As the umask leaves them.
constexpr mode_t kFileMode = 0666;
constexpr mode_t kDirectoryMode = 0777;

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

Result<InputFile> ReadInputFile(const std::string& given, Bytes bound) {
  const Given split = Split(given);
  if (split.source == "-") {
    return UsersError("--file takes names of files; --stdin is for what standard input brings");
  }
  std::error_code error;
  if (fs::is_directory(split.source, error)) {
    return UsersError("--file " + Quoted(split.source) +
                      " is a directory; give its files one by one, or an archive of it");
  }
  Result<SourceFile> read = ReadSourceFile(split.source, bound);
  if (!read) return read.error();
  if (read->is_too_long) {
    return UsersError("--file " + Quoted(split.source) + " is more than the " + bound.ToString() +
                      " that the workspace holds");
  }
  return InputFile{split.target, std::move(read->bytes)};
}

// Takes the place of what is there, also of a symbolic link, which is not followed.
Result<void> Replace(int directory, const std::string& name, const std::string& scratch) {
  if (renameat(directory, scratch.c_str(), directory, name.c_str()) == 0) return {};
  const Error failure = SystemError("replace " + Quoted(name));
  (void)unlinkat(directory, scratch.c_str(), 0);
  return failure;
}

Result<void> Save(const SaveDirectory& root, const Artifact& artifact) {
  if (const char* fault = PathFault(artifact.name)) {
    return MakeError("save " + Quoted(artifact.name), fault);
  }
  const std::vector<std::string_view> parts = PathParts(artifact.name);
  Result<UniqueFd> directory = MakeParents(root.fd.get(), parts, kDirectoryMode);
  if (!directory) return directory.error();
  const std::string name(parts.back());
  const std::string written = root.force ? ".belljar-" + Hex(RandomBytes()) : name;
  const UniqueFd file =
      OpenBeneath(directory->get(), written.c_str(), O_WRONLY | O_CREAT | O_EXCL, kFileMode);
  if (!file) {
    return SystemError("save " + Quoted(artifact.name),
                       errno == EEXIST ? "--force puts the new one in its place" : "");
  }
  if (!WriteBytes(file.get(), *artifact.content)) {
    const Error failure = SystemError("save " + Quoted(artifact.name));
    (void)unlinkat(directory->get(), written.c_str(), 0);
    return failure;
  }
  return root.force ? Replace(directory->get(), name, written) : Result<void>();
}

std::string SizeText(uint64_t bytes) {
  return WithThousands(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// More than fit a screen help nobody.
constexpr size_t kMostLines = 20;

}  // namespace

Result<std::vector<InputFile>> ReadInputFiles(const std::vector<std::string>& given,
                                              const Profile& profile) {
  std::vector<InputFile> files;
  if (!given.empty() && !profile.workspace) {
    return UsersError("--file needs a profile with a workspace, and " + profile.name +
                      " has none: --profile filesystem, or joined, as in data-science+filesystem");
  }
  uint64_t size = 0;
  for (const std::string& one : given) {
    Result<InputFile> file = ReadInputFile(one, profile.workspace->size);
    if (!file) return file.error();
    size += file->content.size();
    files.push_back(std::move(*file));
    // The rest would be read for nothing; CheckFiles says why.
    if (size > profile.workspace->size.count) break;
  }
  if (Result<void> checked = CheckFiles(files, profile); !checked) return checked.error();
  return files;
}

Result<SaveDirectory> SaveDirectory::Open(std::string name, bool force) {
  const std::string what = "--save-artifacts " + Quoted(name);
  std::error_code error;
  fs::create_directories(name, error);
  if (error && !fs::exists(name)) return MakeError(what, "make it: " + error.message());
  UniqueFd fd(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) return SystemError(what);
  return SaveDirectory{std::move(name), std::move(fd), force};
}

std::vector<std::optional<Error>> SaveArtifacts(const std::vector<Artifact>& artifacts,
                                                const SaveDirectory& directory) {
  std::vector<std::optional<Error>> errors(artifacts.size());
  for (size_t i = 0; i < artifacts.size(); ++i) {
    if (!artifacts[i].content) continue;
    if (Result<void> saved = Save(directory, artifacts[i]); !saved) errors[i] = saved.error();
  }
  return errors;
}

const Error* Saved::first_error() const {
  const auto first = std::find_if(errors.begin(), errors.end(),
                                  [](const auto& error) { return error.has_value(); });
  return first == errors.end() ? nullptr : &**first;
}

std::string ArtifactsText(const Outcome& outcome, const Saved* saved) {
  std::string text;
  const std::vector<Artifact>& artifacts = outcome.artifacts;
  const bool is_one = artifacts.size() == 1;
  if (!artifacts.empty()) {
    text = "belljar: " + WithThousands(artifacts.size()) + (is_one ? " artifact" : " artifacts");
    text += saved ? " in " + Printable(saved->directory)
                  : std::string("; --save-artifacts DIR keeps ") + (is_one ? "it" : "them");
    text += "\n";
  }
  for (size_t i = 0; i < std::min(artifacts.size(), kMostLines); ++i) {
    const Artifact& artifact = artifacts[i];
    const bool is_lost = saved && saved->errors[i];
    text += "  " + Printable(artifact.name) + "  " + SizeText(artifact.size) + "  " +
            artifact.media_type +
            (!artifact.content ? "  (too large: not kept)"
             : is_lost         ? "  (not saved)"
                               : "") +
            "\n";
  }
  if (artifacts.size() > kMostLines) {
    text += "  and " + WithThousands(artifacts.size() - kMostLines) + " more\n";
  }
  if (!outcome.artifacts_note.empty()) text += "belljar: files " + outcome.artifacts_note + "\n";
  return text;
}

}  // namespace belljar
