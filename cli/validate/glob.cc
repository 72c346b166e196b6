#include "cli/validate/glob.h"

#include <cctype>

namespace belljar::cli::validate {

// --- parsing ----------------------------------------------------------------------

class Glob::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // False: the pattern is malformed.
  bool Read(std::vector<Segment>& segments) {
    Segment segment;
    size_t stars = 0;  // number of leading stars in the segment; npos: it has other characters
    const auto end_segment = [&] {
      segment.is_any_names = stars != std::string_view::npos && stars >= 2;
      segments.push_back(std::move(segment));
      segment = {};
      stars = 0;
    };
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '/') {
        end_segment();
        continue;
      }
      if (c == '*') {
        if (stars != std::string_view::npos) ++stars;
        // "a**b" is "a*b".
        if (segment.tokens.empty() || !segment.tokens.back().is_star) {
          segment.tokens.push_back({.is_star = true, .set = {}});
        }
        continue;
      }
      stars = std::string_view::npos;
      Token token;
      if (!ReadOne(token.set)) return false;
      segment.tokens.push_back(token);
    }
    end_segment();
    return true;
  }

 private:
  static constexpr int kNothing = -1;

  static void Add(Set& set, char c) { set.set(static_cast<unsigned char>(c)); }

  // The set for one byte. Leaves `at_` at its last character.
  bool ReadOne(Set& set) {
    switch (text_[at_]) {
      case '?': set.set(); return true;
      case '[': return ReadBrackets(set);
      case '\\':
        if (++at_ == text_.size()) return false;
        break;
      default: break;
    }
    Add(set, text_[at_]);
    return true;
  }

  // "[a-z]", "[!a-z]", "[^a-z]", "[[:digit:]]"; a leading "]" is literal.
  bool ReadBrackets(Set& set) {
    ++at_;
    const bool negated = at_ < text_.size() && (text_[at_] == '!' || text_[at_] == '^');
    if (negated) ++at_;
    int before = kNothing;  // start of a range if "-" follows
    for (bool first = true; first || Current() != ']'; first = false, ++at_) {
      if (!ReadMember(set, before)) return false;
      if (at_ + 1 >= text_.size()) return false;  // no closing "]"
    }
    if (negated) set.flip();
    return true;
  }

  char Current() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char Next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  // One character, range or class. `before`: the previous character, if it may begin a range.
  bool ReadMember(Set& set, int& before) {
    if (at_ >= text_.size()) return false;
    if (Current() == '-' && before != kNothing && Next() != '\0' && Next() != ']') {
      ++at_;
      if (Current() == '\\' && ++at_ == text_.size()) return false;
      for (int c = before; c <= static_cast<unsigned char>(Current()); ++c) {
        set.set(static_cast<size_t>(c));
      }
      before = kNothing;
      return true;
    }
    if (Current() == '[' && Next() == ':') {
      if (const std::optional<bool> read = ReadClass(set)) {
        before = kNothing;
        return *read;
      }
    }
    if (Current() == '\\' && ++at_ == text_.size()) return false;
    Add(set, Current());
    before = static_cast<unsigned char>(Current());
    return true;
  }

  // "[:digit:]"; nullopt: not a class. False: unknown class.
  std::optional<bool> ReadClass(Set& set) {
    const size_t end = text_.find(']', at_ + 2);
    if (end == std::string_view::npos) return false;
    if (end < at_ + 3 || text_[end - 1] != ':') return std::nullopt;
    const std::string_view name = text_.substr(at_ + 2, end - at_ - 3);
    static constexpr struct {
      std::string_view name;
      int (*holds)(int);
    } kClasses[] = {{"alnum", std::isalnum}, {"alpha", std::isalpha}, {"blank", std::isblank},
                    {"cntrl", std::iscntrl}, {"digit", std::isdigit}, {"graph", std::isgraph},
                    {"lower", std::islower}, {"print", std::isprint}, {"punct", std::ispunct},
                    {"space", std::isspace}, {"upper", std::isupper}, {"xdigit", std::isxdigit}};
    for (const auto& one : kClasses) {
      if (one.name != name) continue;
      // In the C locale, since nothing calls setlocale.
      for (int c = 0; c < 128; ++c) {
        if (one.holds(c)) set.set(static_cast<size_t>(c));
      }
      at_ = end;
      return true;
    }
    return false;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

std::optional<Glob> Glob::Parse(std::string_view pattern) {
  Glob glob;
  if (pattern.ends_with('/')) {
    glob.for_directories_ = true;
    pattern.remove_suffix(1);
  }
  glob.for_last_name_ = pattern.find('/') == std::string_view::npos;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  if (pattern.empty()) return std::nullopt;
  if (!Parser(pattern).Read(glob.segments_)) return std::nullopt;
  return glob;
}

// --- matching -----------------------------------------------------------------------------------
// Both loops use the same algorithm: only the last star needs backtracking, since it can match
// whatever an earlier one could.

bool Glob::MatchesName(const std::vector<Token>& tokens, std::string_view name) {
  size_t token = 0, at = 0;
  size_t star = tokens.size(), star_at = 0;
  while (at < name.size()) {
    if (token < tokens.size() && tokens[token].is_star) {
      star = token++;
      star_at = at;
    } else if (token < tokens.size() && tokens[token].set[static_cast<unsigned char>(name[at])]) {
      ++token;
      ++at;
    } else if (star < tokens.size()) {
      token = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (token < tokens.size() && tokens[token].is_star) ++token;
  return token == tokens.size();
}

bool Glob::MatchesNames(const std::vector<std::string_view>& names) const {
  size_t segment = 0, at = 0;
  size_t any = segments_.size(), any_at = 0;
  while (at < names.size()) {
    if (segment < segments_.size() && segments_[segment].is_any_names) {
      any = segment++;
      any_at = at;
      // At the end, "**" matches what is below a directory, but not the directory itself.
      if (segment == segments_.size()) return true;
    } else if (segment < segments_.size() && MatchesName(segments_[segment].tokens, names[at])) {
      ++segment;
      ++at;
    } else if (any < segments_.size()) {
      segment = any + 1;
      at = ++any_at;
    } else {
      return false;
    }
  }
  return segment == segments_.size();
}

bool Glob::Matches(std::string_view path, bool is_directory) const {
  if (for_directories_ && !is_directory) return false;
  if (for_last_name_) {
    return segments_[0].is_any_names ||
           MatchesName(segments_[0].tokens, path.substr(path.rfind('/') + 1));
  }
  std::vector<std::string_view> names;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    names.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return MatchesNames(names);
}

}  // namespace belljar::cli::validate
