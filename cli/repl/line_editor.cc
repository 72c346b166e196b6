#include "cli/repl/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>

#include "engine/core/text.h"

namespace belljar::cli::repl {
namespace {

constexpr char kInvisible = '\1';  // around what takes up no column of a prompt
constexpr size_t kIndent = 4;
constexpr size_t kGap = 2;  // between columns

size_t CodePoints(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// libedit counts columns according to the locale. Terminals use UTF-8, even in a shell without a
// locale.
void UseUtf8() {
  if (setlocale(LC_CTYPE, "") && nl_langinfo(CODESET) == std::string_view("UTF-8")) return;
  (void)setlocale(LC_CTYPE, "C.UTF-8");
}

// Marks colours as taking no column.
std::string Marked(const std::string& prompt) {
  std::string marked;
  for (size_t at = 0; at < prompt.size();) {
    const size_t end = prompt[at] == '\x1b' ? prompt.find('m', at) : prompt.npos;
    if (end == prompt.npos) {
      marked += prompt[at++];
      continue;
    }
    marked += kInvisible + prompt.substr(at, end + 1 - at) + kInvisible;
    at = end + 1;
  }
  return marked;
}

std::string CommonPrefix(const std::vector<std::string>& texts) {
  std::string_view common = texts.front();
  for (const std::string& text : texts) {
    const auto [differs, _] = std::ranges::mismatch(common, text);
    common = common.substr(0, static_cast<size_t>(differs - common.begin()));
  }
  return std::string(common.substr(0, core::CompletePrefix(common)));
}

std::string InColumns(const std::vector<std::string>& texts) {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  size_t widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, CodePoints(text));
  const size_t columns = std::max<size_t>((known ? size.ws_col : 80) / (widest + kGap), 1);
  const size_t rows = (texts.size() + columns - 1) / columns;
  std::string shown;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t at = row; at < texts.size(); at += rows) {
      shown += texts[at];
      if (at + rows < texts.size()) {
        shown += std::string(widest + kGap - CodePoints(texts[at]), ' ');
      }
    }
    shown += '\n';
  }
  return shown;
}

// The number of bytes of the character that begins with `lead`; 0: not a first byte.
size_t LengthAfter(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

}  // namespace

class LineEditor::Terminal {
 public:
  Terminal(Keyboard& keyboard, std::optional<HistoryFile> history, Completer completer)
      : keyboard_(keyboard), file_(std::move(history)), completer_(std::move(completer)) {}
  ~Terminal();

  bool Start();
  EnteredLine Read(const std::string& prompt);

 private:
  static Terminal& Of(EditLine* editor);
  static char* Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }
  static int ReadCharacter(EditLine* editor, wchar_t* character);
  static unsigned char Complete(EditLine* editor, int key);

  int NextCharacter(wchar_t& character);
  unsigned char CompleteHere();
  void Changed();
  void Remember(const std::string& line);

  Keyboard& keyboard_;
  std::optional<HistoryFile> file_;
  const Completer completer_;
  termios before_{};
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  std::string last_;  // the last line added to the history
  bool is_interrupted_ = false;
};

LineEditor::Terminal::~Terminal() {
  if (history_) history_end(history_);
  if (!editor_) return;
  el_end(editor_);
  (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

bool LineEditor::Terminal::Start() {
  UseUtf8();
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return false;
  history_ = history_init();
  editor_ = el_init("belljar", stdin, stdout, stderr);
  if (!history_ || !editor_) return false;
  HistEvent event;
  history(history_, &event, H_SETSIZE, static_cast<int>(kMaxHistoryLines));
  history(history_, &event, H_SETUNIQUE, 1);
  if (file_) {
    for (const std::string& line : file_->lines()) history(history_, &event, H_ENTER, line.c_str());
  }
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, ::history, history_);
  el_set(editor_, EL_SIGNAL, 0);
  el_set(editor_, EL_PROMPT_ESC, &Terminal::Prompt, kInvisible);
  el_set(editor_, EL_ADDFN, "belljar-complete", "Complete in the sandbox", &Terminal::Complete);
  el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  (void)el_source(editor_, nullptr);
  el_set(editor_, EL_BIND, "^I", "belljar-complete", nullptr);
  el_wset(editor_, EL_GETCFN, &Terminal::ReadCharacter);
  // -d: while a line is edited; -x: between lines.
  el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor_, EL_SETTY, "-x", "-isig", "-icanon", "-echo", nullptr);
  return true;
}

