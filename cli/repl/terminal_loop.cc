#include <signal.h>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/repl/cell.h"
#include "cli/repl/cell_text.h"
#include "cli/repl/commands.h"
#include "cli/repl/keyboard.h"
#include "cli/repl/line_editor.h"
#include "cli/repl/loop.h"
#include "cli/repl/questions.h"
#include "cli/repl/typed_line.h"
#include "cli/terminal_input.h"
#include "engine/core/text.h"

namespace belljar::cli::repl {
namespace {

// The ways to leave Python's own prompt.
bool IsFarewell(std::string_view line) {
  return line == "exit" || line == "quit" || line == "exit()" || line == "quit()";
}

class TerminalLoop {
 public:
  TerminalLoop(Live& live, Keyboard& keyboard)
      : live_(live),
        keyboard_(keyboard),
        cell_(live.request.limits.source, SyntaxOf(live.language())),
        input_(live.input_timeout,
               [this](bool is_hidden, core::Deadline deadline, std::string& line) {
                 return ReadTypedLine(keyboard_, is_hidden, deadline, line);
               }) {
    // A cell in another language has no input.
    if (live.program()) return;
    live_.ask = [this](const run::InputQuestion& question) { return Ask(question); };
  }

  core::Result<int> Run(std::optional<HistoryFile> history);

 private:
  std::string Prompt();
  Completions Complete(std::string_view before);
  std::optional<int> Take(EnteredLine line);
  std::optional<int> TakeLine(const std::string& line);
  std::optional<int> EnsureOpen();
  std::optional<int> CarryOut(const std::string& line);
  std::optional<int> CarryOutLines(const std::string& text);
  void AddToCell(std::string_view line);
  void Remember();
  bool BeginCell(const std::string& line, CommandEnd& end);
  void RunTheCell();
  std::optional<int> EndOf(int signal);
  run::InputAnswer Ask(const run::InputQuestion& question);

