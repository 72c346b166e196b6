#include "container/guest/rehearsal.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "container/wire/host_reader.h"
#include "container/wire/line.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/core/outcome.h"
#include "engine/core/request.h"
#include "engine/outside/report.h"

namespace belljar {
namespace {

constexpr std::chrono::seconds kLongEnough{5};

// As runner.py writes them, with a part of each kind.
constexpr char kReport[] =
    R"({"status":"exception","exit_code":3,"has_result":true,"result":[1,2.5,"x"],)"
    R"("result_repr":"[1, 2.5, 'x']","variables":["a"],"error":{"type":"ValueError","message":"no",)"
    R"("line":4,"column":5,"end_line":4,"end_column":9,"traceback":"Traceback","hint":null},)"
    R"("findings":[],"truncated":[]})";

// The host's and the guest's end at once.
Result<Line> LineToOurselves() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("pipe");
  return Line::OfPipes(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

}  // namespace

void RehearseListening() {
  Result<Line> line = LineToOurselves();
  if (!line) return;
  const Wait wait{Clock::now() + kLongEnough};
  Request request;
  request.source = "print('hello')\n6 * 7";
  const Result<std::string> text = RequestToText(request);
  if (!text || !line->Send(FrameKind::kRequest, *text, wait)) return;
  for (const std::string_view part : RequestContent(request)) {
    if (!line->SendContent(part, wait)) return;
  }
  HostReader reader;
  while (!reader.has_request()) {
    const Result<std::string> bytes = line->Receive(wait);
    if (!bytes || bytes->empty() || !reader.Take(*bytes)) return;
  }
  const Request taken = reader.TakeRequest();
}

void RehearseAnswering() {
  Result<Line> line = LineToOurselves();
  if (!line) return;
  Outcome outcome;
  (void)ReadReport(kReport, outcome);
  outcome.stdout_stream.text = "hello\n";
  outcome.isolation.layers = {{"namespaces", false, "none"}, {"seccomp", true, "allow-list"}};
  const Wait wait{Clock::now() + kLongEnough};
  (void)line->Send(FrameKind::kStandardOutput, outcome.stdout_stream.text, wait).ok();
  (void)line->Send(FrameKind::kOutcome, OutcomeToText(outcome), wait).ok();
}

}  // namespace belljar