LineEditor::Terminal& LineEditor::Terminal::Of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<Terminal*>(data);
}

EnteredLine LineEditor::Terminal::Read(const std::string& prompt) {
  prompt_ = Marked(prompt);
  is_interrupted_ = false;
  int count = 0;
  const char* line = el_gets(editor_, &count);
  if (is_interrupted_) return {EnteredLine::Kind::kInterrupted, ""};
  if (!line || count <= 0) return {EnteredLine::Kind::kEnd, ""};
  std::string text(line, static_cast<size_t>(count));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  Remember(text);
  return {EnteredLine::Kind::kLine, std::move(text)};
}

void LineEditor::Terminal::Remember(const std::string& line) {
  if (line.find_first_not_of(" \t") == line.npos || line == last_) return;
  last_ = line;
  HistEvent event;
  history(history_, &event, H_ENTER, line.c_str());
  if (file_) file_->Append(line);
}

int LineEditor::Terminal::ReadCharacter(EditLine* editor, wchar_t* character) {
  return Of(editor).NextCharacter(*character);
}

// 1: a character; 0: the end; -1: interrupted.
int LineEditor::Terminal::NextCharacter(wchar_t& character) {
  std::string bytes;
  for (size_t wanted = 1; bytes.size() < wanted;) {
    const int next = keyboard_.Next();
    if (next == Keyboard::kChanged) {
      Changed();
      continue;
    }
    if (next == Keyboard::kEnd) return 0;
    if (next < 0) {
      is_interrupted_ = true;
      return -1;
    }
    if (bytes.empty()) wanted = LengthAfter(static_cast<unsigned char>(next));
    if (wanted == 0) {
      wanted = 1;  // not UTF-8
      continue;
    }
    bytes += static_cast<char>(next);
    if (bytes.size() == wanted && core::SequenceLength(bytes) != wanted) bytes.clear(), wanted = 1;
  }
  std::mbstate_t state{};
  if (std::mbrtowc(&character, bytes.data(), bytes.size(), &state) > bytes.size()) character = L'?';
  return 1;
}

// The terminal may have been resized, and after a stop it may be in any mode.
void LineEditor::Terminal::Changed() {
  el_resize(editor_);
  el_set(editor_, EL_PREP_TERM, 0);
  el_set(editor_, EL_PREP_TERM, 1);
  el_set(editor_, EL_REFRESH);
}

unsigned char LineEditor::Terminal::Complete(EditLine* editor, int) {
  return Of(editor).CompleteHere();
}

unsigned char LineEditor::Terminal::CompleteHere() {
  const LineInfo* line = el_line(editor_);
  const std::string before(line->buffer, line->cursor);
  if (before.find_first_not_of(' ') == before.npos) {
    return el_insertstr(editor_, std::string(kIndent, ' ').c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  const Completions found = completer_(before);
  if (found.texts.empty() || found.start > before.size()) return CC_REFRESH_BEEP;
  const std::string typed = before.substr(found.start);
  const std::string common = CommonPrefix(found.texts);
  if (common != typed && common.size() >= typed.size()) {
    el_deletestr(editor_, static_cast<int>(CodePoints(typed)));
    if (el_insertstr(editor_, common.c_str()) != 0) return CC_ERROR;
    return CC_REFRESH;
  }
  if (found.texts.size() == 1) return CC_REFRESH_BEEP;
  std::fputs(("\n" + InColumns(found.texts)).c_str(), stdout);
  std::fflush(stdout);
  return CC_REDISPLAY;
}

LineEditor::LineEditor() = default;
LineEditor::~LineEditor() = default;

core::Result<std::unique_ptr<LineEditor>> LineEditor::Open(Keyboard& keyboard,
                                                           std::optional<HistoryFile> history,
                                                           Completer completer) {
  std::unique_ptr<LineEditor> editor(new LineEditor());
  editor->terminal_ =
      std::make_unique<Terminal>(keyboard, std::move(history), std::move(completer));
  if (!editor->terminal_->Start()) return core::SystemError("prepare the terminal");
  return editor;
}

EnteredLine LineEditor::Read(const std::string& prompt) { return terminal_->Read(prompt); }

}  // namespace belljar::cli::repl