  Live& live_;
  Keyboard& keyboard_;
  LineEditor* editor_ = nullptr;
  CellText cell_;
  std::string entered_;  // the lines of `cell_` as they were entered
  bool is_timed_ = false;
  std::optional<Keyboard::Watch> watch_;  // while a line is carried out
  TerminalInput input_;
};

// What is typed is for the cell. In the meantime nothing else reads it.
run::InputAnswer TerminalLoop::Ask(const run::InputQuestion& question) {
  watch_.reset();
  run::InputAnswer answer = input_.Ask(question);
  watch_.emplace(keyboard_);
  return answer;
}

std::string TerminalLoop::Prompt() {
  const Branch& branch = live_.branches.current();
  std::string name = "In [" + std::to_string(branch.cells + 1) + "]";
  if (branch.name != kFirstBranch) name += " " + branch.name;
  name += ":";
  if (!cell_.is_empty()) name = std::string(name.size() - 4, ' ') + "...:";
  // libedit drops what takes no column at the end of a prompt: the colour would never end.
  return live_.printer.In(name, Color::kGreen) + " ";
}

Completions TerminalLoop::Complete(std::string_view before) {
  if (!live_.branches.EnsureOpen(live_.interruption.fd())) return {};
  if (!cell_.is_empty()) return CompleteCode(live_, cell_.source(), before);
  constexpr std::string_view kTimed = "%time ";
  size_t skipped = 0;
  if (before.starts_with(kTimed)) {
    skipped = kTimed.size();
  } else if (before.starts_with('%')) {
    return CompleteCommand(live_, before);
  } else if (before.starts_with('?')) {
    skipped = 1;
  }
  Completions completions = CompleteCode(live_, "", before.substr(skipped));
  completions.start += skipped;
  return completions;
}

void TerminalLoop::AddToCell(std::string_view line) {
  cell_.Add(line);
  entered_ += '\n';
  entered_ += line;
}

// What was entered is recalled as a whole.
void TerminalLoop::Remember() { editor_->Remember(std::exchange(entered_, {})); }

void TerminalLoop::RunTheCell() {
  Remember();
  (void)RunCell(live_, cell_, is_timed_);
  cell_.Clear();
}

// The exit code, if there is no session.
std::optional<int> TerminalLoop::EnsureOpen() {
  const core::Result<void> opened = live_.branches.EnsureOpen(live_.interruption.fd());
  if (opened) return std::nullopt;
  if (const int signal = live_.interruption.signal(); signal != 0) return ExitOfSignal(signal);
  return OwnFailure(opened.error());
}

// Whether the line begins a cell; otherwise it was a command.
bool TerminalLoop::BeginCell(const std::string& line, CommandEnd& end) {
  const std::optional<CellStart> start = StartOfCell(live_, line);
  is_timed_ = start && start->is_timed;
  entered_ = line;
  if (start) {
    repl::BeginCell(*start, cell_);
  } else if (IsCommand(line)) {
    Remember();
    end = RunCommand(live_, line);
    return false;
  } else {
    cell_.Add(line);
  }
  return true;
}

// The exit code, if the prompt ends here.
std::optional<int> TerminalLoop::TakeLine(const std::string& line) {
  watch_.emplace(keyboard_);
  std::optional<int> end;
  if (watch_->error()) {
    live_.printer.Failure(*watch_->error());
  } else {
    end = line.find('\n') == line.npos ? CarryOut(line) : CarryOutLines(line);
  }
  watch_.reset();
  return end;
}

std::optional<int> TerminalLoop::CarryOut(const std::string& line) {
  if (cell_.is_empty()) {
    if (IsBlank(line)) return std::nullopt;
    if (IsFarewell(line)) {
      editor_->Remember(line);
      return kExitOk;
    }
    if (const std::optional<int> end = EnsureOpen()) return end;
    CommandEnd end;
    if (!BeginCell(line, end)) return end.quits ? std::optional(kExitOk) : std::nullopt;
  } else if (IsBlank(line) && cell_.state() == CellText::State::kBlock) {
    RunTheCell();
    return std::nullopt;
  } else {
    AddToCell(line);
  }
  if (cell_.state() == CellText::State::kComplete) RunTheCell();
  return std::nullopt;
}

// What was pasted or recalled: one cell, whatever is in it, or the next lines of one. Lines that
// begin with a command are carried out one by one.
std::optional<int> TerminalLoop::CarryOutLines(const std::string& text) {
  const std::vector<std::string_view> lines = core::SplitAt(text, '\n');
  const bool is_whole = cell_.is_empty();
  size_t next = 0;
  while (cell_.is_empty() && next < lines.size()) {
    const std::string line(lines[next++]);
    if (IsBlank(line)) continue;
    if (const std::optional<int> end = EnsureOpen()) return end;
    CommandEnd end;
    if (!BeginCell(line, end) && end.quits) return kExitOk;
  }
  for (; next < lines.size(); ++next) AddToCell(lines[next]);
  // A block that it began is complete.
  const bool is_over =
      cell_.state() == CellText::State::kComplete ||
      (is_whole && cell_.state() == CellText::State::kBlock && !cell_.needs_body());
  if (!cell_.is_empty() && is_over) RunTheCell();
  return std::nullopt;
}

std::optional<int> TerminalLoop::EndOf(int signal) {
  live_.interruption.Clear();
  if (signal != 0 && signal != SIGINT) return ExitOfSignal(signal);
  return std::nullopt;
}

std::optional<int> TerminalLoop::Take(EnteredLine line) {
  switch (line.kind) {
    case EnteredLine::Kind::kLine: {
      const std::optional<int> end = TakeLine(line.text);
      if (end) return end;
      break;
    }
    case EnteredLine::Kind::kInterrupted:
      live_.printer.Answer(live_.interruption.signal() == SIGTERM ? "\n" : "^C\n");
      Remember();
      cell_.Clear();
      break;
    case EnteredLine::Kind::kEnd:
      live_.printer.Answer("\n");
      if (cell_.is_empty()) return kExitOk;
      cell_.Clear();
      break;
  }
  if (live_.printer.error()) return ExitAfterOutput(*live_.printer.error(), kExitOk);
  return EndOf(live_.interruption.signal());
}

core::Result<int> TerminalLoop::Run(std::optional<HistoryFile> history) {
  core::Result<std::unique_ptr<LineEditor>> editor = LineEditor::Open(
      keyboard_, std::move(history), [this](std::string_view before) { return Complete(before); });
  if (!editor) return editor.error();
  editor_ = editor->get();
  for (;;) {
    if (const std::optional<int> end = Take(editor_->Read(Prompt(), cell_.NextIndent())))
      return *end;
  }
}

}  // namespace

int RunAtTerminal(Live& live, std::optional<HistoryFile> history) {
  Keyboard keyboard(live.interruption);
  core::Result<int> end = TerminalLoop(live, keyboard).Run(std::move(history));
  return end ? *end : OwnFailure(end.error());
}

}  // namespace belljar::cli::repl
