// LineEditor: one line from the terminal, with editing, history and completion: libedit
// (https://www.thrysoee.dk/editline/), which also reads the user's ~/.editrc. A line that is pasted
// or recalled may have line ends in it: it is edited and entered as a whole.
//
// A terminal brackets what is pasted while a line is read (mode 2004), so that its line ends are
// not taken for the Enter key.
//
// While it exists, the terminal turns no keys into signals (keyboard.h).
#ifndef BELLJAR_CLI_REPL_LINE_EDITOR_H_
#define BELLJAR_CLI_REPL_LINE_EDITOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/repl/history_file.h"
#include "cli/repl/keyboard.h"
#include "engine/core/result.h"

namespace belljar::cli::repl {

// How the line could continue: one of `texts` replaces what is between `start`, in bytes, and the
// cursor. They are safe to display and to insert.
struct Completions {
  size_t start = 0;
  std::vector<std::string> texts;
};
// Called with the line up to the cursor.
using Completer = std::function<Completions(std::string_view before)>;

struct EnteredLine {
  enum class Kind { kLine, kInterrupted, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;  // without a line end after it
};

class LineEditor {
 public:
  // `keyboard` must outlive it. Without a history file, entries are only remembered until the end.
  static core::Result<std::unique_ptr<LineEditor>> Open(Keyboard& keyboard,
                                                        std::optional<HistoryFile> history,
                                                        Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  // `prompt` may contain colours (SGR sequences). `indent`: spaces that the line begins with,
  // unless something has been typed already.
  EnteredLine Read(const std::string& prompt, const std::string& indent);

  // For the history: a command, or a cell with all its lines.
  void Remember(std::string_view entry);

 private:
  class Terminal;
  LineEditor();

  std::unique_ptr<Terminal> terminal_;
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_LINE_EDITOR_H_
