// Saver: files on this machine from what cells produce.
//
// Figures are saved as "cell-3-figure-1.png": the guest may have chosen the rest of a name, and
// with such a beginning it is nothing that another program would load. Everything, under its own
// name, is saved only where the user has named a directory for it.
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
  // Without a directory figures are saved in the working directory, which is opened when needed.
  Saver(std::optional<SaveDirectory> directory, bool force);

  struct Report {
    std::string text;                  // for standard error, complete lines
    std::optional<core::Error> error;  // the first one
  };
  // Takes the artifacts of `outcome`, the cell `cell`.
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
  std::set<std::string> saved_;  // by us, so that a file that changes is saved again
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_SAVER_H_
