// report_fuzz: what a worker says of its run, which hostile code may have written: its report, and
// the calls of functions on its way there.
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/core/socket.h"
#include "engine/host/outcome.h"
#include "engine/run/program_report.h"
#include "engine/run/report.h"
#include "engine/run/worker_channel.h"
#include "tests/fuzz/invariant.h"

namespace belljar::tests {
namespace {

using Json = nlohmann::json;

void Try(std::string_view report, bool is_program) {
  host::Outcome outcome;
  outcome.execution_id = "unchanged";
  outcome.stdout_stream = {std::string(report), 7};
  const std::string before = host::OutcomeToJson(outcome);
  const bool read = is_program
                        ? run::ReadProgramReport(report, 200, outcome)
                        : run::ReadReport(report, outcome, "the bytes that artifacts are parts of");
  for (const int indent : {-1, 2}) {
    const std::string text = host::OutcomeToJson(outcome, indent);
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
  const std::string findings = host::FindingsToJson(outcome.findings);
  Require(Json::parse(findings, nullptr, false).is_array(), "findings are no list", findings);
}

// The same bytes as what comes over the line, for as long as it goes.
void TryChannel(std::string_view bytes) {
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  Require(pair.ok(), "no sockets", "");
  const std::string_view parts[] = {bytes};
  Require(
      core::SendAll(pair->second.get(), parts, core::Clock::now() + std::chrono::seconds(5)).ok(),
      "more than a socket holds", "");
  shutdown(pair->second.get(), SHUT_WR);
  host::Request request;
  request.functions = {"f", "lookup"};
  request.limits.result = core::Bytes{200};
  const run::FunctionCall call = [](std::string_view name, std::string_view arguments) {
    Require(name == "f" || name == "lookup", "a function that is not the request's", name);
    Require(arguments.size() <= 200, "longer than the limit", arguments);
    Require(Json::accept(arguments), "not valid JSON", arguments);
    return std::string("{}");
  };
  run::WorkerChannel channel(pair->first.get(), request, call, false);
  using Message = run::WorkerChannel::Message;
  for (Message message = channel.Move(); message == Message::kNothing || message == Message::kCall;
       message = channel.Move()) {
    if (message == Message::kCall && !channel.Answer()) break;
  }
}

}  // namespace
}  // namespace belljar::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool is_program : {false, true}) belljar::tests::Try(bytes, is_program);
  belljar::tests::TryChannel(bytes);
  return 0;
}
