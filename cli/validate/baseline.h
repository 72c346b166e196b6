// Baseline: known and accepted findings, in a file meant for review.
//
//   {
//     "version": 1,
//     "findings": [
//       {"path": "a.py", "rule": "BJ201", "fingerprint": "…", "text": "import os"},
//       …
//     ]
//   }
//
// One finding per line, sorted by path and position, without line numbers: the file changes only
// where findings appear or disappear. `text` is informational; findings are matched by path, rule
// and fingerprint.
#ifndef BELLJAR_CLI_VALIDATE_BASELINE_H_
#define BELLJAR_CLI_VALIDATE_BASELINE_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/validate/report.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

class Baseline {
 public:
  // A user error: what is wrong with the file, and where.
  static core::Result<Baseline> Read(const std::string& file);
  static core::Result<Baseline> Parse(std::string_view text, const std::string& file);

  // Whether the finding is known. `path` is Target::project_path.
  bool Knows(const std::string& path, const ReportedFinding& reported);
  // The file has been checked: its entries that have not matched by now are stale.
  void Judged(const std::string& path);

  // Number of entries of checked files that no longer match anything.
  size_t stale() const { return stale_; }

 private:
  // Rule and fingerprint; unique, since repeated findings have different fingerprints.
  using Entries = std::set<std::pair<std::string, std::string>>;
  std::map<std::string, Entries> left_;  // by path: not matched yet
  std::map<std::string, Entries> all_;
  size_t stale_ = 0;
};

// Collects the findings for a new baseline.
class BaselineWriter {
 public:
  // In order of position within a file; files in any order.
  void Add(const std::string& path, const ReportedFinding& reported);
  size_t size() const { return count_; }
  std::string Text() const;

 private:
  std::map<std::string, std::vector<std::string>> lines_;  // by path
  size_t count_ = 0;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_BASELINE_H_
