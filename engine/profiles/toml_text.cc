#include "engine/profiles/toml_text.h"

#include <algorithm>

#include "engine/core/text.h"

namespace belljar::profiles {
namespace {

// toml++ limits the nesting of values, but not of dotted keys ("a.b.c…"): it destroys tables
// recursively, and half a million levels overflow the stack.
constexpr size_t kMaxDots = 32;

// Counts dots between names, outside strings and comments.
class DotCounter {
 public:
  explicit DotCounter(std::string_view text) : text_(text) {}

  // The line of a key with too many dots; 0 if there is none.
  size_t FirstDeepLine() {
    size_t line = 1, dots = 0;
    for (; at_ < text_.size(); ++at_) {
      switch (text_[at_]) {
        case '\n': ++line; [[fallthrough]];
        case '=':
        case ',':
        case '[':
        case ']':
        case '{':
        case '}': dots = 0; break;
        case '#': SkipTo('\n'); break;
        case '"':
        case '\'': line += SkipString(); break;
        case '.':
          if (++dots > kMaxDots) return line;
          break;
        default: break;
      }
    }
    return 0;
  }

 private:
  // Leaves `at_` before `end`, which the loop then processes.
  void SkipTo(char end) { at_ = std::min(text_.find(end, at_), text_.size()) - 1; }

  // Leaves `at_` on the last quote; returns the number of newlines in the string.
  size_t SkipString() {
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_long = text_.substr(at_, 3) == triple;
    const size_t begin = at_;
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (!is_long && text_[at_] == '\n') {
        --at_;  // not closed: the parser reports it
        break;
      } else if (is_long ? text_.substr(at_, 3) == triple : text_[at_] == quote) {
        at_ += is_long ? 2 : 0;
        break;
      }
    }
    const std::string_view skipped = text_.substr(begin, at_ - begin);
    return static_cast<size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

core::Result<toml::table> ParseToml(std::string_view text, const std::string& path) {
  const auto wrong = [&](const std::string& place, const std::string& why) {
    return core::MakeError(core::Printable(path) + ":" + place, why);
  };
  if (const size_t line = DotCounter(text).FirstDeepLine()) {
    return wrong(std::to_string(line), "a key of more than " + std::to_string(kMaxDots) + " names");
  }
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    return wrong(std::to_string(at.line) + ":" + std::to_string(at.column),
                 core::Printable(error.description()));
  }
}

}  // namespace belljar::profiles
