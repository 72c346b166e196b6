// HistoryFile: the cells and commands entered. Each is appended as it is entered, so that prompts
// open at the same time keep each other's, and a lost terminal loses none.
//
// The first line of each is a line of the file; the others follow it behind "...: ", with which no
// Python begins. So a file of single lines, as earlier versions wrote it, is read as it is.
#ifndef BELLJAR_CLI_REPL_HISTORY_FILE_H_
#define BELLJAR_CLI_REPL_HISTORY_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::cli::repl {

inline constexpr size_t kMaxHistoryEntries = 2000;

class HistoryFile {
 public:
  // Creates it and its directory, for this user only (0600, 0700). A long file is truncated to its
  // last entries.
  static core::Result<HistoryFile> Open(const std::string& path);

  // Its content when it was opened: at most kMaxHistoryEntries, the last one last.
  const std::vector<std::string>& entries() const { return entries_; }
  // `entry`: its lines, without a line end after the last. Errors are ignored: a full disk is no
  // reason to stop.
  void Append(std::string_view entry);

 private:
  core::UniqueFd fd_;
  std::vector<std::string> entries_;
};

// $XDG_STATE_HOME/belljar/history, or the default below ~/.local/state; of another language than
// Python with "-NAME" at the end. Empty: no home folder.
std::string DefaultHistoryPath(const std::string& language);

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_HISTORY_FILE_H_
