#include "engine/outside/preparation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/random.h"
#include "engine/outside/sandbox.h"
#include "engine/profiles/prepared.h"

namespace belljar::outside {
namespace {

namespace fs = std::filesystem;

// Its folder: this user's only, except that root's is for all users of the machine.
core::Result<std::string> FolderToWrite() {
  const std::string folder = profiles::PreparedFolders().front();
  const std::string operation = "keep it in " + folder;
  const mode_t mode = geteuid() == 0 ? 0755 : 0700;
  for (fs::path made; const fs::path& part : fs::path(folder)) {
    made /= part;
    if (mkdir(made.c_str(), mode) == 0 || errno == EEXIST) continue;
    // A folder above that exists may say so.
    const int why = errno;
    if (access(made.c_str(), F_OK) != 0) return core::SystemErrorOf(why, operation);
  }
  std::error_code code;
  const std::string real = fs::canonical(folder, code);
  if (code) return core::SystemErrorOf(code.value(), operation);
  if (core::Result<void> ours = profiles::CheckOnlyOursWrite(real); !ours) {
    return core::MakeError(operation, ours.error().detail + "; a program maps the file unchecked");
  }
  return real;
}

// The file that the command left.
core::Result<std::string> Make(SandboxOptions options) {
  core::ProgramRule& program = *options.profile.program;
  const core::Preparation prepare = program.prepare;
  program.command = prepare.command;
  program.compile.clear();
  program.warm.clear();
  program.session.clear();
  program.reports_value = false;
  core::Limits& limits = options.profile.maximum_limits;
  // The files of a run are bounded for a reader; this one only by the workspace.
  limits.artifact = limits.artifacts = options.profile.workspace->size;
  options.spares = 1;
  host::Request request;
  request.source = prepare.source;
  request.limits = limits;
  core::Result<host::Outcome> outcome = RunOnce(std::move(options), request);
  if (!outcome) return outcome.error();
  const auto failure = [&](const std::string& what) {
    const std::string_view output = outcome->stderr_stream.text.empty()
                                        ? outcome->stdout_stream.text
                                        : outcome->stderr_stream.text;
    const std::string_view line = output.substr(0, output.find('\n'));
    return core::MakeError("run " + prepare.command.front(),
                           what + (line.empty() ? "" : ": " + core::Printable(line)));
  };
  if (outcome->status != host::Status::kOk || outcome->exit_code.value_or(0) != 0)
    return failure("it failed");
  const auto found = std::ranges::find(outcome->artifacts, prepare.file, &host::Artifact::name);
  if (found == outcome->artifacts.end() || !found->content || found->content->empty())
    return failure("it left no " + prepare.file);
  return std::move(*found->content);
}

// Complete before it has its name: an interpreter dies of a part of it (SIGBUS).
core::Result<void> Write(int folder, const std::string& name, const std::string& content) {
  const std::string unfinished = "." + name + "." + host::NewUuid();
  const std::string operation = "write " + name;
  core::UniqueFd file(openat(folder, unfinished.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return core::SystemError(operation);
  const bool done = core::WriteBytes(file.get(), content) && fchmod(file.get(), 0444) == 0 &&
                    fsync(file.get()) == 0 &&
                    renameat(folder, unfinished.c_str(), folder, name.c_str()) == 0;
  if (done) return {};
  core::Error error = core::SystemError(operation);
  (void)unlinkat(folder, unfinished.c_str(), 0);
  return error;
}

}  // namespace

core::Result<Prepared> Prepare(SandboxOptions options) {
  const core::Profile language = options.profile;
  core::Result<std::string> folder = FolderToWrite();
  if (!folder) return folder.error();
  const core::UniqueFd opened(open(folder->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return core::SystemError("open " + *folder);
  // Before: if it is updated meanwhile, the file is for the version that the number stands for.
  const core::Result<std::string> name = profiles::PreparedName(language);
  if (!name) return name.error();
  core::Result<std::string> content = Make(std::move(options));
  if (!content) return content.error();
  const core::Result<std::string> after = profiles::PreparedName(language);
  if (!after || *after != *name)
    return core::MakeError("prepare " + language.name, "its programs changed meanwhile; try again");
  if (core::Result<void> done = Write(opened.get(), *name, *content); !done) return done.error();
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(*folder, code)) {
    const std::string other = entry.path().filename();
    if (other != *name && profiles::IsPreparedFor(language, other))
      (void)unlinkat(opened.get(), other.c_str(), 0);
  }
  return Prepared{*folder + "/" + *name, core::Bytes{content->size()}};
}

}  // namespace belljar::outside
