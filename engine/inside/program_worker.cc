#include "engine/inside/program_worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/mapping.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/program_init.h"
#include "engine/inside/program_report.h"
#include "engine/inside/program_session.h"
#include "engine/inside/shown_files.h"
#include "engine/seal/rlimits.h"

namespace belljar::inside {
namespace {

constexpr char kBinary[] = "/tmp/program";

// What the host says of a program.
struct Program {
  std::string file;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  size_t max_result = 0;
  size_t max_report = 0;
};

Program ReadMetadata(const std::string& metadata) {
  const nlohmann::json json = nlohmann::json::parse(metadata);
  Program program;
  json.at("filename").get_to(program.file);
  if (json.contains("arguments")) json.at("arguments").get_to(program.arguments);
  if (json.contains("environment")) json.at("environment").get_to(program.environment);
  json.at("max_result").get_to(program.max_result);
  json.at("max_report").get_to(program.max_report);
  return program;
}

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
  End Run(const Program& program, uint64_t memory, std::string_view input, ProgramInit& init) {
    const nlohmann::json json = {{"file", program.file},
                                 {"arguments", program.arguments},
                                 {"memory", memory},
                                 {"max_result", program.max_result}};
    const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    (void)core::WriteBytes(request_.get(), text);  // if it has ended, Finish will say so
    request_.Reset();
    const auto receive = [&] {
      (void)Receive(MaxAnswer(program.max_result));
      return end_ != "\n\n";
    };
    const End end = init.Finish(input, answers_, receive);
    // Another process may still hold the pipe open.
    (void)fcntl(answers_.get(), F_SETFL, O_RDONLY | O_NONBLOCK);
    while (answers_ && Receive(MaxAnswer(program.max_result))) continue;
    return end;
  }

  // What the interpreter has written about a program that has ended; nothing, if that is malformed.
  CellReport Answer() const {
    try {
      return answer_.empty() ? CellReport{} : ReadAnswer(answer_);
    } catch (const nlohmann::json::exception&) {
      return {};
    }
  }

  void Abandon(ProgramInit& init) {
    if (!request_) return;
    request_.Reset();
    answers_.Reset();
    init.Abandon();
  }

