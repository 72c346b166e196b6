#include "cli/repl/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "cli/repl/cell_text.h"
#include "engine/core/text.h"

namespace belljar::cli::repl {
namespace {

constexpr char kInvisible = '\1';  // around what takes up no column of a prompt
constexpr std::string_view kBracketed = "\x1b[?2004h";  // mode 2004 of xterm: paste is bracketed
constexpr std::string_view kNotBracketed = "\x1b[?2004l";
constexpr std::string_view kPasteEnd = "\x1b[201~";
// More than any cell may have: the excess is reported as such.
constexpr size_t kMaxPaste = size_t{8} << 20;
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

// A paste as it is inserted: terminals send \r for a line end. Other control characters would only
// be displayed.
std::string PastedText(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (c == '\r') {
      if (at + 1 == bytes.size() || bytes[at + 1] != '\n') text += '\n';
    } else if (c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f')) {
      text += c;
    }
  }
  // Enter ends it.
  if (const size_t end = text.find('\n', text.find_last_not_of(" \t\n") + 1); end != text.npos) {
    text.erase(end);
  }
  return core::ValidUtf8(text);
}

std::string_view LastLineOf(std::string_view text) { return text.substr(text.rfind('\n') + 1); }

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
  EnteredLine Read(const std::string& prompt, const std::string& indent);
  void Remember(std::string_view entry);

 private:
  static Terminal& Of(EditLine* editor);
  static char* Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }
  static int ReadCharacter(EditLine* editor, wchar_t* character);
  static unsigned char Complete(EditLine* editor, int key);
  static unsigned char Paste(EditLine* editor, int key);
  static unsigned char Erase(EditLine* editor, int key);

  int NextCharacter(wchar_t& character);
  std::string BeforeCursor() const;
  unsigned char Insert(const std::string& text);
  unsigned char CompleteHere();
  unsigned char PasteHere();
  unsigned char EraseHere();
  void BindPaste();
  void Bracket(bool is_on);
  void Changed();

  Keyboard& keyboard_;
  std::optional<HistoryFile> file_;
  const Completer completer_;
  termios before_{};
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  std::string last_;  // the last entry of the history
  bool can_bracket_ = false;
  bool is_bracketed_ = false;
  bool is_interrupted_ = false;
};

LineEditor::Terminal::~Terminal() {
  keyboard_.BeforeStop({});
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
  history(history_, &event, H_SETSIZE, static_cast<int>(kMaxHistoryEntries));
  history(history_, &event, H_SETUNIQUE, 1);
  if (file_) {
    for (const std::string& entry : file_->entries()) {
      history(history_, &event, H_ENTER, entry.c_str());
    }
  }
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, ::history, history_);
  el_set(editor_, EL_SIGNAL, 0);
  el_set(editor_, EL_PROMPT_ESC, &Terminal::Prompt, kInvisible);
  el_set(editor_, EL_ADDFN, "belljar-complete", "Complete in the sandbox", &Terminal::Complete);
  el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(editor_, EL_ADDFN, "belljar-paste", "Insert what is pasted", &Terminal::Paste);
  el_set(editor_, EL_ADDFN, "belljar-erase", "Erase a character or an indent", &Terminal::Erase);
  (void)el_source(editor_, nullptr);
  el_set(editor_, EL_BIND, "^I", "belljar-complete", nullptr);
  el_set(editor_, EL_BIND, "^?", "belljar-erase", nullptr);
  el_set(editor_, EL_BIND, "^H", "belljar-erase", nullptr);
  BindPaste();
  el_wset(editor_, EL_GETCFN, &Terminal::ReadCharacter);
  // -d: while a line is edited; -x: between lines.
  el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor_, EL_SETTY, "-x", "-isig", "-icanon", "-echo", nullptr);
  return true;
}

void LineEditor::Terminal::BindPaste() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
  const char* const kind = getenv("TERM");
  const char* keys = nullptr;
  el_get(editor_, EL_EDITOR, &keys);
  // Among vi's keys, Escape is one by itself.
  can_bracket_ =
      kind && kind != std::string_view("dumb") && keys && keys == std::string_view("emacs");
  if (!can_bracket_) return;
  el_set(editor_, EL_BIND, "\\e[200~", "belljar-paste", nullptr);
  keyboard_.BeforeStop([this] { Bracket(false); });
}

