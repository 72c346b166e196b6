#include "engine/inside/zygote.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/denials.h"
#include "engine/inside/file_pages.h"
#include "engine/inside/hot_blocks.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/inside/session_init.h"
#include "engine/inside/spawning.h"
#include "engine/inside/worker.h"
#include "engine/seal/seal.h"
#include "engine/seal/start_message.h"

namespace belljar::inside {
namespace {

constexpr size_t kThreadStack = 8 << 20;

InterpreterOptions InterpreterOf(seal::ZygoteStart& start) {
  InterpreterOptions options{.program = std::move(start.interpreter),
                             .package_paths = std::move(start.package_paths),
                             .profile_packages = std::move(start.profile_packages),
                             .huge_pages = start.huge_pages,
                             .keeps_artifacts = start.layout.artifacts.count > 0,
                             .missing_modules = std::move(start.missing_modules),
                             .profile = std::move(start.profile),
                             .other_profiles = std::move(start.other_profiles),
                             .single_run = start.single_run,
                             .named_modules = std::move(start.named_modules)};
  if (start.single_run) return options;
  // Without a record workers are only slower.
  core::Result<std::vector<HotBlock>> blocks = ReadHotBlocks(start.hot_blocks, start.package_sets);
  if (blocks) options.hot_blocks = std::move(*blocks);
  return options;
}

// A clone would not have the second thread, but might have a lock that it held.
core::Result<void> CheckSingleThreaded() {
  std::error_code code;
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task", code);
  if (code) return core::SystemErrorOf(code.value(), "list threads");
  if (std::distance(begin(tasks), end(tasks)) == 1) return {};
  return core::MakeError("prepare zygote", "a module of the profile started a thread");
}

// The number of hot pages, out of 512 in a huge page, above which a huge page does not pay off.
// Measured with the data-science packages, where 1,170 hot pages are in 90 such regions of the
// heap: 12 and 24 take the same CPU time per run, and 24 takes less memory in every spare.
constexpr size_t kWorthPinning = 24;

// What a worker does before its request, except seal and capture.
void RehearseWorker() { (void)(AfterCloneInWorker() && RehearseRequest()); }

// What it does in a run that fails, and in a validation.
void RehearseMore() {
  RehearseWorker();
  (void)RehearseOthers().ok();
}

struct Prepared {
  seal::PreparedSeal seal;
  core::UniqueFd hot_pages;  // empty if they could not be pinned
};

// Optimisations for clones, useless for a worker that is not a clone.
void PrepareClones(bool huge_pages, Prepared& prepared) {
  const size_t least_together = huge_pages ? kWorthPinning : 1;
  if (core::Result<core::UniqueFd> pinned = PinHotPages(RehearseWorker, least_together); pinned) {
    prepared.hot_pages = std::move(*pinned);
  }
  if (huge_pages) CollapseIntoHugePages();
  (void)PrepareFilePages(RehearseMore, huge_pages).ok();
  (void)FindWarmPages(RehearseMore).ok();
}

std::chrono::milliseconds OwnCpuTime() {
  timespec time{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                      std::chrono::nanoseconds(time.tv_nsec));
}

core::Result<Prepared> Prepare(const seal::ZygoteStart& start, const InterpreterOptions& options) {
  if (core::Result<void> done = StartInterpreter(options); !done) return done.error();
  if (core::Result<void> done = InstallDenialHandler(); !done) return done.error();
  if (core::Result<void> done = CheckSingleThreaded(); !done) return done.error();
  FreezeInterpreter();
  Prepared prepared;
  if (!start.single_run) PrepareClones(start.huge_pages, prepared);
  // Until here a failing interpreter could report to the host; no worker may inherit that file.
  if (dup2(STDIN_FILENO, STDERR_FILENO) < 0) return core::SystemError("close standard error");
  core::Result<seal::PreparedSeal> seal = seal::SealZygote(start.plan, StandardLibraryPath());
  if (!seal) return seal.error();
  prepared.seal = std::move(*seal);
  prepared.seal.base_address_space += start.layout.size();
  if (start.single_run) prepared.seal.base_cpu = OwnCpuTime();
  return prepared;
}

// The zygote's own stack may grow far (workers/zygote_process.cc), and glibc would give each
// further thread, of a program without the language policy, as much.
void UseOrdinaryThreadStacks() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, kThreadStack) == 0) {
    (void)pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

int RunZygote(core::UniqueFd control) {
  unsetenv("LD_BIND_NOW");  // core/wire.h. NOLINT(concurrency-mt-unsafe): of one thread
  UseOrdinaryThreadStacks();
  core::Result<seal::ZygoteStart> start = ReceiveStart<seal::ZygoteStart>(control.get());
  if (!start) return AnswerStart(control.get(), start.error()) ? 0 : 1;
  const InterpreterOptions options = InterpreterOf(*start);
  const core::Result<Prepared> prepared = Prepare(*start, options);
  const core::Result<void> is_ready = prepared ? core::Result<void>() : prepared.error();
  if (!AnswerStart(control.get(), is_ready)) return 1;
  const auto become = [&](SpawnOrder order) {
    const WorkerStart worker{{start->plan, prepared->seal, start->layout},
                             !start->single_run,
                             options.loads_all_modules()};
    if (order.kind == core::SpawnMessage::kSession) RunSessionInit(worker, std::move(order));
    RunWorker(worker, std::move(order));
  };
  const Spawning spawning{start->single_run, true, become, BeforeClone, AfterCloneInZygote};
  return ServeSpawns(control.get(), start->plan, spawning) ? 0 : 1;
}

}  // namespace belljar::inside
