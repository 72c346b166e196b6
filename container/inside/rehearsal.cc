#include "container/inside/rehearsal.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "container/inside/host_reader.h"
#include "container/wire/channel.h"
#include "container/wire/outcome_text.h"
#include "container/wire/request_text.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/run/report.h"

namespace belljar::container::inside {
namespace {

constexpr std::chrono::seconds kLongEnough{5};

// As written by runner.py, with one item of each kind.
constexpr char kReport[] =
    R"({"status":"exception","exit_code":3,"has_result":true,"result":[1,2.5,"x"],)"
    R"("result_repr":"[1, 2.5, 'x']","variables":["a"],"error":{"type":"ValueError","message":"no",)"
    R"("line":4,"column":5,"end_line":4,"end_column":9,"traceback":"Traceback","hint":null},)"
    R"("findings":[],"truncated":[]})";

// Both ends of a channel.
core::Result<wire::Channel> LoopbackChannel() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return core::SystemError("pipe");
  return wire::Channel::OfPipes(core::UniqueFd(ends[0]), core::UniqueFd(ends[1]));
}

}  // namespace

void RehearseListening() {
  core::Result<wire::Channel> channel = LoopbackChannel();
  if (!channel) return;
  const waiting::Wait wait{core::Clock::now() + kLongEnough};
  host::Request request;
  request.source = "print('hello')\n6 * 7";
  const core::Result<std::string> text = wire::RequestToText(request);
  if (!text || !channel->Send(wire::FrameKind::kRequest, *text, wait)) return;
  for (const std::string_view part : wire::RequestContent(request)) {
    if (!channel->SendContent(part, wait)) return;
  }
  HostReader reader;
  while (!reader.TakeOrder()) {
    const core::Result<std::string> bytes = channel->Receive(wait);
    if (!bytes || bytes->empty() || !reader.Take(*bytes)) return;
  }
}

void RehearseAnswering() {
  core::Result<wire::Channel> channel = LoopbackChannel();
  if (!channel) return;
  host::Outcome outcome;
  (void)run::ReadReport(kReport, outcome);
  outcome.stdout_stream.text = "hello\n";
  outcome.isolation.layers = {{"namespaces", false, "none"}, {"seccomp", true, "allow-list"}};
  const waiting::Wait wait{core::Clock::now() + kLongEnough};
  (void)channel->Send(wire::FrameKind::kStandardOutput, outcome.stdout_stream.text, wait).ok();
  (void)channel->Send(wire::FrameKind::kOutcome, wire::OutcomeToText(outcome), wait).ok();
}

}  // namespace belljar::container::inside
