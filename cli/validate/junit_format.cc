#include <pugixml.hpp>
#include <sstream>

#include "cli/validate/formats.h"
#include "cli/validate/report_paths.h"
#include "cli/validate/report_text.h"
#include "engine/core/text.h"

namespace belljar::cli::validate {
namespace {

// One line with only characters that XML 1.0 allows. Control characters and invalid UTF-8 become
// \xNN; U+FFFE and U+FFFF are not allowed either.
std::string XmlText(std::string_view text) {
  std::string cleaned = core::Printable(text);
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (size_t at = 0; (at = cleaned.find(none, at)) != std::string::npos;) {
      cleaned.replace(at, none.size(), none.back() == '\xbe' ? "\\ufffe" : "\\uffff");
    }
  }
  return cleaned;
}

std::string LinesOf(const CheckedFile& file, const std::string& path) {
  std::string lines;
  for (const ReportedFinding& reported : file.findings) {
    const host::Finding& finding = reported.finding;
    std::string line = path;
    if (finding.line > 0) line += ":" + std::to_string(finding.line);
    if (finding.line > 0 && finding.column > 0) line += ":" + std::to_string(finding.column);
    lines += XmlText(line + ": " + finding.rule + " " + Message(finding)) + "\n";
  }
  if (file.findings_cut) lines += "More findings are not listed.\n";
  return lines;
}

// One test case per file rather than per finding: tools track "fixed" and "failing since" by stable
// names, and count passing files.
class JunitWriter : public ReportWriter {
 public:
  explicit JunitWriter(const ReportHeader& header) : root_(RootOf(header)) {
    pugi::xml_node declaration = document_.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    suites_ = document_.append_child("testsuites");
    suite_ = suites_.append_child("testsuite");
    suite_.append_attribute("name") =
        ("belljar validate, profile " + XmlText(header.profile)).c_str();
  }

  std::string Add(const CheckedFile& file) override {
    const std::string path = RepositoryPath("CI_PROJECT_DIR", root_, file.path);
    const std::string name = XmlText(path);
    pugi::xml_node test = suite_.append_child("testcase");
    test.append_attribute("classname") = "belljar.validate";
    test.append_attribute("name") = name.c_str();
    if (file.path != kStandardInputName) test.append_attribute("file") = name.c_str();
    const std::string lines = LinesOf(file, path);
    if (!file.error.empty()) {
      ++errors_;
      Append(test, "error", XmlText(file.error), "not-checked", lines);
    } else if (!file.findings.empty()) {
      ++failures_;
      Append(test, "failure", Plural(file.findings.size(), "finding"),
             XmlText(file.findings.front().finding.rule), lines);
    }
    return "";
  }

  std::string Finish(const Totals& totals) override {
    for (pugi::xml_node node : {suites_, suite_}) {
      node.append_attribute("tests") = static_cast<unsigned long long>(totals.files);
      node.append_attribute("failures") = static_cast<unsigned long long>(failures_);
      node.append_attribute("errors") = static_cast<unsigned long long>(errors_);
    }
    suite_.append_attribute("skipped") = 0;
    std::ostringstream text;
    document_.save(text, "  ", pugi::format_indent, pugi::encoding_utf8);
    return text.str();
  }

 private:
  static void Append(pugi::xml_node test, const char* kind, const std::string& message,
                     const std::string& type, const std::string& text) {
    pugi::xml_node node = test.append_child(kind);
    node.append_attribute("message") = message.c_str();
    node.append_attribute("type") = type.c_str();
    node.append_child(pugi::node_pcdata).set_value(text.c_str());
  }

  std::string root_;
  pugi::xml_document document_;
  pugi::xml_node suites_;
  pugi::xml_node suite_;
  size_t failures_ = 0;
  size_t errors_ = 0;
};

}  // namespace

std::unique_ptr<ReportWriter> MakeJunitWriter(const ReportHeader& header) {
  return std::make_unique<JunitWriter>(header);
}

}  // namespace belljar::cli::validate
