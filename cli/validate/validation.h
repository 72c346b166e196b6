// Validation: one run of `belljar validate`, from the results per file to the report and the exit
// code.
#ifndef BELLJAR_CLI_VALIDATE_VALIDATION_H_
#define BELLJAR_CLI_VALIDATE_VALIDATION_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/validate/atomic_file.h"
#include "cli/validate/baseline.h"
#include "cli/validate/check.h"
#include "cli/validate/formats.h"
#include "cli/validate/progress.h"
#include "cli/validate/rule_selection.h"

namespace belljar::cli::validate {

struct ValidationOptions {
  RuleSelection selection;
  std::optional<Baseline> baseline;
  std::optional<std::string> write_baseline;
  std::optional<AtomicFile> output;  // nullopt: standard output
  std::string format;
  std::string working_folder;
  bool quiet = false;
  bool statistics = false;
  bool exit_zero = false;
};

class Validation {
 public:
  Validation(ValidationOptions options, std::unique_ptr<ReportWriter> writer, Progress& progress);

  // Adds the next file, in the order of the report. Returns an exit code to end with at once, or
  // kExitOk.
  int Take(const Target& target, Judgement judgement);
  // Call it after the last file; returns the exit code.
  int Finish();

 private:
  void Suppress(const Target& target, Judgement& judgement);
  void Count(const CheckedFile& checked);
  int Print(const std::string& text);
  int WriteNewBaseline();
  int ExitCode() const;
  void PrintStatistics() const;
  void Note(const std::string& text);

  ValidationOptions options_;
  const std::unique_ptr<ReportWriter> writer_;
  Progress& progress_;
  BaselineWriter new_baseline_;
  Totals totals_;
  std::map<std::string, std::pair<size_t, std::string>> by_rule_;  // id -> findings, name
  size_t notes_ = 0;
};

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_VALIDATION_H_
