#include <string_view>

#include "cli/validate/formats.h"
#include "cli/validate/report_paths.h"
#include "cli/validate/report_text.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

// Escapes what the runner decodes: '%' and line ends in messages, and also separators in
// properties. Unescaped, a file name could inject a command.
std::string Escaped(std::string_view text, std::string_view also = "") {
  std::string escaped;
  for (const char byte : text) {
    switch (byte) {
      case '%': escaped += "%25"; break;
      case '\r': escaped += "%0D"; break;
      case '\n': escaped += "%0A"; break;
      default:
        if (also.find(byte) == std::string_view::npos) {
          escaped += byte;
        } else {
          escaped += byte == ':' ? "%3A" : "%2C";
        }
    }
  }
  return escaped;
}

std::string Property(std::string_view name, std::string_view value) {
  return std::string(name) + "=" + Escaped(value, ":,");
}

class GithubWriter : public ReportWriter {
 public:
  explicit GithubWriter(const ReportHeader& header) : root_(RootOf(header)) {}

  std::string Add(const CheckedFile& file) override {
    const std::string place =
        file.path == kStandardInputName
            ? ""
            : Property("file",
                       core::Printable(RepositoryPath("GITHUB_WORKSPACE", root_, file.path))) +
                  ",";
    std::string text;
    for (const ReportedFinding& reported : file.findings) {
      const host::Finding& finding = reported.finding;
      text += "::error " + place + Region(finding) +
              Property("title", finding.rule + " " + finding.name) +
              "::" + Escaped(Message(finding)) + "\n";
    }
    if (file.findings_cut) {
      text += "::notice " + place + "title=belljar::More findings are not listed.\n";
    }
    // A warning, because GitHub shows only ten errors, and this must not be lost among findings.
    if (!file.error.empty()) {
      text += "::warning " + place + "title=not checked::" + Escaped(core::Printable(file.error)) +
              "\n";
    }
    return text;
  }

  std::string Finish(const Totals& totals) override { return Summary(totals) + "\n"; }

 private:
  // GitHub accepts columns only for ranges within one line.
  static std::string Region(const host::Finding& finding) {
    if (finding.line <= 0) return "";
    std::string region = "line=" + std::to_string(finding.line) + ",";
    if (finding.end_line >= finding.line) {
      region += "endLine=" + std::to_string(finding.end_line) + ",";
    }
    if (finding.end_line != finding.line || finding.column <= 0) return region;
    region += "col=" + std::to_string(finding.column) + ",";
    if (finding.end_column < finding.column) return region;
    return region + "endColumn=" + std::to_string(finding.end_column) + ",";
  }

  std::string root_;
};

}  // namespace

std::unique_ptr<ReportWriter> MakeGithubWriter(const ReportHeader& header) {
  return std::make_unique<GithubWriter>(header);
}

}  // namespace belljar::cli::validate
