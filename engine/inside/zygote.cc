#include "engine/inside/zygote.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/core/capture_layout.h"
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

namespace belljar::inside {
namespace {

constexpr size_t kThreadStack = 8 << 20;

struct Start {
  InterpreterOptions interpreter;
  seal::SealPlan plan;
  core::CaptureLayout layout;
};

core::Result<Start> ReceiveStart(int control) {
  core::Result<std::vector<std::string>> texts = ReceiveStartTexts(control, 3);
  if (!texts) return texts.error();
  Start start;
  const std::string& text = (*texts)[0];
  start.interpreter.profile = std::move((*texts)[1]);
  start.interpreter.other_profiles = std::move((*texts)[2]);
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    json.at("interpreter").get_to(start.interpreter.program);
    json.at("package_paths").get_to(start.interpreter.package_paths);
    json.at("profile_packages").get_to(start.interpreter.profile_packages);
    json.at("missing_modules").get_to(start.interpreter.missing_modules);
    json.at("huge_pages").get_to(start.interpreter.huge_pages);
    json.at("single_run").get_to(start.interpreter.single_run);
    if (!start.interpreter.single_run) {
      // Without a record workers are only slower.
      core::Result<std::vector<HotBlock>> blocks =
          ReadHotBlocks(json.at("hot_blocks").get<std::string>(),
                        json.at("package_sets").get<std::vector<std::string>>());
      if (blocks) start.interpreter.hot_blocks = std::move(*blocks);
    }
    json.at("named_modules").get_to(start.interpreter.named_modules);
    json.at("capture_output").get_to(start.layout.output.count);
    json.at("capture_report").get_to(start.layout.report.count);
    json.at("capture_artifacts").get_to(start.layout.artifacts.count);
    start.interpreter.keeps_artifacts = start.layout.artifacts.count > 0;
    core::Result<seal::SealPlan> plan = seal::SealPlanFromJson(json.at("seal").get<std::string>());
    if (!plan) return plan.error();
    start.plan = std::move(*plan);
    return start;
  } catch (const nlohmann::json::exception& failure) {
    return core::MakeError("read start message", failure.what());
  }
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
void PrepareClones(const Start& start, Prepared& prepared) {
  const size_t least_together = start.interpreter.huge_pages ? kWorthPinning : 1;
  if (core::Result<core::UniqueFd> pinned = PinHotPages(RehearseWorker, least_together); pinned) {
    prepared.hot_pages = std::move(*pinned);
  }
  if (start.interpreter.huge_pages) CollapseIntoHugePages();
  (void)PrepareFilePages(RehearseMore, start.interpreter.huge_pages).ok();
  (void)FindWarmPages(RehearseMore).ok();
}

std::chrono::milliseconds OwnCpuTime() {
  timespec time{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                      std::chrono::nanoseconds(time.tv_nsec));
}

core::Result<Prepared> Prepare(const Start& start) {
  if (core::Result<void> done = StartInterpreter(start.interpreter); !done) return done.error();
  if (core::Result<void> done = InstallDenialHandler(); !done) return done.error();
  if (core::Result<void> done = CheckSingleThreaded(); !done) return done.error();
  FreezeInterpreter();
  Prepared prepared;
  if (!start.interpreter.single_run) PrepareClones(start, prepared);
  // Until here a failing interpreter could report to the host; no worker may inherit that file.
  if (dup2(STDIN_FILENO, STDERR_FILENO) < 0) return core::SystemError("close standard error");
  core::Result<seal::PreparedSeal> seal = seal::SealZygote(start.plan, StandardLibraryPath());
  if (!seal) return seal.error();
  prepared.seal = std::move(*seal);
  prepared.seal.base_address_space += start.layout.size();
  if (start.interpreter.single_run) prepared.seal.base_cpu = OwnCpuTime();
  return prepared;
}

// Does not return in the worker.
core::Result<void> SpawnWorker(const Start& start, const seal::PreparedSeal& prepared, int control,
                               core::SpawnMessage::Kind kind, core::Message message) {
  BeforeClone();
  const auto become_worker = [&] {
    core::Descriptors& given = message.descriptors;
    const WorkerStart worker{.plan = start.plan,
                             .prepared = prepared,
                             .layout = start.layout,
                             .has_all_modules = start.interpreter.loads_all_modules(),
                             .kind = kind};
    if (kind == core::SpawnMessage::kSession) {
      RunSessionInit(worker, std::move(given[2]), std::move(given[0]), std::move(given[1]));
    }
    RunWorker(worker, std::move(given[0]), std::move(given[1]));
  };
  return Spawn(start.plan, control, std::ref(become_worker), AfterCloneInZygote);
}

core::Result<void> Serve(const Start& start, const seal::PreparedSeal& prepared, int control) {
  for (;;) {
    core::Result<core::Message> message = core::ReceiveMessage(control, sizeof(core::SpawnMessage));
    if (!message) return message.error();
    if (message->bytes.empty()) return {};
    const std::optional<core::SpawnMessage::Kind> kind = SpawnKindOf(*message);
    if (!kind) return core::MakeError("serve", "not a spawn message");
    if (start.interpreter.single_run) {
      RunWorker({.plan = start.plan,
                 .prepared = prepared,
                 .layout = start.layout,
                 .cloned = false,
                 .has_all_modules = start.interpreter.loads_all_modules()},
                std::move(message->descriptors[0]), std::move(message->descriptors[1]));
    }
    if (core::Result<void> done = SpawnWorker(start, prepared, control, *kind, std::move(*message));
        !done) {
      return done;
    }
  }
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
  core::Result<Start> start = ReceiveStart(control.get());
  if (!start) return AnswerStart(control.get(), start.error()) ? 0 : 1;
  core::Result<Prepared> prepared = Prepare(*start);
  const core::Result<void> is_ready = prepared ? core::Result<void>() : prepared.error();
  if (!AnswerStart(control.get(), is_ready)) return 1;
  return Serve(*start, prepared->seal, control.get()) ? 0 : 1;
}

}  // namespace belljar::inside
