#include "server/tools/validate_code.h"

#include <algorithm>

#include "engine/core/text.h"
#include "engine/host/answer.h"
#include "server/tools/code_parameters.h"
#include "server/tools/failures.h"
#include "server/tools/output_schemas.h"

namespace belljar::server::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kValidateName = "validate_code";
constexpr size_t kMaxRecommendations = 20;

// Thresholds for medium and high complexity.
struct ComplexityStep {
  size_t lines;
  int branches;
  int nesting;
};
constexpr ComplexityStep kMedium = {50, 5, 3};
constexpr ComplexityStep kHigh = {300, 30, 5};

bool Reaches(const ComplexityStep& step, size_t lines, const host::Analysis& analysis) {
  return lines > step.lines || analysis.branches > step.branches || analysis.nesting > step.nesting;
}

const char* Complexity(size_t lines, const host::Analysis& analysis) {
  if (Reaches(kHigh, lines, analysis)) return "high";
  return Reaches(kMedium, lines, analysis) ? "medium" : "low";
}

// The last line counts with or without a line end; "\r\n" is one line end.
size_t LineCount(const std::string& code) {
  size_t lines = 0;
  bool is_open = false;
  for (size_t i = 0; i < code.size(); ++i) {
    const bool ends = code[i] == '\n' || (code[i] == '\r' && code.substr(i + 1, 1) != "\n");
    if (ends) ++lines;
    is_open = !ends;
  }
  return lines + (is_open ? 1 : 0);
}

size_t CharacterCount(const std::string& code) {
  return static_cast<size_t>(std::count_if(code.begin(), code.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;  // not a UTF-8 continuation byte
  }));
}

bool IsRefusedImport(const host::Finding& finding) {
  return finding.name == "import-not-allowed" || finding.name == "import-narrowed";
}

// "Line 1: Import 'glob' is not allowed"
std::string ErrorText(const host::Finding& finding) {
  std::string text = finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "";
  // The first quoted word of the reason is the module.
  const size_t open = finding.reason.find('\'');
  const size_t close = open == std::string::npos ? open : finding.reason.find('\'', open + 1);
  if (IsRefusedImport(finding) && close != std::string::npos) {
    return text + "Import " + finding.reason.substr(open, close - open + 1) + " is not allowed";
  }
  return text + finding.reason;
}

bool HasSyntaxError(const std::vector<host::Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const host::Finding& finding) { return finding.name == "syntax-error"; });
}

// If the worker was stopped there is no verdict, and unchecked code counts as invalid.
bool IsJudged(const host::Outcome& outcome) {
  return outcome.status == host::Status::kOk || outcome.status == host::Status::kRefused;
}

std::string Message(const host::Outcome& outcome) {
  if (!IsJudged(outcome)) {
    return "The code could not be checked and counts as invalid: the check was " +
           (outcome.error ? outcome.error->message : std::string("stopped"));
  }
  if (outcome.findings.empty()) return "Code is valid";
  return HasSyntaxError(outcome.findings) ? "Code has a syntax error"
                                          : "Code contains restricted operations";
}

Json Validation(const host::Outcome& outcome) {
  Json errors = Json::array();
  for (const host::Finding& finding : outcome.findings) errors.push_back(ErrorText(finding));
  if (!IsJudged(outcome)) errors.push_back(Message(outcome));
  return {{"valid", outcome.status == host::Status::kOk && outcome.findings.empty()},
          {"errors", std::move(errors)},
          {"message", Message(outcome)}};
}

Json AnalysisJson(const host::Outcome& outcome, const std::string& code) {
  const size_t lines = LineCount(code);
  const host::Analysis analysis = outcome.analysis.value_or(host::Analysis());
  const bool is_python = outcome.analysis.has_value();
  return {{"line_count", lines},
          {"character_count", CharacterCount(code)},
          {"estimated_complexity", Complexity(lines, analysis)},
          {"imports", analysis.imports},
          {"branches", is_python ? Json(analysis.branches) : Json()},
          {"nesting", is_python ? Json(analysis.nesting) : Json()}};
}

Json Recommendations(const host::Outcome& outcome) {
  Json list = Json::array();
  const auto add = [&](const std::string& text) {
    const bool is_new = std::find(list.begin(), list.end(), text) == list.end();
    if (is_new && list.size() < kMaxRecommendations) list.push_back(text);
  };
  if (!IsJudged(outcome)) {
    add("Make the code smaller or simpler, and check its parts separately");
    return list;
  }
  if (!outcome.findings.empty() && !HasSyntaxError(outcome.findings)) {
    add("Some operations may be restricted in sandbox environment");
  }
  for (const host::Finding& finding : outcome.findings) {
    if (finding.hint.empty()) continue;
    add((finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "") + finding.hint);
  }
  return list;
}

