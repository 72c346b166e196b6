#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/validate/formats.h"
#include "cli/validate/report_paths.h"
#include "cli/validate/report_text.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

using Json = nlohmann::ordered_json;

class GitlabWriter : public ReportWriter {
 public:
  explicit GitlabWriter(const ReportHeader& header) : root_(RootOf(header)) {}

  std::string Add(const CheckedFile& file) override {
    const std::string path = RepositoryPath("CI_PROJECT_DIR", root_, file.path);
    for (const ReportedFinding& reported : file.findings) {
      const host::Finding& finding = reported.finding;
      list_.push_back({{"description", finding.rule + ": " + Message(finding)},
                       {"check_name", finding.rule},
                       {"fingerprint", FingerprintOf(reported, path)},
                       {"severity", "major"},
                       {"location", Place(path, finding.line, finding.end_line)}});
    }
    // Without an entry, the file would appear to have no findings.
    if (!file.error.empty()) {
      list_.push_back({{"description", "not checked: " + core::Printable(file.error)},
                       {"check_name", "not-checked"},
                       {"fingerprint", "not-checked:" + path},
                       {"severity", "blocker"},
                       {"location", Place(path, 1, 1)}});
    }
    return "";
  }

  std::string Finish(const Totals&) override {
    return core::SafeJson(list_.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  }

 private:
  static Json Place(const std::string& path, int line, int end_line) {
    const int begin = std::max(line, 1);
    return {{"path", path}, {"lines", {{"begin", begin}, {"end", std::max(begin, end_line)}}}};
  }

  // GitLab compares the findings of two reports only by this.
  static std::string FingerprintOf(const ReportedFinding& reported, const std::string& path) {
    if (!reported.fingerprint.empty()) return reported.fingerprint;
    const host::Finding& finding = reported.finding;
    return finding.rule + ":" + path + ":" + std::to_string(finding.line) + ":" +
           std::to_string(finding.column);
  }

  std::string root_;
  Json list_ = Json::array();
};

}  // namespace

std::unique_ptr<ReportWriter> MakeGitlabWriter(const ReportHeader& header) {
  return std::make_unique<GitlabWriter>(header);
}

}  // namespace belljar::cli::validate
