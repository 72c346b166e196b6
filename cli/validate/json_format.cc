#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/validate/formats.h"

namespace belljar::cli::validate {
namespace {

using Json = nlohmann::ordered_json;

Json FindingsOf(const CheckedFile& file) {
  std::vector<host::Finding> findings;
  for (const ReportedFinding& reported : file.findings) findings.push_back(reported.finding);
  Json list = Json::parse(host::FindingsToJson(findings));
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& fingerprint = file.findings[i].fingerprint;
    list[i]["fingerprint"] = fingerprint.empty() ? Json() : Json(fingerprint);
  }
  return list;
}

class JsonWriter : public ReportWriter {
 public:
  std::string Add(const CheckedFile& file) override {
    Json object;
    object["path"] = file.path;
    object["valid"] = file.exit_code == kExitOk;
    object["findings"] = FindingsOf(file);
    object["suppressed"] = file.suppressed;
    object["truncated"] = file.findings_cut;
    object["error"] = file.error.empty() ? Json() : Json(file.error);
    files_.push_back(std::move(object));
    return "";
  }

  std::string Finish(const Totals& totals) override {
    const Json object = {{"files", std::move(files_)},
                         {"summary",
                          {{"files", totals.files},
                           {"files_with_findings", totals.files_with_findings},
                           {"findings", totals.findings},
                           {"suppressed", totals.suppressed},
                           {"not_checked", totals.not_checked}}}};
    return JsonText(object);
  }

 private:
  Json files_ = Json::array();
};

}  // namespace

std::unique_ptr<ReportWriter> MakeJsonWriter() { return std::make_unique<JsonWriter>(); }

}  // namespace belljar::cli::validate
