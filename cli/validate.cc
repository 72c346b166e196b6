#include "cli/validate.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/finding_text.h"
#include "cli/sandbox_choice.h"
#include "cli/source_file.h"
#include "engine/core/text.h"
#include "engine/outside/sandbox.h"

namespace belljar {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> files;
  SandboxChoice sandbox;
  std::string format = "text";
};

// What became of one file.
struct Checked {
  std::string path;
  std::vector<Finding> findings;
  bool findings_cut = false;  // there are more than are listed
  std::string error;          // why it could not be judged; empty when it was
  int exit_code = kExitOk;
};

struct Totals {
  size_t files = 0;
  size_t files_with_findings = 0;
  size_t findings = 0;
  size_t not_checked = 0;
  int exit_code = kExitOk;
};

// An error is our own failure, which the next file would meet again.
Result<Checked> Check(const std::string& path, Sandbox& sandbox) {
  Checked checked{.path = path == "-" ? "<stdin>" : path, .findings = {}, .error = ""};
  const Bytes bound = sandbox.profile().maximum_limits.source;
  Result<SourceFile> source = ReadSourceFile(path, bound);
  if (!source) {
    checked.error = source.error().ToString();
    checked.exit_code = kExitUsage;
    return checked;
  }
  if (source->is_too_long) {
    checked.findings = {TooLongFinding(*source, bound)};
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
  checked.findings = std::move(outcome->findings);
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

void Count(const Checked& checked, Totals& totals) {
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

std::string FileText(const Checked& checked) {
  std::string text;
  for (const Finding& finding : checked.findings) text += FindingText(checked.path, finding);
  if (checked.findings_cut) text += Printable(checked.path) + ": there are more findings\n";
  return text;
}

Json FileJson(const Checked& checked) {
  Json file;
  file["path"] = checked.path;
  file["valid"] = checked.exit_code == kExitOk;
  file["findings"] = Json::parse(FindingsToJson(checked.findings));
  file["truncated"] = checked.findings_cut;
  file["error"] = checked.error.empty() ? Json() : Json(checked.error);
  return file;
}

std::string Plural(size_t count, const std::string& noun) {
  return WithThousands(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string SummaryText(const Totals& totals) {
  std::string text = totals.findings == 0 ? "no findings in "
                                          : Plural(totals.findings, "finding") + " in " +
                                                std::to_string(totals.files_with_findings) + " of ";
  text += Plural(totals.files, "file");
  if (totals.not_checked > 0) {
    text += "; " + Plural(totals.not_checked, "file") + " could not be checked";
  }
  return text + "\n";
}

int PrintJson(Json files, const Totals& totals) {
  const Json object = {{"files", std::move(files)},
                       {"summary",
                        {{"files", totals.files},
                         {"files_with_findings", totals.files_with_findings},
                         {"findings", totals.findings},
                         {"not_checked", totals.not_checked}}}};
  const int indent = isatty(STDOUT_FILENO) ? 2 : -1;
  return Answer(object.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n",
                totals.exit_code);
}

int CheckAll(const std::vector<std::string>& files, bool json, Sandbox& sandbox) {
  Totals totals;
  Json list = Json::array();
  for (const std::string& path : files) {
    Result<Checked> checked = Check(path, sandbox);
    if (!checked) return OwnFailure(checked.error());
    Count(*checked, totals);
    if (!checked->error.empty()) {
      Say("belljar validate: " + checked->error + "\n");
    }
    if (json) {
      list.push_back(FileJson(*checked));
    } else if (const int code = Answer(FileText(*checked), kExitOk); code != kExitOk) {
      return code;
    }
  }
  if (json) return PrintJson(std::move(list), totals);
  Say(SummaryText(totals));
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
  return CheckAll(files, arguments.format == "json", **sandbox);
}

}  // namespace

Command MakeValidateCommand(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser =
      app.add_subcommand("validate", "Say what the policy would refuse, without running it");
  parser->add_option("FILE", arguments->files, "the programs; - or nothing: standard input")
      ->type_name(kFileType);
  AddSandboxOptions(parser, arguments->sandbox);
  AddChoice(parser, "--format", arguments->format, {"text", "json"}, "how to print the findings");
  SetExamples(parser, {"belljar validate program.py  # every finding with line and rule",
                       "belljar validate src/*.py --format json  # for a pipeline",
                       "belljar validate - < program.py  # from standard input"});
  return {parser, [arguments] { return Execute(*arguments); }};
}

}  // namespace belljar
