#include "cli/repl/typed_line.h"

#include <unistd.h>

#include <cwchar>

#include "cli/console.h"

namespace belljar::cli::repl {
namespace {

using LineEnd = TerminalInput::LineEnd;

constexpr char kCtrlD = 0x04;
constexpr char kBackspace = 0x08;
constexpr char kCtrlU = 0x15;
constexpr char kCtrlW = 0x17;
constexpr char kDelete = 0x7f;
// A longer line is handed over in parts.
constexpr size_t kMaxLine = size_t{64} << 10;  // bytes

class TypedLine {
 public:
  TypedLine(std::string& text, bool is_hidden) : text_(text), is_hidden_(is_hidden) {}

  void Add(char byte) {
    text_ += byte;
    Show({&byte, 1});
  }

  void EraseCharacter() {
    size_t start = text_.size();
    while (start > 0 && (text_[--start] & 0xc0) == 0x80) {
    }
    const int columns = ColumnsFrom(start);
    text_.resize(start);
    for (int column = 0; column < columns; ++column) Show("\b \b");
  }

  void EraseWord() {
    while (text_.ends_with(' ')) EraseCharacter();
    while (!text_.empty() && !text_.ends_with(' ')) EraseCharacter();
  }

  void EraseAll() {
    while (!text_.empty()) EraseCharacter();
  }

 private:
  // The width of the last character, which begins at `start`.
  int ColumnsFrom(size_t start) const {
    wchar_t character = 0;
    std::mbstate_t state{};
    const size_t length = text_.size() - start;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): it has a state of its own
    if (std::mbrtowc(&character, text_.data() + start, length, &state) > length) return 1;
    return wcwidth(character);  // -1: nothing was shown
  }

  void Show(std::string_view shown) const {
    if (!is_hidden_) (void)WriteAll(STDOUT_FILENO, shown);
  }

  std::string& text_;
  const bool is_hidden_;
};

// Whether a key only edits the line.
bool Edit(TypedLine& line, int key) {
  switch (key) {
    case kDelete:
    case kBackspace: line.EraseCharacter(); return true;
    case kCtrlW: line.EraseWord(); return true;
    case kCtrlU: line.EraseAll(); return true;
    default: return false;
  }
}

}  // namespace

LineEnd ReadTypedLine(Keyboard& keyboard, bool is_hidden, core::Deadline deadline,
                      std::string& text) {
  TypedLine line(text, is_hidden);
  while (text.size() < kMaxLine) {
    const int key = keyboard.Next(deadline);
    if (key == Keyboard::kInterrupted) return LineEnd::kInterrupted;
    if (key == Keyboard::kEnd || (key == kCtrlD && text.empty())) return LineEnd::kEnd;
    if (key == Keyboard::kTimedOut) return LineEnd::kTimedOut;
    if (key == '\r' || key == '\n') {
      line.Add('\n');
      return LineEnd::kLine;
    }
    const bool is_text = key >= ' ' || key == '\t';
    if (!Edit(line, key) && is_text) line.Add(static_cast<char>(key));
  }
  return LineEnd::kLine;
}

}  // namespace belljar::cli::repl
