#include "engine/inside/zygote.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/core/capture_layout.h"
#include "engine/core/process.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/denials.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/huge_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/inside/worker.h"
#include "engine/seal/namespaces.h"
#include "engine/seal/seal.h"

namespace belljar {
namespace {

constexpr size_t kMaxStartMessage = 64 << 20;

struct Start {
  InterpreterOptions interpreter;
  SealPlan plan;
  CaptureLayout layout;
  bool single_run = false;
};

Result<Start> ReceiveStart(int control) {
  Result<Message> message = ReceiveMessage(control, 64);
  if (!message) return message.error();
  if (message->descriptors.size() != 1) return MakeError("receive start", "no memory file");
  Result<std::string> text = ReadAll(message->descriptors[0].get(), kMaxStartMessage);
  if (!text) return text.error();
  try {
    const nlohmann::json json = nlohmann::json::parse(*text);
    Start start;
    json.at("interpreter").get_to(start.interpreter.program);
    json.at("package_paths").get_to(start.interpreter.package_paths);
    json.at("profile_packages").get_to(start.interpreter.profile_packages);
    json.at("missing_modules").get_to(start.interpreter.missing_modules);
    json.at("huge_pages").get_to(start.interpreter.huge_pages);
    json.at("profile").get_to(start.interpreter.profile);
    json.at("other_profiles").get_to(start.interpreter.other_profiles);
    json.at("single_run").get_to(start.single_run);
    json.at("capture_output").get_to(start.layout.output.count);
    json.at("capture_report").get_to(start.layout.report.count);
    json.at("capture_artifacts").get_to(start.layout.artifacts.count);
    start.interpreter.keeps_artifacts = start.layout.artifacts.count > 0;
    Result<SealPlan> plan = SealPlanFromJson(json.at("seal").get<std::string>());
    if (!plan) return plan.error();
    start.plan = std::move(*plan);
    return start;
  } catch (const nlohmann::json::exception& failure) {
    return MakeError("read start message", failure.what());
  }
}

// A second thread would be missing in every clone, with whatever lock it held.
Result<void> CheckSingleThreaded() {
  std::error_code code;
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task", code);
  if (code) return SystemErrorOf(code.value(), "list threads");
  if (std::distance(begin(tasks), end(tasks)) == 1) return {};
  return MakeError("prepare zygote", "a module of the profile started a thread");
}

// Of the 512 pages of a huge one, from how many hot ones on it is better not to have it. Measured
// with the data-science packages, where 1,170 hot pages are in 90 such parts of the heap: 12 and 24
// take the same processor time for a run, and 24 leaves less memory in every spare.
constexpr size_t kWorthPinning = 24;

// What a worker does before its request, seal and capture apart.
void RehearseWorker() { (void)(AfterCloneInWorker() && RehearseRequest()); }

struct Prepared {
  PreparedSeal seal;
  UniqueFd hot_pages;  // empty where they could not be pinned
};

// What makes clones cheap, and is worth nothing to a worker that is none.
void PrepareClones(const Start& start, Prepared& prepared) {
  const size_t least_together = start.interpreter.huge_pages ? kWorthPinning : 1;
  if (Result<UniqueFd> pinned = PinHotPages(RehearseWorker, least_together); pinned) {
    prepared.hot_pages = std::move(*pinned);
  }
  if (start.interpreter.huge_pages) CollapseIntoHugePages();
}

std::chrono::milliseconds OwnCpuTime() {
  timespec time{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                      std::chrono::nanoseconds(time.tv_nsec));
}

Result<Prepared> Prepare(const Start& start) {
  if (Result<void> done = StartInterpreter(start.interpreter); !done) return done.error();
  if (Result<void> done = InstallDenialHandler(); !done) return done.error();
  if (Result<void> done = CheckSingleThreaded(); !done) return done.error();
  FreezeInterpreter();
  Prepared prepared;
  if (!start.single_run) PrepareClones(start, prepared);
  // Until here a dying interpreter could tell the host why; no worker may inherit that file.
  if (dup2(STDIN_FILENO, STDERR_FILENO) < 0) return SystemError("close standard error");
  Result<PreparedSeal> seal = SealZygote(start.plan, StandardLibraryPath());
  if (!seal) return seal.error();
  prepared.seal = std::move(*seal);
  prepared.seal.base_address_space += start.layout.size();
  if (start.single_run) prepared.seal.base_cpu = OwnCpuTime();
  return prepared;
}

// Returns the child's pid, 0 in the child, or -1 with errno.
pid_t CloneWorker(const SealPlan& plan, int* pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PARENT | CLONE_PIDFD;
  if (plan.namespaces) {
    arguments.flags |= WorkerNamespaceFlags(plan.workspace.has_value(), plan.door.has_value());
  }
  arguments.pidfd = reinterpret_cast<uint64_t>(pidfd);
  // With CLONE_PARENT the exit signal must be 0: it is taken from the zygote's own.
  return CloneProcess(arguments);
}

// In the worker: never returns.
Result<void> Spawn(const Start& start, const PreparedSeal& prepared, int control, Message message) {
  int pidfd = -1;
  BeforeClone();
  const pid_t pid = CloneWorker(start.plan, &pidfd);
  if (pid == 0) {
    RunWorker({start.plan, prepared, start.layout}, std::move(message.descriptors[0]),
              std::move(message.descriptors[1]));
  }
  const int error_number = errno;
  AfterCloneInZygote();
  if (pid < 0) return SendMessage(control, AsBytes(SpawnReply{error_number, 0}));
  const UniqueFd owned(pidfd);
  const int descriptors[] = {pidfd};
  return SendMessage(control, AsBytes(SpawnReply{0, pid}), descriptors);
}

Result<void> Serve(const Start& start, const PreparedSeal& prepared, int control) {
  for (;;) {
    Result<Message> message = ReceiveMessage(control, sizeof(SpawnMessage));
    if (!message) return message.error();
    if (message->bytes.empty()) return {};
    if (message->bytes != AsBytes(SpawnMessage{}) || message->descriptors.size() != 2) {
      return MakeError("serve", "not a spawn message");
    }
    if (start.single_run) {
      RunWorker({start.plan, prepared, start.layout, false}, std::move(message->descriptors[0]),
                std::move(message->descriptors[1]));
    }
    if (Result<void> done = Spawn(start, prepared, control, std::move(*message)); !done) {
      return done;
    }
  }
}

}  // namespace

int RunZygote(UniqueFd control) {
  Result<Start> start = ReceiveStart(control.get());
  if (!start) {
    (void)SendMessage(control.get(), start.error().ToString()).ok();
    return 1;
  }
  Result<Prepared> prepared = Prepare(*start);
  if (!prepared) {
    const std::string why = prepared.error().ToString();
    (void)SendMessage(control.get(), std::string_view(why).substr(0, kMaxZygoteAnswer)).ok();
    return 1;
  }
  if (!SendMessage(control.get(), kZygoteReady)) return 1;
  return Serve(*start, prepared->seal, control.get()) ? 0 : 1;
}

}  // namespace belljar
