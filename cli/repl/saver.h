// Saver: saves what cells produce as files on this machine.
//
// Figures are saved as "cell-3-figure-1.png": the guest may have chosen the rest of the name, and
// with this prefix no other program would load it. Files under their own names are saved only if
// the user has named a directory for them.
#ifndef BELLJAR_CLI_REPL_SAVER_H_
#define BELLJAR_CLI_REPL_SAVER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cli/run_files.h"
#include "engine/core/result.h"
#include "engine/host/outcome.h"

namespace belljar::cli::repl {

class Saver {
 public:
  // Without a directory, figures are saved in the working directory, which is opened when needed.
  Saver(std::optional<SaveDirectory> directory, bool force);

  struct Report {
    std::string text;                  // for standard error, complete lines
    std::optional<core::Error> error;  // the first one
  };
  // Saves the artifacts of `outcome`, the outcome of cell number `cell`.
  Report Save(host::Outcome& outcome, uint64_t cell);

  // Saves a file of the session. Returns the message for the user.
  core::Result<std::string> Fetch(const std::string& path, std::string content);

 private:
  core::Result<void> Prepare();
  bool IsSaved(const host::Artifact& artifact) const;
  std::string FreeName(const host::Artifact& artifact, uint64_t cell) const;
  std::optional<core::Error> SaveOne(host::Artifact& artifact);

  const bool saves_all_;
  const bool force_;
  std::optional<SaveDirectory> directory_;
  std::set<std::string> saved_;  // saved by us, so that a file that changes is saved again
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_SAVER_H_
