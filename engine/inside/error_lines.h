// Reads what an interpreter or a compiler wrote about an error, by the patterns of its language.
#ifndef BELLJAR_ENGINE_INSIDE_ERROR_LINES_H_
#define BELLJAR_ENGINE_INSIDE_ERROR_LINES_H_

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/profile.h"
#include "engine/core/program_messages.h"
#include "engine/core/result.h"

namespace belljar::inside {

// One pattern.
class ErrorLine {
 public:
  // An error names the pattern and what is wrong with it.
  static core::Result<ErrorLine> Compile(const core::ErrorPattern& pattern);

  // Whether the last of several matching lines counts, instead of the first.
  bool last() const { return last_; }

  // Fills in what `error` lacks. A line of another file than `file`, the program's, counts only if
  // there is no group "file".
  bool Read(const std::string& line, std::string_view file, core::ProgramError& error) const;

 private:
  struct Free {
    void operator()(regex_t* regex) const {
      regfree(regex);
      delete regex;
    }
  };
  std::unique_ptr<regex_t, Free> regex_;
  std::vector<std::string> groups_;
  bool last_ = false;
};

// What the program's error output says: each pattern at the first line that matches it, or at the
// last one.
core::ProgramError ReadErrorLines(const std::vector<ErrorLine>& patterns, std::string_view text,
                                  std::string_view file);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_ERROR_LINES_H_
