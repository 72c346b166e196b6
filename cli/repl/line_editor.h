// LineEditor: one line from the terminal, with editing, history and completion: libedit
// (https://www.thrysoee.dk/editline/), which also reads the user's ~/.editrc.
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
  std::string text;  // without a line end
};

class LineEditor {
 public:
  // `keyboard` must outlive it. Without a history file, lines are only remembered until the end.
  static core::Result<std::unique_ptr<LineEditor>> Open(Keyboard& keyboard,
                                                        std::optional<HistoryFile> history,
                                                        Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;

  // `prompt` may contain colours (SGR sequences).
  EnteredLine Read(const std::string& prompt);

 private:
  class Terminal;
  LineEditor();

  std::unique_ptr<Terminal> terminal_;
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_LINE_EDITOR_H_
