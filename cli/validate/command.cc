#include "cli/validate/command.h"

#include <unistd.h>

#include <algorithm>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/sandbox_choice.h"
#include "cli/source_file.h"
#include "cli/validate/formats.h"
#include "engine/core/text.h"
#include "engine/outside/sandbox.h"

namespace belljar {
namespace {

using validate::CheckedFile;
using validate::ReportedFinding;
using validate::Totals;

struct Arguments {
  std::vector<std::string> files;
  SandboxChoice sandbox;
  std::string format = validate::kTextFormat;
};

std::vector<ReportedFinding> Reported(std::vector<Finding> findings) {
  std::vector<ReportedFinding> reported;
  for (Finding& finding : findings) {
    reported.push_back({.finding = std::move(finding), .line_text = "", .fingerprint = ""});
  }
  return reported;
}

// An error is our own failure, which the next file would meet again.
Result<CheckedFile> Check(const std::string& path, Sandbox& sandbox) {
  CheckedFile checked;
  checked.path = path == "-" ? "<stdin>" : path;
  const Bytes bound = sandbox.profile().maximum_limits.source;
  Result<SourceFile> source = ReadSourceFile(path, bound);
  if (!source) {
    checked.error = source.error().ToString();
    checked.exit_code = kExitUsage;
    return checked;
  }
  if (source->is_too_long) {
    checked.findings = Reported({TooLongFinding(*source, bound)});
    checked.exit_code = kExitFindings;
    return checked;
  }
  Request request;
  request.mode = Request::Mode::kValidate;
  request.source = std::move(source->bytes);
  request.filename = source->name;
  request.limits = sandbox.profile().default_limits;
  Result<Outcome> outcome = sandbox.Run(request);
  if (!outcome) return outcome.error();
  checked.findings = Reported(std::move(outcome->findings));
  checked.findings_cut = std::find(outcome->truncated.begin(), outcome->truncated.end(),
                                   "findings") != outcome->truncated.end();
  const bool judged = outcome->status == Status::kOk || outcome->status == Status::kRefused;
  if (!judged) {
    checked.error = "check " + Quoted(path) + ": " +
                    (outcome->error ? outcome->error->message : std::string("killed"));
    checked.exit_code = kExitStopped;
  } else if (!checked.findings.empty() || outcome->status == Status::kRefused) {
    checked.exit_code = kExitFindings;
  }
  return checked;
}

void Count(const CheckedFile& checked, Totals& totals) {
  ++totals.files;
  totals.findings += checked.findings.size();
  if (!checked.findings.empty()) ++totals.files_with_findings;
  if (!checked.error.empty()) ++totals.not_checked;
  // A file that was never looked at weighs more than what was found in the others.
  const auto weight = [](int code) {
    return code == kExitUsage ? 3 : code == kExitStopped ? 2 : code;
  };
  if (weight(checked.exit_code) > weight(totals.exit_code)) totals.exit_code = checked.exit_code;
}

int CheckAll(const std::vector<std::string>& files, const std::string& format, Sandbox& sandbox) {
  const std::unique_ptr<validate::ReportWriter> writer = validate::MakeReportWriter(
      format, {.version = "", .profile = sandbox.profile().name, .root = ""});
  Totals totals;
  for (const std::string& path : files) {
    const Result<CheckedFile> checked = Check(path, sandbox);
    if (!checked) return OwnFailure(checked.error());
    Count(*checked, totals);
    if (!checked->error.empty()) Say("belljar validate: " + checked->error + "\n");
    if (const int code = Answer(writer->Add(*checked), kExitOk); code != kExitOk) return code;
  }
  const std::string rest = writer->Finish(totals);
  if (format != validate::kTextFormat) return Answer(rest, totals.exit_code);
  Say(rest);  // a summary, for people
  return totals.exit_code;
}

int Execute(const Arguments& arguments) {
  std::vector<std::string> files = arguments.files;
  if (files.empty()) {
    if (isatty(STDIN_FILENO)) {
      return UsageError("validate",
                        "which files?\n  belljar validate program.py\n"
                        "  belljar validate - < program.py");
    }
    files = {"-"};
  }
  Result<ProfileCatalogue> catalogue = ProfileCatalogue::Open();
  if (!catalogue) return OwnFailure(catalogue.error());
  Result<SandboxOptions> options = ResolveSandbox(arguments.sandbox, *catalogue);
  if (!options) return UsageError("validate", options.error().ToString());
  options->spares = std::min<size_t>(files.size(), 4);
  Result<std::unique_ptr<Sandbox>> sandbox = Sandbox::Open(std::move(*options));
  if (!sandbox) return OwnFailure(sandbox.error());
  return CheckAll(files, arguments.format, **sandbox);
}

}  // namespace

Command MakeValidateCommand(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser =
      app.add_subcommand("validate", "Say what the policy would refuse, without running it");
  parser->add_option("FILE", arguments->files, "the programs; - or nothing: standard input")
      ->type_name(kFileType);
  AddSandboxOptions(parser, arguments->sandbox);
  AddChoice(parser, "--format", arguments->format, validate::FormatNames(),
            "how to print the findings");
  SetExamples(parser, {"belljar validate program.py  # every finding with line and rule",
                       "belljar validate src/*.py --format json  # for a pipeline",
                       "belljar validate - < program.py  # from standard input"});
  return {parser, [arguments] { return Execute(*arguments); }};
}

}  // namespace belljar
