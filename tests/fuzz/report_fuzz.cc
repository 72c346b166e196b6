// report_fuzz: what a worker says of its run, which hostile code may have written.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/core/outcome.h"
#include "engine/outside/report.h"
#include "tests/fuzz/invariant.h"

namespace belljar {
namespace {

using Json = nlohmann::json;

void Try(std::string_view report) {
  Outcome outcome;
  outcome.execution_id = "unchanged";
  outcome.stdout_stream = {std::string(report), 7};
  const std::string before = OutcomeToJson(outcome);
  const bool read = ReadReport(report, outcome, "the bytes that artifacts are parts of");
  for (const int indent : {-1, 2}) {
    const std::string text = OutcomeToJson(outcome, indent);
    const Json json = Json::parse(text, nullptr, false);
    Require(json.is_object(), "not valid JSON", text);
    Require(indent != -1 || text.find('\n') == text.npos, "more than one line", text);
    Require(read || indent != -1 || text == before, "a refused report left something", text);
    // What only the host knows.
    Require(json["execution_id"] == "unchanged" && json["truncated"]["stdout"] == 7 &&
                json["isolation"]["layers"].empty() && json["security_events"].empty(),
            "the report has changed what is not its own", text);
    Require(json["success"] == (json["status"] == "ok"), "success and status differ", text);
    const std::string status = json["status"];
    Require(!read || status == "ok" || status == "exception" || status == "refused" ||
                status == "memory_limit",
            "a status that is the host's to declare", text);
  }
  const std::string findings = FindingsToJson(outcome.findings);
  Require(Json::parse(findings, nullptr, false).is_array(), "findings are no list", findings);
}

}  // namespace
}  // namespace belljar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  belljar::Try({reinterpret_cast<const char*>(data), size});
  return 0;
}
