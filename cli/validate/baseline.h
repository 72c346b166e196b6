// Baseline: findings that are known and accepted, in a file that people review.
//
//   {
//     "version": 1,
//     "findings": [
//       {"path": "a.py", "rule": "BJ201", "fingerprint": "…", "text": "import os"},
//       …
//     ]
//   }
//
// One finding a line, by path and place, without line numbers: the file changes only where findings
// come or go. `text` is for the reader; path, rule and fingerprint decide.
#ifndef BELLJAR_CLI_VALIDATE_BASELINE_H_
#define BELLJAR_CLI_VALIDATE_BASELINE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cli/validate/report.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

class Baseline {
 public:
  // The error is the user's: what is wrong with the file, and where.
  static core::Result<Baseline> Read(const std::string& file);
  static core::Result<Baseline> Parse(std::string_view text, const std::string& file);

  // Whether the finding is known. `path` is Target::project_path.
  bool Knows(const std::string& path, const ReportedFinding& reported);
  // The file has been judged: what was not asked for in it by now is gone.
  void Judged(const std::string& path);

  // How many entries of the judged files no longer match anything.
  size_t stale() const { return stale_; }

 private:
  // Rule and fingerprint, each once: the n-th of the same kind has a fingerprint of its own.
  using Entries = std::set<std::pair<std::string, std::string>>;
  std::map<std::string, Entries> left_;  // by path: what has not been met yet
  std::map<std::string, Entries> all_;
  size_t stale_ = 0;
};

// Collects what a new baseline will hold.
class BaselineWriter {
 public:
  // In order of place within a file; files in any order.
  void Add(const std::string& path, const ReportedFinding& reported);
  size_t size() const { return count_; }
  std::string Text() const;

 private:
  std::map<std::string, std::vector<std::string>> lines_;  // by path
  size_t count_ = 0;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_BASELINE_H_
