#include "engine/inside/launcher.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/inside/program_worker.h"
#include "engine/inside/spawning.h"
#include "engine/seal/seal.h"
#include "engine/seal/start_message.h"

namespace belljar::inside {
namespace {

core::Result<std::vector<ErrorLine>> ErrorLinesOf(const core::ProgramRule& program) {
  std::vector<ErrorLine> lines;
  for (const core::ErrorPattern& pattern : program.errors) {
    core::Result<ErrorLine> line = ErrorLine::Compile(pattern);
    if (!line) return line.error();
    lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace

int RunLauncher(core::UniqueFd control) {
  core::Result<seal::LauncherStart> start = ReceiveStart<seal::LauncherStart>(control.get());
  if (!start) return AnswerStart(control.get(), start.error()) ? 0 : 1;
  const core::Result<std::vector<ErrorLine>> errors = ErrorLinesOf(start->program);
  if (!errors) return AnswerStart(control.get(), errors.error()) ? 0 : 1;
  const core::Result<seal::PreparedSeal> prepared = seal::SealZygote(start->plan, "");
  const core::Result<void> is_ready = prepared ? core::Result<void>() : prepared.error();
  if (!AnswerStart(control.get(), is_ready)) return 1;
  const auto become = [&](SpawnOrder order) {
    // Nothing is ahead of a single run.
    RunProgramWorker(
        {{start->plan, *prepared, start->layout}, start->program, *errors, !start->single_run},
        std::move(order));
  };
  const Spawning spawning{.single_run = start->single_run, .become = become};
  return ServeSpawns(control.get(), start->plan, spawning) ? 0 : 1;
}

}  // namespace belljar::inside
