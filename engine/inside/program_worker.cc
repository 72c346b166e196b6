#include "engine/inside/program_worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/flat.h"
#include "engine/core/program_messages.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/program_init.h"
#include "engine/inside/program_session.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr char kBinary[] = "/tmp/program";

std::vector<std::string> Filled(const std::vector<std::string>& command, const std::string& file) {
  std::vector<std::string> filled;
  for (std::string word : command) {
    for (const auto& [name, value] :
         {std::pair<std::string_view, std::string_view>{"{file}", file}, {"{binary}", kBinary}}) {
      if (const size_t at = word.find(name); at != word.npos) word.replace(at, name.size(), value);
    }
    filled.push_back(std::move(word));
  }
  return filled;
}

// The program that is started ahead of its request, if the language has one.
class WarmStart {
 public:
  // Blocks until it waits for its request, or has ended.
  void Begin(const core::ProgramRule& program, ProgramInit& init) {
    if (program.warm.empty()) return;
    std::optional<Dialogue> started = init.StartDialogue(program.warm, program.environment);
    if (!started) return;
    char waits = 0;
    if (read(started->answers.get(), &waits, 1) == 1) {
      request_ = std::move(started->requests);
    } else {
      init.Abandon();
    }
  }

  // Whether the program is now running in it, for ProgramInit::Finish.
  bool Take(const core::ProgramRequest& request, ProgramInit& init) {
    if (!request_) return false;
    // What its environment says has been read already.
    if (!request.environment.empty()) {
      Abandon(init);
      return false;
    }
    (void)core::WriteBytes(request_.get(), request.warm);  // if it has ended, Finish will say so
    request_.Reset();
    return true;
  }

  void Abandon(ProgramInit& init) {
    if (!request_) return;
    request_.Reset();
    init.Abandon();
  }

 private:
  core::UniqueFd request_;
};

// Of all processes that have ended, which is more exact than what the host sees from outside.
struct ChildUsage {
  uint64_t cpu_microseconds = 0;
  uint64_t max_rss_bytes = 0;  // the most that one of them had
};

uint64_t Microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

ChildUsage UsageOfChildren() {
  rusage usage{};
  (void)getrusage(RUSAGE_CHILDREN, &usage);
  return {Microseconds(usage.ru_utime) + Microseconds(usage.ru_stime),
          static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

// `compiles`: to those of the compiler, whose binary may be larger than the files that its program
// may write.
bool LowerLimits(const ProgramStart& start, const core::RequestHeader& header, bool compiles) {
  if (start.plan.without_rlimits) return true;
  core::Limits limits = start.plan.ceiling;
  limits.memory.count = compiles ? header.compile_memory_limit : header.memory_limit;
  limits.cpu =
      std::chrono::seconds(compiles ? header.compile_cpu_limit_seconds : header.cpu_limit_seconds);
  if (!compiles) limits.file_size.count = header.file_size_limit;
  return seal::ApplyProgramRlimits(limits);
}

// One request, with what is started ahead of it.
class Runner {
 public:
  explicit Runner(const ProgramStart& start) : start_(start), program_(start.program) {}

  bool Begin() {
    if (!init_.Begin()) return false;
    warm_.Begin(program_, init_);
    return true;
  }

  // For a session instead of Execute.
  ProgramInit& WithoutWarmStart() {
    warm_.Abandon(init_);
    return init_;
  }

  core::ProgramReport Execute(const ReceivedRequest& received) {
    const core::ProgramRequest request = ProgramRequestIn(received);
    const std::string_view input =
        received.standard_input ? *received.standard_input : std::string_view();
    before_.cpu_microseconds = init_.CpuMicroseconds();
    if (warm_.Take(request, init_)) return ReportOn(init_.Finish(input), request);
    std::vector<std::string> environment = program_.environment;
    environment.insert(environment.end(), request.environment.begin(), request.environment.end());
    if (!program_.compile.empty()) {
      const core::ProgramEnd compiled = Compile(request, environment);
      if (!compiled.ok()) {
        core::ProgramReport report = ReportOn(compiled, request);
        report.is_compiler = true;
        return report;
      }
      if (!LowerLimits(start_, received.header, false)) _exit(kReportFailed);
    }
    std::vector<std::string> command = Filled(program_.command, request.file);
    command.insert(command.end(), request.arguments.begin(), request.arguments.end());
    return ReportOn(init_.Run(command, environment, input), request);
  }

 private:
  core::ProgramReport ReportOn(const core::ProgramEnd& end,
                               const core::ProgramRequest& request) const {
    const ChildUsage usage = UsageOfChildren();
    core::ProgramReport report{.end = end};
    if (!end.ok()) report.error = ReadErrorLines(start_.errors, init_.tail(), request.file);
    report.cpu_microseconds =
        usage.cpu_microseconds - std::min(usage.cpu_microseconds, before_.cpu_microseconds);
    if (usage.max_rss_bytes > before_.max_rss_bytes) report.end.max_rss_bytes = usage.max_rss_bytes;
    return report;
  }

  core::ProgramEnd Compile(const core::ProgramRequest& request,
                           const std::vector<std::string>& environment) {
    RecordCompiling();
    const auto began = std::chrono::steady_clock::now();
    const ChildUsage unused = UsageOfChildren();
    const core::ProgramEnd end = init_.Run(Filled(program_.compile, request.file), environment, {});
    if (!end.ok()) return end;
    const auto wall = std::chrono::steady_clock::now() - began;
    const ChildUsage used = UsageOfChildren();
    before_.max_rss_bytes = used.max_rss_bytes;
    RecordCompiled(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(wall).count()),
        used.cpu_microseconds - unused.cpu_microseconds, used.max_rss_bytes);
    return end;
  }

  const ProgramStart& start_;
  const core::ProgramRule& program_;
  ProgramInit init_;
  WarmStart warm_;
  // What was used before the request (CPU time), and by the compiler (memory).
  ChildUsage before_;
};

}  // namespace

core::ProgramRequest ProgramRequestIn(const ReceivedRequest& received) {
  core::Result<core::ProgramRequest> request =
      core::FromFlat<core::ProgramRequest>("request", received.metadata);
  if (!request) _exit(kUnused);
  return std::move(*request);
}

void RunProgramWorker(const ProgramStart& start, core::UniqueFd socket,
                      core::UniqueFd capture_memory) {
  // Of what it starts; the first process of a namespace is it anyway. gVisor of 2022 has no such
  // thing (EINVAL): there the first process of the container is it.
  if (getpid() != kFirst && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL)
    FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  SealedWorker sealed = SealThisWorker(start, socket.get(), std::move(capture_memory));
  Runner runner(start);
  if (!runner.Begin()) FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  SignalSealed(socket.get(), sealed.self_report, std::move(sealed.resources));
  if (IsOrderNext(socket.get())) {
    ServeProgramSession(start, runner.WithoutWarmStart(), socket.get());
  }
  const ReceivedRequest request = ReceiveRequest(socket.get());
  if (!LowerLimits(start, request.header, !start.program.compile.empty())) {
    FailSeal(socket.get(), seal::SealStep::kRlimits, errno);
  }
  SetOutputLimit(request.header.output_limit);
  Report(socket.get(), core::ToFlat(runner.Execute(request)));
  AwaitEnd(socket.get());
}

}  // namespace belljar::inside