// The text for a model.
std::string AnswerText(const host::Outcome& outcome, const EnabledProfile& profile) {
  if (!IsJudged(outcome)) return Message(outcome);
  if (outcome.findings.empty()) {
    return "valid: execute_code would run it in profile " + profile.profile.name + ".";
  }
  return "not valid:\n" + host::FindingsText(outcome.findings);
}

std::string DumpAnswer(const Json& object) {
  return core::SafeJson(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Each finding once, and only as many as a model should read.
std::string LeanText(const host::Outcome& outcome, const host::Request& request,
                     const EnabledProfile& profile, size_t characters) {
  Json validation = Validation(outcome);
  Json findings = Json::parse(host::FindingsToLeanJson(outcome.findings, characters));
  const bool is_cut = findings.size() < outcome.findings.size() || !outcome.truncated.empty();
  if (findings.size() < outcome.findings.size()) {
    validation["errors"].erase(validation["errors"].begin() + static_cast<int>(findings.size()),
                               validation["errors"].end());
  }
  Json analysis = AnalysisJson(outcome, request.source);
  for (const char* key : {"branches", "nesting"}) analysis.erase(key);
  Json object = {{"success", true},
                 {"validation", std::move(validation)},
                 {"analysis", std::move(analysis)},
                 {"findings", std::move(findings)},
                 {"profile", profile.profile.name}};
  // The remaining ones are the hints of the findings.
  if (const Json all = Recommendations(outcome); !all.empty()) {
    object["recommendations"] = {all.front()};
  }
  if (is_cut) object["truncated"] = true;
  return DumpAnswer(object);
}

std::string FullText(const host::Outcome& outcome, const host::Request& request,
                     const EnabledProfile& profile) {
  const Json object = {{"success", true},
                       {"validation", Validation(outcome)},
                       {"analysis", AnalysisJson(outcome, request.source)},
                       {"findings", Json::parse(host::FindingsToJson(outcome.findings))},
                       {"recommendations", Recommendations(outcome)},
                       {"profile", profile.profile.name},
                       {"truncated", !outcome.truncated.empty()}};
  return DumpAnswer(object);
}

std::vector<Parameter> ValidateParameters(const Sandboxes& sandboxes,
                                          const AnswersConfig& answers) {
  std::vector<Parameter> parameters = {
      CodeParameter(sandboxes, "A whole Python program."), ProfileParameter(sandboxes),
      DetailParameter(answers, "full: all findings, with rules and columns.")};
  return parameters;
}

ToolDescription DescribeValidate(const ParameterTable& parameters) {
  ToolDescription description;
  description.name = kValidateName;
  description.title = "Check Python code without running it";
  description.description =
      "Says whether execute_code would run a Python program, and what to write instead of what it "
      "would refuse; nothing is run. Not needed before execute_code, which checks the same. Errors "
      "that only appear at run time are not found.";
  description.input_schema = parameters.Schema();
  description.output_schema = ValidationSchema();
  description.read_only = true;
  description.destructive = false;
  description.idempotent = true;
  description.open_world = false;
  return description;
}

}  // namespace

ValidateCode::ValidateCode(Sandboxes& sandboxes, const AnswersConfig& answers,
                           CallObserver* observer)
    : sandboxes_(sandboxes),
      answers_(answers),
      observer_(observer),
      parameters_(ValidateParameters(sandboxes, answers)),
      description_(DescribeValidate(parameters_)) {}

ToolResult ValidateCode::ResultOf(const host::Outcome& outcome, const host::Request& request,
                                  const EnabledProfile& profile, bool is_full) const {
  if (is_full) return {FullText(outcome, request, profile), "", false};
  return {LeanText(outcome, request, profile, answers_.characters), AnswerText(outcome, profile),
          false};
}

core::Result<ToolResult> ValidateCode::Call(const ToolCall& call) {
  std::vector<std::string> problems;
  const Arguments arguments = parameters_.Check(call.arguments, problems);
  const EnabledProfile* profile =
      ChooseProfile(sandboxes_, arguments, call.caller, false, problems);
  const bool is_full = WantsFull(answers_, arguments, problems);
  if (!problems.empty()) return RefusedArguments(kValidateName, problems);
  host::Request request;
  request.mode = host::Request::Mode::kValidate;
  request.source = *arguments.Text("code");
  request.allowed_imports = profile->modules;
  request.limits = profile->limits;
  core::Result<host::Outcome> ran = Run(sandboxes_, *profile, request, nullptr, call);
  if (!ran) {
    ToolResult result = SandboxFailed(kValidateName, profile->profile.name, ran.error());
    Record(observer_, kValidateName, call, *profile, std::move(request), ran.error());
    return result;
  }
  const auto outcome = std::make_shared<const host::Outcome>(std::move(*ran));
  ToolResult result = ResultOf(*outcome, request, *profile, is_full);
  Record(observer_, kValidateName, call, *profile, std::move(request), outcome);
  return result;
}

}  // namespace belljar::server::tools