LineEditor::Terminal& LineEditor::Terminal::Of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<Terminal*>(data);
}

EnteredLine LineEditor::Terminal::Read(const std::string& prompt, const std::string& indent) {
  prompt_ = Marked(prompt);
  is_interrupted_ = false;
  // What is there already has its own indentation.
  if (!indent.empty() && !keyboard_.HasInput()) el_push(editor_, indent.c_str());
  Bracket(true);
  int count = 0;
  const char* line = el_gets(editor_, &count);
  Bracket(false);
  if (is_interrupted_) return {EnteredLine::Kind::kInterrupted, ""};
  if (!line || count <= 0) return {EnteredLine::Kind::kEnd, ""};
  std::string text(line, static_cast<size_t>(count));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return {EnteredLine::Kind::kLine, std::move(text)};
}

void LineEditor::Terminal::Bracket(bool is_on) {
  if (!can_bracket_ || is_on == is_bracketed_) return;
  is_bracketed_ = is_on;
  // By the stream that libedit writes to.
  const std::string_view sequence = is_on ? kBracketed : kNotBracketed;
  (void)std::fwrite(sequence.data(), 1, sequence.size(), stdout);
  (void)std::fflush(stdout);
}

void LineEditor::Terminal::Remember(std::string_view entry) {
  entry = entry.substr(0, entry.find_last_not_of(" \t\n") + 1);
  if (entry.empty() || entry == last_) return;
  last_ = entry;
  HistEvent event;
  history(history_, &event, H_ENTER, last_.c_str());
  if (file_) file_->Append(last_);
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
  Bracket(true);
  el_set(editor_, EL_REFRESH);
}

unsigned char LineEditor::Terminal::Complete(EditLine* editor, int) {
  return Of(editor).CompleteHere();
}

std::string LineEditor::Terminal::BeforeCursor() const {
  const LineInfo* line = el_line(editor_);
  return {line->buffer, line->cursor};
}

unsigned char LineEditor::Terminal::Insert(const std::string& text) {
  if (text.empty()) return CC_NORM;
  return el_insertstr(editor_, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

unsigned char LineEditor::Terminal::Paste(EditLine* editor, int) { return Of(editor).PasteHere(); }

unsigned char LineEditor::Terminal::PasteHere() {
  std::string pasted;
  while (!pasted.ends_with(kPasteEnd)) {
    const int next = keyboard_.Next();
    if (next == Keyboard::kChanged) {
      Changed();
    } else if (next == Keyboard::kEnd) {
      return CC_EOF;
    } else if (next < 0) {
      is_interrupted_ = true;
      return CC_EOF;
    } else {
      // The end must be found in any case.
      if (pasted.size() >= kMaxPaste + kPasteEnd.size()) pasted.erase(kMaxPaste, 1);
      pasted += static_cast<char>(next);
    }
  }
  pasted.resize(pasted.size() - kPasteEnd.size());
  const std::string text = PastedText(pasted);
  // Text with an indentation of its own replaces ours.
  const std::string all = BeforeCursor();
  const std::string_view before = LastLineOf(all);
  if (text.starts_with(' ') && before.find_first_not_of(' ') == before.npos) {
    el_deletestr(editor_, static_cast<int>(before.size()));
  }
  return Insert(text);
}

unsigned char LineEditor::Terminal::Erase(EditLine* editor, int) { return Of(editor).EraseHere(); }

// In the indentation of a line, back to where an outer block begins.
unsigned char LineEditor::Terminal::EraseHere() {
  const std::string all = BeforeCursor();
  if (all.empty()) return CC_ERROR;
  const std::string_view before = LastLineOf(all);
  const bool is_indent = !before.empty() && before.find_first_not_of(' ') == before.npos;
  el_deletestr(editor_, is_indent ? static_cast<int>((before.size() - 1) % kIndentWidth) + 1 : 1);
  return CC_REFRESH;
}

unsigned char LineEditor::Terminal::CompleteHere() {
  const std::string before = BeforeCursor();
  if (LastLineOf(before).find_first_not_of(' ') == before.npos) {
    return Insert(std::string(kIndentWidth, ' '));
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

EnteredLine LineEditor::Read(const std::string& prompt, const std::string& indent) {
  return terminal_->Read(prompt, indent);
}

void LineEditor::Remember(std::string_view entry) { terminal_->Remember(entry); }

}  // namespace belljar::cli::repl
