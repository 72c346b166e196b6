#include "cli/validate/check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/sandbox_choice.h"
#include "cli/source_file.h"
#include "cli/validate/fingerprint.h"
#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

// Reads all of a pipe, a FIFO or a device, which may block. EFBIG as in ReadAll.
core::Result<std::string> ReadSlow(int fd, size_t limit, int cancel_fd) {
  std::string content;
  for (;;) {
    // A FIFO without a writer reads as empty; poll waits for a writer.
    pollfd watched[] = {{fd, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) return core::SystemError("read");
    if (watched[1].revents) return core::SystemErrorOf(ECANCELED, "read");
    if (!watched[0].revents) continue;
    char part[64 * 1024];
    const ssize_t got = read(fd, part, std::min(sizeof part, limit + 1 - content.size()));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return core::SystemError("read");
    if (got == 0) return content;
    content.append(part, static_cast<size_t>(got));
    if (content.size() > limit) return core::SystemErrorOf(EFBIG, "read");
  }
}

core::Result<SourceFile> ReadOpen(int fd, const Target& target, core::Bytes bound, int cancel_fd) {
  const std::string what =
      "read " + (target.is_standard_input ? "standard input" : core::Quoted(target.path));
  struct stat status;
  if (fstat(fd, &status) != 0) return core::SystemError(what);
  // Checked before reading: otherwise only read(2) would report "Is a directory".
  if (S_ISDIR(status.st_mode)) return core::SystemErrorOf(EISDIR, what);
  const bool is_plain = S_ISREG(status.st_mode);
  if (target.was_found && !is_plain) return core::MakeError(what, "no longer a regular file");
  core::Result<std::string> bytes =
      is_plain ? core::ReadAll(fd, bound.count) : ReadSlow(fd, bound.count, cancel_fd);
  SourceFile source;
  source.name = target.shown;
  if (bytes) {
    source.bytes = std::move(*bytes);
    source.size = source.bytes.size();
    return source;
  }
  if (bytes.error().error_number != EFBIG)
    return core::SystemErrorOf(bytes.error().error_number, what);
  source.is_too_long = true;
  if (is_plain) source.size = static_cast<uint64_t>(status.st_size);
  return source;
}

core::Result<SourceFile> ReadTarget(const Target& target, core::Bytes bound, int cancel_fd) {
  if (target.is_standard_input) return ReadOpen(STDIN_FILENO, target, bound, cancel_fd);
  const int flags =
      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (target.was_found ? O_NOFOLLOW : 0);
  const core::UniqueFd fd(open(target.path.c_str(), flags));
  if (!fd) return core::SystemError("open " + core::Quoted(target.path));
  return ReadOpen(fd.get(), target, bound, cancel_fd);
}

void TakeOutcome(host::Outcome outcome, const SourceFile& source, const Target& target,
                 Judgement& judgement) {
  CheckedFile& checked = judgement.checked;
  for (host::Finding& finding : outcome.findings) {
    checked.findings.push_back({.finding = std::move(finding), .line_text = "", .fingerprint = ""});
  }
  if (!checked.findings.empty()) {
    AddFingerprints(target.project_path, SourceLines(source.bytes), checked.findings);
  }
  checked.findings_cut = std::find(outcome.truncated.begin(), outcome.truncated.end(),
                                   "findings") != outcome.truncated.end();
  judgement.comments = std::move(outcome.comments);
  if (outcome.analysis) judgement.missing_packages = std::move(outcome.analysis->missing);
  if (outcome.status == host::Status::kOk || outcome.status == host::Status::kRefused) {
    const bool is_refused = outcome.status == host::Status::kRefused || !checked.findings.empty();
    checked.exit_code = is_refused ? kExitFindings : kExitOk;
    return;
  }
  checked.error = "check " + core::Quoted(checked.path) + ": " +
                  (outcome.error ? outcome.error->message : std::string("killed"));
  checked.exit_code = kExitStopped;
}

}  // namespace

core::Result<Judgement> FileChecker::Check(const Target& target) const {
  Judgement judgement;
  CheckedFile& checked = judgement.checked;
  checked.path = target.shown;
  const auto not_checked = [&](std::string error) {
    checked.error = std::move(error);
    checked.exit_code = kExitUsage;
    return judgement;
  };
  if (!target.error.empty()) return not_checked(target.error);
  const core::Bytes bound = sandbox_.profile().maximum_limits.source;
  core::Result<SourceFile> source = ReadTarget(target, bound, options_.cancel_fd);
  if (!source) return not_checked(source.error().ToString());
  if (source->is_too_long) {
    checked.findings = {
        {.finding = TooLongFinding(*source, bound), .line_text = "", .fingerprint = ""}};
    AddFingerprints(target.project_path, SourceLines(""), checked.findings);
    checked.exit_code = kExitFindings;
    return judgement;
  }
  host::Request request;
  request.mode = host::Request::Mode::kValidate;
  request.source = std::move(source->bytes);
  request.filename = source->name;
  request.allowed_imports = options_.allowed_imports;
  request.files = project_.FilesFor(target);
  request.limits = sandbox_.profile().default_limits;
  request.wants_analysis = options_.wants_needs;
  request.wants_comments = options_.wants_comments;
  core::Result<host::Outcome> outcome = sandbox_.Run(request, {.cancel_fd = options_.cancel_fd});
  if (!outcome) return outcome.error();
  NameProfiles(sandbox_.profile().name, *outcome);
  source->bytes = std::move(request.source);
  TakeOutcome(std::move(*outcome), *source, target, judgement);
  return judgement;
}

}  // namespace belljar::cli::validate
