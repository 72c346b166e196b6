#include "engine/inside/launcher.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/program_worker.h"
#include "engine/inside/spawning.h"
#include "engine/seal/seal.h"

namespace belljar::inside {
namespace {

struct Start {
  bool single_run = false;
  ProgramRunner runner;
  seal::SealPlan plan;
  core::CaptureLayout layout;
};

core::Result<Start> ReceiveStart(int control) {
  core::Result<std::vector<std::string>> texts = ReceiveStartTexts(control, 1);
  if (!texts) return texts.error();
  Start start;
  try {
    const nlohmann::json json = nlohmann::json::parse(texts->front());
    json.at("single_run").get_to(start.single_run);
    json.at("command").get_to(start.runner.command);
    json.at("compile").get_to(start.runner.compile);
    json.at("warm").get_to(start.runner.warm);
    json.at("reports_value").get_to(start.runner.reports_value);
    start.runner.starts_ahead = !start.single_run;  // nothing is ahead of a single run
    json.at("session").get_to(start.runner.session);
    json.at("shows").get_to(start.runner.shows);
    json.at("file").get_to(start.runner.file);
    json.at("environment").get_to(start.runner.environment);
    for (const nlohmann::json& entry : json.at("errors")) {
      core::Result<ErrorLine> line = ErrorLine::Compile(
          entry.at("pattern").get<std::string>(),
          entry.at("groups").get<std::vector<std::string>>(), entry.at("last").get<bool>());
      if (!line) return line.error();
      start.runner.errors.push_back(std::move(*line));
    }
    json.at("capture_output").get_to(start.layout.output.count);
    json.at("capture_report").get_to(start.layout.report.count);
    json.at("capture_artifacts").get_to(start.layout.artifacts.count);
    core::Result<seal::SealPlan> plan = seal::SealPlanFromJson(json.at("seal").get<std::string>());
    if (!plan) return plan.error();
    start.plan = std::move(*plan);
    return start;
  } catch (const nlohmann::json::exception& failure) {
    return core::MakeError("read start message", failure.what());
  }
}

core::Result<void> Serve(const Start& start, const seal::PreparedSeal& prepared, int control) {
  for (;;) {
    core::Result<core::Message> message = core::ReceiveMessage(control, sizeof(core::SpawnMessage));
    if (!message) return message.error();
    if (message->bytes.empty()) return {};
    if (SpawnKindOf(*message) != core::SpawnMessage::kRun)
      return core::MakeError("serve", "not a spawn message for a run");
    const auto become_worker = [&] {
      RunProgramWorker({.runner = start.runner,
                        .plan = start.plan,
                        .prepared = prepared,
                        .layout = start.layout},
                       std::move(message->descriptors[0]), std::move(message->descriptors[1]));
    };
    if (start.single_run) become_worker();
    if (core::Result<void> done = Spawn(start.plan, control, std::ref(become_worker)); !done)
      return done;
  }
}

}  // namespace

int RunLauncher(core::UniqueFd control) {
  core::Result<Start> start = ReceiveStart(control.get());
  if (!start) return AnswerStart(control.get(), start.error()) ? 0 : 1;
  core::Result<seal::PreparedSeal> prepared = seal::SealZygote(start->plan, "");
  const core::Result<void> is_ready = prepared ? core::Result<void>() : prepared.error();
  if (!AnswerStart(control.get(), is_ready)) return 1;
  return Serve(*start, *prepared, control.get()) ? 0 : 1;
}

}  // namespace belljar::inside
