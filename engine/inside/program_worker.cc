#include "engine/inside/program_worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/flat.h"
#include "engine/core/program_messages.h"
#include "engine/core/text.h"
#include "engine/inside/capture.h"
#include "engine/inside/child_processes.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/program_init.h"
#include "engine/inside/program_session.h"
#include "engine/inside/shown_files.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr char kBinary[] = "/tmp/program";

std::vector<std::string> Filled(const std::vector<std::string>& command, const std::string& file) {
  std::vector<std::string> filled;
  for (std::string word : command) {
    core::FillIn(word, "{file}", file);
    core::FillIn(word, "{binary}", kBinary);
    filled.push_back(std::move(word));
  }
  return filled;
}

// An interpreter that waits for the program that it is to run (core::ProgramRule::warm).
class WarmStart {
 public:
  // Blocks until it waits, or has ended.
  void Begin(const std::vector<std::string>& command, const std::vector<std::string>& environment,
             ProgramInit& init) {
    std::optional<Dialogue> started = init.StartDialogue(command, environment);
    if (!started) return;
    char waits = 0;
    if (read(started->answers.get(), &waits, 1) == 1) {
      request_ = std::move(started->requests);
      answers_ = std::move(started->answers);
    } else {
      init.Abandon();
    }
  }

  bool waits() const { return static_cast<bool>(request_); }

  // Only while it waits. Until the program has ended.
  core::ProgramEnd Run(const core::ProgramRequest& request, std::string_view input,
                       ProgramInit& init) {
    (void)core::WriteBytes(request_.get(), request.warm);  // if it has ended, Finish will say so
    request_.Reset();
    const uint64_t max = core::MaxAnswer(request.max_result);
    const auto receive = [&] {
      (void)Receive(max);
      return end_ != "\n\n";
    };
    const core::ProgramEnd end = init.Finish(input, answers_, receive);
    // Another process may still hold the pipe open.
    (void)fcntl(answers_.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
    while (answers_ && Receive(max)) continue;
    return end;
  }

  // What the interpreter has written about a program that has ended.
  const std::string& answer() const { return answer_; }

  void Abandon(ProgramInit& init) {
    if (!request_) return;
    request_.Reset();
    answers_.Reset();
    init.Abandon();
  }

 private:
  // False: there is no more at the moment. What is longer than `max` is malformed once it is cut.
  bool Receive(uint64_t max) {
    std::array<char, 4096> piece{};
    const ssize_t size = read(answers_.get(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return errno == EINTR;
    if (size <= 0) {
      answers_.Reset();
      return true;
    }
    const std::string_view bytes(piece.data(), static_cast<size_t>(size));
    if (answer_.size() <= max) answer_ += bytes;
    end_ += bytes;
    end_.erase(0, end_.size() - std::min(end_.size(), size_t{2}));
    return true;
  }

  core::UniqueFd request_;
  core::UniqueFd answers_;
  std::string answer_;
  std::string end_;  // of all that has been written
};

// Usage of all processes that have ended: more exact than what the host sees from outside.
struct ChildUsage {
  uint64_t cpu_microseconds = 0;
  uint64_t max_rss_bytes = 0;  // the most that one of them had
};

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
    if (start_.starts_ahead && !program_.warm.empty())
      warm_.Begin(program_.warm, program_.environment, init_);
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
    std::vector<std::string> environment = program_.environment;
    environment.insert(environment.end(), request.environment.begin(), request.environment.end());
    // What its environment says has been read already, and its limits are the highest ones.
    const bool is_its_own = !request.environment.empty() ||
                            received.header.file_size_limit < start_.plan.ceiling.file_size.count;
    if (is_its_own) warm_.Abandon(init_);
    if (!warm_.waits() && program_.reports_value) warm_.Begin(program_.warm, environment, init_);
    if (warm_.waits()) return ReportOn(warm_.Run(request, input, init_), request);
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
    core::ProgramReport report{.end = end, .value = warm_.answer()};
    if (!end.ok()) report.error = ReadErrorLines(start_.errors, init_.tail(), request.file);
    const uint64_t cpu = usage.cpu_microseconds + end.cpu_microseconds;
    report.cpu_microseconds = cpu - std::min(cpu, before_.cpu_microseconds);
    if (usage.max_rss_bytes > before_.max_rss_bytes) {
      report.end.max_rss_bytes = std::max(end.max_rss_bytes, usage.max_rss_bytes);
    }
    TakeShownFiles(program_.shows, report);
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

void RunProgramWorker(const ProgramStart& start, SpawnOrder order) {
  // Adopts orphans among its descendants, as the first process of a namespace does anyway. gVisor
  // of 2022 lacks this (EINVAL): there the first process of the container adopts them.
  if (getpid() != kFirst && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL)
    FailSeal(order.socket.get(), seal::SealStep::kProcesses, errno);
  SealedWorker sealed = SealThisWorker(start, order);
  const core::UniqueFd socket = std::move(order.socket);
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
