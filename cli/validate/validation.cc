#include "cli/validate/validation.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/colors.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/validate/ignore_comments.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

// Bounded, because the authors of the code can cause any number of notes.
constexpr size_t kMaxNotes = 20;

}  // namespace

Validation::Validation(ValidationOptions options, std::unique_ptr<ReportWriter> writer,
                       Progress& progress)
    : options_(std::move(options)), writer_(std::move(writer)), progress_(progress) {}

int Validation::Take(const Target& target, Judgement judgement) {
  progress_.Step();
  Suppress(target, judgement);
  CheckedFile& checked = judgement.checked;
  Count(checked);
  if (!checked.error.empty()) {
    progress_.Clear();
    Say("belljar validate: " + checked.error + "\n");
  }
  return Print(writer_->Add(checked));
}

void Validation::Suppress(const Target& target, Judgement& judgement) {
  CheckedFile& checked = judgement.checked;
  IgnoreComments comments(judgement.comments);
  const std::string absolute =
      (std::filesystem::path(options_.working_folder) / checked.path).lexically_normal();
  const auto is_suppressed = [&](const ReportedFinding& reported) {
    const host::Finding& finding = reported.finding;
    // All are evaluated, without short-circuiting: each must see the findings that it matches, or
    // its entries would count as stale.
    const bool is_meant = comments.Suppresses(finding);
    const bool is_known =
        options_.baseline && options_.baseline->Knows(target.project_path, reported);
    if (is_meant || !options_.selection.Reports(finding.rule, absolute)) return true;
    if (options_.write_baseline && !IsAboutJudging(finding.rule)) {
      new_baseline_.Add(target.project_path, reported);
      return true;
    }
    return is_known;
  };
  checked.suppressed = std::erase_if(checked.findings, is_suppressed);
  // A truncated list may lack the finding that a comment or an entry refers to.
  const bool was_judged = checked.error.empty() && !checked.findings_cut;
  if (was_judged && options_.baseline) options_.baseline->Judged(target.project_path);
  if (was_judged) {
    for (const std::string& complaint : comments.Complaints()) {
      Note(core::Printable(checked.path) + ":" + complaint);
    }
  }
  // A truncated list has further findings that were not listed, so it is not clean.
  if (checked.exit_code == kExitFindings && checked.findings.empty() && !checked.findings_cut) {
    checked.exit_code = kExitOk;
  }
}

void Validation::Count(const CheckedFile& checked) {
  ++totals_.files;
  totals_.findings += checked.findings.size();
  totals_.suppressed += checked.suppressed;
  if (!checked.findings.empty()) ++totals_.files_with_findings;
  if (!checked.error.empty()) ++totals_.not_checked;
  for (const ReportedFinding& reported : checked.findings) {
    auto& [count, name] = by_rule_[reported.finding.rule];
    ++count;
    name = reported.finding.name;
  }
  // A file that could not be checked takes precedence over findings in other files.
  const auto weight = [](int code) {
    return code == kExitUsage ? 3 : code == kExitStopped ? 2 : code;
  };
  if (weight(checked.exit_code) > weight(totals_.exit_code)) totals_.exit_code = checked.exit_code;
}

int Validation::Print(const std::string& text) {
  if (text.empty()) return kExitOk;
  progress_.Clear();
  if (!options_.output) {
    const bool is_for_a_person =
        options_.format == kTextFormat && UsesColors("auto", STDOUT_FILENO);
    return Answer(is_for_a_person ? ColoredReport(text) : text, kExitOk);
  }
  const core::Result<void> written = options_.output->Write(text);
  return written ? kExitOk : OwnFailure(written.error());
}

void Validation::Note(const std::string& text) {
  if (options_.quiet || ++notes_ > kMaxNotes) return;
  progress_.Clear();
  Say("belljar validate: note: " + text + "\n");
}

int Validation::WriteNewBaseline() {
  if (!options_.write_baseline) return kExitOk;
  core::Result<AtomicFile> file = AtomicFile::Create(*options_.write_baseline);
  if (!file) return UsageError("validate", file.error().ToString());
  core::Result<void> written = file->Write(new_baseline_.Text());
  if (written) written = file->Commit();
  if (!written) return OwnFailure(written.error());
  Note("findings in " + core::Quoted(*options_.write_baseline) + ": " +
       WithThousands(new_baseline_.size()));
  return kExitOk;
}

void Validation::PrintStatistics() const {
  if (!options_.statistics) return;
  std::vector<std::pair<size_t, std::string>> rows;
  for (const auto& [rule, counted] : by_rule_) {
    rows.emplace_back(counted.first, rule + "  " + core::Printable(counted.second));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [count, rule] : rows) {
    const std::string number = WithThousands(count);
    Say(std::string(number.size() < 9 ? 9 - number.size() : 0, ' ') + number + "  " + rule + "\n");
  }
}

int Validation::ExitCode() const {
  const bool forgives = options_.exit_zero && totals_.exit_code == kExitFindings;
  return forgives ? kExitOk : totals_.exit_code;
}

int Validation::Finish() {
  progress_.Clear();
  const bool is_text = options_.format == kTextFormat;
  const std::string rest = writer_->Finish(totals_);
  if (!is_text) {
    if (const int code = Print(rest); code != kExitOk) return code;
  }
  if (options_.output) {
    if (const core::Result<void> done = options_.output->Commit(); !done) {
      return OwnFailure(done.error());
    }
  }
  if (const int code = WriteNewBaseline(); code != kExitOk) return code;
  if (notes_ > kMaxNotes) {
    Say("belljar validate: note: further notes not shown: " + WithThousands(notes_ - kMaxNotes) +
        "\n");
  }
  if (options_.baseline && options_.baseline->stale() > 0 && !options_.quiet) {
    Say("belljar validate: note: stale findings in the baseline: " +
        WithThousands(options_.baseline->stale()) + "; regenerate it with --write-baseline\n");
  }
  PrintStatistics();
  if (is_text && !options_.quiet) Say(rest);  // a summary for the user
  return ExitCode();
}

}  // namespace belljar::cli::validate
