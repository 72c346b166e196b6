#include "cli/repl/saver.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "cli/console.h"
#include "engine/core/text.h"

namespace belljar::cli::repl {
namespace {

constexpr size_t kMaxNamed = 5;

bool IsFigure(const host::Artifact& artifact) {
  return artifact.origin == host::Artifact::Origin::kDisplay &&
         (artifact.media_type.starts_with("image/") || artifact.media_type == "text/html");
}

// New and changed files that remain in the session.
std::string FilesText(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = "belljar: in the session's workspace:";
  for (size_t i = 0; i < names.size() && i < kMaxNamed; ++i) {
    text += (i > 0 ? ", " : " ") + core::Printable(names[i]);
  }
  if (names.size() > kMaxNamed) {
    text += " and " + WithThousands(names.size() - kMaxNamed) + " more";
  }
  return text + "; %get FILE saves one here\n";
}

}  // namespace

Saver::Saver(std::optional<SaveDirectory> directory, bool force)
    : saves_all_(directory.has_value()), force_(force), directory_(std::move(directory)) {}

core::Result<void> Saver::Prepare() {
  if (directory_) return {};
  core::Result<SaveDirectory> here = SaveDirectory::Open(".", force_, "save here");
  if (!here) return here.error();
  directory_ = std::move(*here);
  return {};
}

bool Saver::IsSaved(const host::Artifact& artifact) const {
  return saves_all_ || IsFigure(artifact);
}

std::string Saver::FreeName(const host::Artifact& artifact, uint64_t cell) const {
  const std::string name = "cell-" + std::to_string(cell) + "-" + artifact.name;
  const size_t dot = name.find_first_of('.');
  std::string free = name;
  // The name is taken by an earlier session. If someone else creates the file first, it is kept:
  // nothing is overwritten.
  for (int number = 2; number < 1000 && faccessat(directory_->fd.get(), free.c_str(), F_OK,
                                                  AT_SYMLINK_NOFOLLOW) == 0;
       ++number) {
    free = name;
    free.insert(std::min(dot, name.size()), "-" + std::to_string(number));
  }
  return free;
}

std::optional<core::Error> Saver::SaveOne(host::Artifact& artifact) {
  directory_->force = force_ || saved_.contains(artifact.name);
  std::vector<host::Artifact> one;
  one.push_back(std::move(artifact));
  std::optional<core::Error> error = SaveArtifacts(one, *directory_).front();
  artifact = std::move(one.front());
  if (!error && artifact.content) saved_.insert(artifact.name);
  return error;
}

Saver::Report Saver::Save(host::Outcome& outcome, uint64_t cell) {
  Report report;
  std::vector<std::string> files;
  host::Outcome saved;  // what is listed
  for (host::Artifact& artifact : outcome.artifacts) {
    if (IsSaved(artifact)) {
      saved.artifacts.push_back(std::move(artifact));
    } else if (artifact.origin == host::Artifact::Origin::kFile) {
      files.push_back(artifact.name);
    }
  }
  outcome.artifacts.clear();
  saved.artifacts_note = std::move(outcome.artifacts_note);
  Saved result;
  if (!saved.artifacts.empty()) {
    if (core::Result<void> prepared = Prepare(); !prepared) {
      report.error = prepared.error();
      return report;
    }
    result.directory = directory_->name;
    for (host::Artifact& artifact : saved.artifacts) {
      if (artifact.origin == host::Artifact::Origin::kDisplay) {
        artifact.name = FreeName(artifact, cell);
      }
      result.errors.push_back(SaveOne(artifact));
    }
  }
  if (const core::Error* error = result.first_error()) report.error = *error;
  report.text = FilesText(files) + ArtifactsText(saved, &result);
  return report;
}

core::Result<std::string> Saver::Fetch(const std::string& path, std::string content) {
  if (core::Result<void> prepared = Prepare(); !prepared) return prepared.error();
  host::Artifact artifact;
  artifact.name = path;
  artifact.size = content.size();
  artifact.content = std::move(content);
  if (std::optional<core::Error> error = SaveOne(artifact)) return *error;
  return "saved " + core::Printable(path) + ", " + WithThousands(artifact.size) + " bytes, in " +
         core::Printable(directory_->name);
}

}  // namespace belljar::cli::repl
