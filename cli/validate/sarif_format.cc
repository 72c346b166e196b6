#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "cli/validate/formats.h"
#include "cli/validate/report_paths.h"
#include "cli/validate/report_text.h"
#include "engine/core/text.h"
#include "engine/host/percent_encoding.h"
#include "engine/host/version.h"

namespace belljar::cli::validate {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kSchema[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr char kRootId[] = "%SRCROOT%";
// Longer lines are machine-generated and not useful in a report.
constexpr size_t kMaxSnippet = 1000;

std::string WithFullStop(std::string text) { return text.ends_with('.') ? text : text + "."; }

std::string HelpMarkdown(const Rule& rule) {
  std::string text = "**" + rule.title + ".** " + rule.why + "\n";
  if (!rule.bad.empty()) text += "\nRefused:\n\n```python\n" + rule.bad + "\n```\n";
  if (!rule.hint.empty()) text += "\nInstead: " + WithFullStop(rule.hint) + "\n";
  if (!rule.good.empty()) text += "\n```python\n" + rule.good + "\n```\n";
  return text;
}

// A reportingDescriptor. A rule that is in a finding but not in rules.json has only id and name.
Json Descriptor(const Rule& rule) {
  Json descriptor = {{"id", rule.id}, {"name", rule.name}};
  if (!rule.title.empty()) {
    const std::string title = WithFullStop(rule.title);
    descriptor["shortDescription"] = {{"text", title}};
    descriptor["fullDescription"] = {{"text", rule.why.empty() ? title : rule.why}};
    const std::string help = rule.hint.empty() ? title : WithFullStop(rule.hint);
    descriptor["help"] = {{"text", rule.why + " " + help}, {"markdown", HelpMarkdown(rule)}};
  }
  descriptor["defaultConfiguration"] = {{"level", "error"}};
  descriptor["properties"] = {{"tags", {"language-policy", RuleGroup(rule.id)}},
                              {"problem.severity", "error"}};
  return descriptor;
}

class SarifWriter : public ReportWriter {
 public:
  SarifWriter(const ReportHeader& header, std::vector<Rule> rules)
      : header_(header), root_(RootOf(header)), rules_(std::move(rules)) {
    for (size_t i = 0; i < rules_.size(); ++i) index_of_[rules_[i].id] = i;
  }

  std::string Add(const CheckedFile& file) override {
    const Json artifact = Artifact(file.path);
    for (const ReportedFinding& reported : file.findings) {
      results_.push_back(ToResult(reported, artifact));
    }
    if (!file.error.empty()) Notify("error", core::Printable(file.error), artifact);
    if (file.findings_cut) {
      Notify("warning", "More findings are not listed.", artifact);
    }
    return "";
  }

  std::string Finish(const Totals& totals) override {
    Json run = {{"tool", {{"driver", Driver()}}},
                {"automationDetails", {{"id", "belljar/" + header_.profile + "/"}}},
                {"originalUriBaseIds", {{kRootId, {{"uri", RootUri()}}}}},
                {"columnKind", "unicodeCodePoints"},
                {"invocations", Json::array({Invocation(totals)})},
                {"results", std::move(results_)},
                {"properties",
                 {{"profile", header_.profile},
                  {"files", totals.files},
                  {"suppressed", totals.suppressed}}}};
    const Json log = {
        {"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(run)})}};
    return core::SafeJson(log.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  }

 private:
  std::string RootUri() const {
    return "file://" + host::PercentEncoded(root_, "/") + (root_.ends_with('/') ? "" : "/");
  }

  Json Artifact(const std::string& path) const {
    if (path == kStandardInputName) return {{"uri", host::PercentEncoded(path, "/")}};
    const std::string seen = PathFrom(root_, root_, path);
    if (seen.starts_with('/')) return {{"uri", "file://" + host::PercentEncoded(seen, "/")}};
    return {{"uri", host::PercentEncoded(seen, "/")}, {"uriBaseId", kRootId}};
  }

  size_t RuleIndex(const host::Finding& finding) {
    const auto [found, is_new] = index_of_.try_emplace(finding.rule, rules_.size());
    if (is_new) {
      Rule rule;
      rule.id = finding.rule;
      rule.name = finding.name;
      rules_.push_back(std::move(rule));
    }
    return found->second;
  }

  static Json Region(const host::Finding& finding) {
    Json region = {{"startLine", finding.line}};
    if (finding.column > 0) region["startColumn"] = finding.column;
    if (finding.end_line < finding.line) return region;
    region["endLine"] = finding.end_line;
    const bool forward = finding.end_line > finding.line || finding.end_column >= finding.column;
    if (finding.column > 0 && finding.end_column > 0 && forward) {
      region["endColumn"] = finding.end_column;
    }
    return region;
  }

  // The position and the line around it. A finding about a whole file has no region.
  static Json Location(const ReportedFinding& reported, const Json& artifact) {
    const host::Finding& finding = reported.finding;
    Json place = {{"artifactLocation", artifact}};
    if (finding.line > 0) {
      place["region"] = Region(finding);
      const std::string& line = reported.line_text;
      if (!line.empty() && line.size() <= kMaxSnippet && finding.end_line <= finding.line) {
        place["contextRegion"] = {
            {"startLine", finding.line}, {"endLine", finding.line}, {"snippet", {{"text", line}}}};
      }
    }
    return {{"physicalLocation", std::move(place)}};
  }

  Json ToResult(const ReportedFinding& reported, const Json& artifact) {
    const host::Finding& finding = reported.finding;
    Json result = {{"ruleId", finding.rule},
                   {"ruleIndex", RuleIndex(finding)},
                   {"level", "error"},
                   {"message", {{"text", Message(finding)}}},
                   {"locations", Json::array({Location(reported, artifact)})}};
    if (!reported.fingerprint.empty()) {
      result["partialFingerprints"] = {{"belljar/v1", reported.fingerprint}};
    }
    if (!finding.profile.empty()) {
      result["properties"] = {{"allowedByProfile", finding.profile}};
    }
    return result;
  }

  void Notify(const char* level, const std::string& text, const Json& artifact) {
    notifications_.push_back(
        {{"level", level},
         {"message", {{"text", text}}},
         {"locations", Json::array({{{"physicalLocation", {{"artifactLocation", artifact}}}}})}});
  }

  Json Driver() const {
    Json descriptors = Json::array();
    for (const Rule& rule : rules_) descriptors.push_back(Descriptor(rule));
    const std::string version = header_.version.empty() ? host::kBelljarVersion : header_.version;
    return {{"name", "belljar"},
            {"fullName", "belljar validate"},
            {"semanticVersion", version},
            {"rules", std::move(descriptors)}};
  }

  Json Invocation(const Totals& totals) {
    return {{"executionSuccessful", totals.not_checked == 0},
            {"exitCode", totals.exit_code},
            {"exitCodeDescription", Summary(totals)},
            {"workingDirectory", {{"uri", RootUri()}}},
            {"toolExecutionNotifications", std::move(notifications_)}};
  }

  ReportHeader header_;
  std::string root_;
  std::vector<Rule> rules_;
  std::unordered_map<std::string, size_t> index_of_;
  Json results_ = Json::array();
  Json notifications_ = Json::array();
};

}  // namespace

std::unique_ptr<ReportWriter> MakeSarifWriter(const ReportHeader& header, std::vector<Rule> rules) {
  return std::make_unique<SarifWriter>(header, std::move(rules));
}

}  // namespace belljar::cli::validate
