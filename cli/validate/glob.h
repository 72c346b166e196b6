// Glob: one pattern of an ignore file, with git's semantics (gitignore, wildmatch).
//
//   const std::optional<Glob> glob = Glob::Parse("/build/**/*.pyi");
//   if (glob->Matches("build/a/b.pyi", false)) …
//
// Patterns come from the checked tree, so matching must take at most time proportional to pattern ×
// path. (libgit2's matcher takes seconds for one path and a pattern of 40 characters: it tries
// every way to divide a path among several "**".)
#ifndef BELLJAR_CLI_VALIDATE_GLOB_H_
#define BELLJAR_CLI_VALIDATE_GLOB_H_

#include <bitset>
#include <optional>
#include <string_view>
#include <vector>

namespace belljar::cli::validate {

class Glob {
 public:
  // nullopt if it can match nothing: empty, or malformed as in "[a" and "a\". `pattern` has no
  // leading "!", no comment and no trailing blanks.
  static std::optional<Glob> Parse(std::string_view pattern);

  // `path` is relative to the folder of the pattern, with "/" between names. A pattern without "/"
  // is compared with the last name, others with the whole path; one that ends in "/" matches only
  // directories.
  bool Matches(std::string_view path, bool is_directory) const;

 private:
  // Possible values of one byte of a name. Git compares bytes, not characters.
  using Set = std::bitset<256>;
  struct Token {
    bool is_star = false;
    Set set;
  };
  // One name of the path, or "**" for any number of names.
  struct Segment {
    bool is_any_names = false;
    std::vector<Token> tokens;
  };

  class Parser;
  static bool MatchesName(const std::vector<Token>& tokens, std::string_view name);
  bool MatchesNames(const std::vector<std::string_view>& names) const;

  std::vector<Segment> segments_;
  bool for_directories_ = false;
  bool for_last_name_ = false;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_GLOB_H_
