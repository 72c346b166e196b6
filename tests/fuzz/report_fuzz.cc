// report_fuzz: what a worker says of its run, which hostile code may have written: its report, and
// the calls of functions on its way there.
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/core/outcome.h"
#include "engine/core/socket.h"
#include "engine/outside/report.h"
#include "engine/outside/worker_line.h"
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

// The same bytes as what comes over the line, for as long as it goes.
void TryLine(std::string_view bytes) {
  auto pair = CreateSocketPair(SOCK_STREAM);
  Require(pair.ok(), "no sockets", "");
  const std::string_view parts[] = {bytes};
  Require(SendAll(pair->second.get(), parts, Clock::now() + std::chrono::seconds(5)).ok(),
          "more than a socket holds", "");
  shutdown(pair->second.get(), SHUT_WR);
  Request request;
  request.functions = {"f", "lookup"};
  request.limits.result = Bytes{200};
  const FunctionCall call = [](std::string_view name, std::string_view arguments) {
    Require(name == "f" || name == "lookup", "a function that is not the request's", name);
    Require(arguments.size() <= 200, "longer than the limit", arguments);
    Require(Json::accept(arguments), "not valid JSON", arguments);
    return std::string("{}");
  };
  WorkerLine line(pair->first.get(), request, call);
  using Word = WorkerLine::Word;
  for (Word word = line.Move(); word == Word::kNothing || word == Word::kCall; word = line.Move()) {
    if (word == Word::kCall) line.Answer();
  }
}

}  // namespace
}  // namespace belljar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  belljar::Try(bytes);
  belljar::TryLine(bytes);
  return 0;
}
