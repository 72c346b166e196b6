// HistoryFile: the lines entered, one per line. Each is appended as it is entered, so that prompts
// open at the same time keep each other's lines, and a lost terminal loses none.
#ifndef BELLJAR_CLI_REPL_HISTORY_FILE_H_
#define BELLJAR_CLI_REPL_HISTORY_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::cli::repl {

inline constexpr size_t kMaxHistoryLines = 2000;

class HistoryFile {
 public:
  // Creates it and its directory, for this user only (0600, 0700). A long file is truncated to its
  // last lines.
  static core::Result<HistoryFile> Open(const std::string& path);

  // Its content when it was opened: at most kMaxHistoryLines, the last one last.
  const std::vector<std::string>& lines() const { return lines_; }
  // Errors are ignored: a full disk is no reason to stop.
  void Append(std::string_view line);

 private:
  core::UniqueFd fd_;
  std::vector<std::string> lines_;
};

// $XDG_STATE_HOME/belljar/history, or the default below ~/.local/state; empty: no home folder.
std::string DefaultHistoryPath();

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_HISTORY_FILE_H_