 private:
  // False: there is no more at the moment. What is longer than `max` is malformed once it is cut.
  bool Receive(size_t max) {
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

struct ProcessLimits {
  uint64_t memory = 0;
  uint64_t cpu_seconds = 0;
  uint64_t file_size = 0;
};
ProcessLimits LimitsOf(const core::RequestHeader& header) {
  return {header.memory_limit, header.cpu_limit_seconds, header.file_size_limit};
}
// A binary may be larger than the files that its program may write.
ProcessLimits CompileLimitsOf(const ProgramStart& start, const core::RequestHeader& header) {
  return {header.compile_memory_limit, header.compile_cpu_limit_seconds,
          start.plan.ceiling.file_size.count};
}

bool LowerLimits(const ProgramStart& start, const ProcessLimits& to) {
  if (start.plan.without_rlimits) return true;
  core::Limits limits = start.plan.ceiling;
  limits.memory.count = to.memory;
  limits.file_size.count = to.file_size;
  limits.cpu = std::chrono::seconds(to.cpu_seconds);
  return seal::ApplyProgramRlimits(limits);
}

// One request, with what is started ahead of it.
class Runner {
 public:
  explicit Runner(const ProgramStart& start) : start_(start), runner_(start.runner) {}

  bool Begin() {
    if (!init_.Begin()) return false;
    if (runner_.starts_ahead && !runner_.warm.empty())
      warm_.Begin(runner_.warm, runner_.environment, init_);
    return true;
  }

  // For a session instead of Execute.
  ProgramInit& WithoutWarmStart() {
    warm_.Abandon(init_);
    return init_;
  }

  std::string Execute(const ReceivedRequest& request) {
    const Program program = ReadMetadata(request.metadata);
    const std::string_view input =
        request.standard_input ? *request.standard_input : std::string_view();
    before_.cpu_microseconds = init_.CpuMicroseconds();
    std::vector<std::string> environment = runner_.environment;
    environment.insert(environment.end(), program.environment.begin(), program.environment.end());
    // What its environment says has been read already, and its limits are the highest ones.
    const bool is_its_own = !program.environment.empty() ||
                            request.header.file_size_limit < start_.plan.ceiling.file_size.count;
    if (is_its_own) warm_.Abandon(init_);
    if (!warm_.waits() && runner_.reports_value) warm_.Begin(runner_.warm, environment, init_);
    if (warm_.waits()) {
      const End end = warm_.Run(program, request.header.memory_limit, input, init_);
      return ReportOn(end, kExitStatus, program);
    }
    if (!runner_.compile.empty()) {
      const End compiled = Compile(program, environment);
      if (!compiled.ok()) return ReportOn(compiled, kCompileError, program);
      if (!LowerLimits(start_, LimitsOf(request.header))) _exit(kReportFailed);
    }
    std::vector<std::string> command = Filled(runner_.command, program.file);
    command.insert(command.end(), program.arguments.begin(), program.arguments.end());
    return ReportOn(init_.Run(command, environment, input), kExitStatus, program);
  }

 private:
  std::string ReportOn(const End& end, const char* type, const Program& program) const {
    const ProgramError error = ReadErrorLines(runner_.errors, init_.tail(), program.file);
    CellReport answer = warm_.Answer();
    answer.shown = TakeShownFiles(runner_.shows, answer.notes);
    return ReportOfProgram(end, type, error, before_, answer, program.max_report);
  }

  End Compile(const Program& program, const std::vector<std::string>& environment) {
    RecordCompiling();
    const auto began = std::chrono::steady_clock::now();
    const ChildUsage unused = UsageOfChildren();
    const End end = init_.Run(Filled(runner_.compile, program.file), environment, {});
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
  const ProgramRunner& runner_;
  ProgramInit init_;
  WarmStart warm_;
  ChildUsage before_;
};

}  // namespace

void RunProgramWorker(const ProgramStart& start, core::UniqueFd socket,
                      core::UniqueFd capture_memory) {
  core::Result<core::Mapping> region =
      core::Mapping::Map(capture_memory.get(), start.layout.size());
  if (!region) FailSeal(socket.get(), seal::SealStep::kCapture, region.error().error_number);
  SetCapture(std::move(*region), start.layout);
  // Of what it starts; the first process of a namespace is it anyway. gVisor of 2022 has no such
  // thing (EINVAL): there the first process of the container is it.
  if (getpid() != kFirst && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 && errno != EINVAL)
    FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  seal::WorkerResources resources;
  seal::SelfReport self_report = 0;
  const seal::SealFailure failure =
      seal::SealWorker(start.plan, start.prepared, socket.get(), resources, self_report);
  if (failure.step != seal::SealStep::kNone)
    FailSeal(socket.get(), failure.step, failure.error_number);
  (void)capture_memory.Release();  // closed by the seal
  Runner runner(start);
  if (!runner.Begin()) FailSeal(socket.get(), seal::SealStep::kProcesses, errno);
  SignalSealed(socket.get(), self_report, std::move(resources));
  if (IsOrderNext(socket.get())) {
    ServeProgramSession(start, runner.WithoutWarmStart(), socket.get());
  }
  const ReceivedRequest request = ReceiveRequest(socket.get());
  const ProcessLimits limits = start.runner.compile.empty()
                                   ? LimitsOf(request.header)
                                   : CompileLimitsOf(start, request.header);
  if (!LowerLimits(start, limits)) FailSeal(socket.get(), seal::SealStep::kRlimits, errno);
  SetOutputLimit(request.header.output_limit);
  Report(socket.get(), runner.Execute(request));
  AwaitEnd(socket.get());
}

}  // namespace belljar::inside
