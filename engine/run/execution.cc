#include "engine/run/execution.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/core/program_messages.h"
#include "engine/core/wire.h"
#include "engine/run/function_calls.h"
#include "engine/run/places.h"
#include "engine/run/program_report.h"
#include "engine/run/report.h"
#include "engine/workers/child_reaper.h"
#include "engine/workers/observe.h"
#include "engine/workers/process_tree.h"
#include "engine/workspace/workspace.h"

namespace belljar::run {
namespace {

constexpr std::chrono::milliseconds kStreamInterval{20};
// A process cannot fill much memory in that time, and looking takes a few microseconds for each.
constexpr std::chrono::milliseconds kMemoryInterval{20};
constexpr std::chrono::milliseconds kInterruptInterval{100};
// For a worker to say where its program is. It takes microseconds of a processor, for which it may
// have to wait.
constexpr std::chrono::milliseconds kPlacesGrace{250};
// In addition to the result itself: traceback, findings, variables.
constexpr uint64_t kReportOverhead = 512 * 1024;

// How long a run cannot take to use `left` of CPU time, whatever threads it has.
std::chrono::microseconds SoonestUse(std::chrono::microseconds left) {
  static const auto processors = std::max(1u, std::thread::hardware_concurrency());
  return std::max<std::chrono::microseconds>(left / processors, std::chrono::milliseconds(1));
}

void SetHostileCall(host::Outcome& outcome) {
  outcome.security_events.push_back({"seccomp", "killed", "a system call on the hostile list", 1});
  host::SetKilled(outcome, host::KillCause::kSystemCall, "killed for a hostile system call");
}

uint64_t MaxReport(const host::Request& request) {
  return request.limits.result.count + kReportOverhead;
}

const char* ModeName(const host::Request& request, const Question* question) {
  if (!question) return request.mode == host::Request::Mode::kRun ? "run" : "validate";
  switch (question->kind) {
    case Question::Kind::kComplete: return "complete";
    case Question::Kind::kInspect: return "inspect";
    case Question::Kind::kVariables: break;
  }
  return "variables";
}

std::string Metadata(const host::Request& request, const Question* question,
                     std::string_view policy) {
  nlohmann::json json = {
      {"mode", ModeName(request, question)},
      {"policy", policy},
      {"filename", request.filename},
      {"allowed_imports", nullptr},
      {"max_source", request.limits.source.count},
      {"max_result", request.limits.result.count},
      {"max_report", MaxReport(request)},
      {"analysis", request.wants_analysis},
      {"comments", request.wants_comments},
      {"exact_types", request.exact_types},
  };
  if (question && question->cursor) json["cursor"] = *question->cursor;
  if (request.allowed_imports) json["allowed_imports"] = *request.allowed_imports;
  if (!request.arguments.empty()) json["arguments"] = request.arguments;
  if (!request.environment.empty()) json["environment"] = request.environment;
  if (!request.functions.empty()) json["functions"] = request.functions;
  if (!request.files.empty()) json["files"] = true;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The request's files, as modules (core/wire.h).
std::string ModulesText(const host::Request& request) {
  std::string text;
  for (const host::InputFile& file : request.files) {
    const core::FileHeader header{file.path.size(), file.content.size()};
    text += core::AsBytes(header);
    text += file.path;
    text += file.content;
  }
  return text;
}

// Names have been checked (Sandbox::Run), and the values are JSON already.
std::string InputsText(const host::Request& request) {
  if (request.inputs.empty()) return "";
  std::string text;
  for (const host::InputVariable& input : request.inputs) {
    text += text.empty() ? "{\"" : ",\"";
    text += input.name + "\":" + input.json;
  }
  return text + "}";
}

}  // namespace

Execution::Execution(workers::Worker worker, const host::Request& request,
                     const RunOptions& options, std::string_view policy)
    : worker_(std::move(worker)),
      request_(request),
      options_(options),
      policy_(policy),
      channel_(worker_.socket.get(), request, options.call, is_cell(), worker_.may_start_over),
      interrupts_(options.interrupted),
      limits_(request.limits) {}

void Execution::StartClock() {
  start_ = core::Clock::now();
  if (worker_.compiles) {
    is_compiling_ = true;
    limits_.timeout = limits_.cpu = CompileTime();
    limits_.memory = CompileMemory();
  }
  deadline_ = start_ + limits_.timeout;
  cpu_check_ = start_ + SoonestUse(limits_.cpu);
  if (worker_.runs_programs) memory_check_ = start_ + kMemoryInterval;
  next_stream_ = start_ + kStreamInterval;
}

std::chrono::milliseconds Execution::CompileTime() const {
  return request_.compile_time.value_or(std::max(worker_.compiles->time, request_.limits.timeout));
}

core::Bytes Execution::CompileMemory() const {
  return {std::max(worker_.compiles->memory.count, request_.limits.memory.count)};
}

// From then on the limits of the request hold. The worker only says when: a hostile one gains what
// its compiler might have used.
void Execution::NoteCompiled() {
  const std::optional<host::Compilation> compiled =
      is_compiling_ ? worker_.capture.Compiled() : std::nullopt;
  if (!compiled) return;
  is_compiling_ = false;
  compilation_ = *compiled;
  host::Usage& usage = compilation_.usage;
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(core::Clock::now() - start_);
  usage.wall_time = std::min(usage.wall_time, since);
  usage.cpu_time = std::min<std::chrono::microseconds>(usage.cpu_time, limits_.cpu);
  usage.max_rss_bytes = std::max(std::min(usage.max_rss_bytes, limits_.memory.count), peak_memory_);
  peak_memory_ = 0;
  limits_ = request_.limits;
  deadline_ = start_ + usage.wall_time + limits_.timeout;
  cpu_check_ = core::Clock::now();
}

// After the rest of the outcome.
void Execution::AddCompilation(host::Outcome& outcome) const {
  if (!worker_.compiles) return;
  host::Compilation& made = outcome.compilation.emplace(compilation_);
  made.failed = is_compiling_;
  const uint64_t standard_output = outcome.stdout_stream.text.size();
  const uint64_t standard_error = outcome.stderr_stream.text.size();
  if (made.failed) {
    made.usage = outcome.usage;
    made.stdout_bytes = standard_output;
    made.stderr_bytes = standard_error;
    return;
  }
  made.stdout_bytes = std::min(made.stdout_bytes, standard_output);
  made.stderr_bytes = std::min(made.stderr_bytes, standard_error);
  host::Usage& total = outcome.usage;
  made.of_program = {total.wall_time - std::min(total.wall_time, made.usage.wall_time),
                     total.cpu_time - std::min(total.cpu_time, made.usage.cpu_time),
                     total.max_rss_bytes};
  total.max_rss_bytes = std::max(total.max_rss_bytes, made.usage.max_rss_bytes);
}

void Execution::ServeEgress(egress::EgressService& service, core::UniqueFd listener,
                            std::optional<egress::AllowList> narrower) {
  egress_.emplace(service, std::move(listener), std::move(narrower));
}

core::Result<host::Outcome> Execution::Run() {
  if (is_cell()) {
    worker_.capture.Clear();
  } else if (worker_.resources.workspace.get() < 0 ||
             request_.mode == host::Request::Mode::kValidate) {
    SendModules();
  } else if (core::Result<void> put =
                 workspace::PutFiles(worker_.resources.workspace.get(), request_.files);
             !put) {
    return put.error();
  }
  StartClock();
  if (core::Result<void> sent = SendRequest(); !sent) return sent.error();
  core::Result<End> end = Watch();
  if (!end) return end.error();
  if (*end == End::kStartOver) {
    return core::WithCause(
        core::Cause::kStartOver,
        core::MakeError("run with some modules only", "the program needs another one"));
  }
  return Collect(*end);
}

core::Result<void> Execution::SendRequest() {
  const std::string metadata =
      worker_.runs_programs ? ProgramMetadata(request_) : Metadata(request_, question_, policy_);
  const std::string inputs = InputsText(request_);
  const std::string modules = sends_modules_ ? ModulesText(request_) : std::string();
  core::RequestHeader header;
  header.metadata_size = static_cast<uint32_t>(metadata.size());
  header.inputs_size = inputs.size();
  header.modules_size = modules.size();
  header.source_size = request_.source.size();
  header.stdin_size = request_.standard_input ? request_.standard_input->size() + 1 : 0;
  header.memory_limit = request_.limits.memory.count;
  header.output_limit = request_.limits.output.count;
  header.file_size_limit = request_.limits.file_size.count;
  header.cpu_limit_seconds =
      static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(request_.limits.cpu).count());
  if (worker_.compiles) {
    header.compile_memory_limit = CompileMemory().count;
    // Not lower than the program's, since limits can only be lowered.
    header.compile_cpu_limit_seconds = std::max(
        header.cpu_limit_seconds,
        static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(CompileTime()).count()));
  }
  core::SessionOrder order;
  if (question_) order.kind = core::SessionOrder::kAsk;
  const std::string_view parts[] = {
      is_cell() ? core::AsBytes(order) : std::string_view(),
      core::AsBytes(header),
      metadata,
      inputs,
      modules,
      request_.source,
      request_.standard_input ? std::string_view(*request_.standard_input) : std::string_view()};
  core::Result<void> sent = core::SendAll(worker_.socket.get(), parts, deadline_);
  if (!sent) return core::MakeError("send request", "the worker died: " + sent.error().ToString());
  return sent;
}

core::Deadline Execution::NextCheck() const {
  const core::Deadline next =
      std::min({deadline_, cpu_check_, memory_check_, kill_at_, interrupt_at_, interrupts_.next()});
  return options_.sink ? std::min(next, next_stream_) : next;
}

std::optional<Execution::End> Execution::ReceiveEvent() {
  switch (channel_.Move()) {
    case WorkerChannel::Message::kNothing: return std::nullopt;
    case WorkerChannel::Message::kDone: return End::kReported;
    case WorkerChannel::Message::kStartOver: return End::kStartOver;
    case WorkerChannel::Message::kMalformed: return End::kMalformed;
    // Treated as a death: Collect kills the worker.
    case WorkerChannel::Message::kEnd: return End::kDied;
    case WorkerChannel::Message::kCall: break;
  }
  Stream();  // output printed before the call comes before the call's effects
  // The worker only waits for its answer. If an attacker has taken it over, it might not wait while
  // the clock and the CPU time are not checked.
  worker_.process.Pause();
  const bool stops_clock = FunctionCalls::StopsClock(channel_.CalledName(), is_cell());
  const core::Deadline asked = core::Clock::now();
  if (Allowance* const left = options_.allowance) {
    left->time = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - asked);
    left->cpu = request_.limits.cpu - OfRun(worker_.process.CpuTime());
    cpu_check_ = asked;  // what the call uses may be all that is left
  }
  const bool is_answered = channel_.Answer();
  if (stops_clock) {
    const auto waited = core::Clock::now() - asked;
    for (core::Deadline* each : {&start_, &deadline_, &cpu_check_}) *each += waited;
  }
  worker_.process.Resume();
  // The function may have taken any amount of time, and may have been interrupted itself.
  interrupts_.CheckSoon();
  return is_answered ? std::nullopt : std::optional(End::kMalformed);
}

// True: the worker is to be killed now.
bool Execution::Cancel() {
  if (!is_cell()) return true;
  if (kill_at_ == core::Deadline::max()) {
    interrupt_at_ = core::Clock::now();
    kill_at_ = interrupt_at_ + options_.interrupt_grace;
  }
  return false;
}

core::Result<Execution::End> Execution::Watch() {
  pollfd watched[] = {{worker_.socket.get(), POLLIN, 0},
                      {worker_.process.ended_fd(), POLLIN, 0},
                      {options_.cancel_fd, POLLIN, 0},
                      {options_.interrupt_fd, POLLIN, 0},
                      {options_.kill_fd, POLLIN, 0}};
  for (;;) {
    watched[0].events = channel_.events();
    const int ready = poll(watched, std::size(watched), core::PollTimeout(NextCheck()));
    if (ready < 0 && errno != EINTR) return core::SystemError("watch a worker");
    if (ready < 0) interrupts_.CheckSoon();
    if (ready > 0) {
      if (watched[0].revents) {
        if (const std::optional<End> end = ReceiveEvent()) return *end;
      }
      if (watched[4].revents) return End::kCancelled;
      for (pollfd* const cancelled : {&watched[2], &watched[3]}) {
        if (!cancelled->revents) continue;
        if (Cancel()) return End::kCancelled;
        cancelled->fd = -1;
      }
      if (watched[1].revents) return End::kDied;
    }
    NoteCompiled();
    const core::Deadline now = core::Clock::now();
    // Repeated: an interrupt that comes before the program's own code has begun is ignored.
    if (now >= interrupt_at_) {
      worker_.process.Interrupt();
      interrupt_at_ = now + kInterruptInterval;
    }
    if (now >= deadline_) return End::kTimeout;
    if (now >= kill_at_ || (interrupts_.Interrupted() && Cancel())) return End::kCancelled;
    if (const std::optional<End> end = CheckUsage(now)) return *end;
    if (options_.sink && now >= next_stream_) {
      Stream();
      next_stream_ = now + kStreamInterval;
    }
  }
}

std::optional<Execution::End> Execution::CheckUsage(core::Deadline now) {
  if (now >= memory_check_) {
    peak_memory_ = std::max(peak_memory_, MemoryOfPrograms());
    if (peak_memory_ > limits_.memory.count) return End::kMemoryLimit;
    memory_check_ = now + kMemoryInterval;
  }
  if (now < cpu_check_) return std::nullopt;
  const auto left = limits_.cpu + compilation_.usage.cpu_time - CpuTime();
  if (left <= left.zero()) return End::kCpuLimit;
  cpu_check_ = now + SoonestUse(left);
  return std::nullopt;
}

// Counted closely only where it matters, and twice: a process that ends meanwhile leaves the pages
// that it shared to those which are looked at later, and they count them a second time.
uint64_t Execution::MemoryOfPrograms() const {
  const pid_t root = worker_.root_of_programs();
  const uint64_t at_most = workers::UsageOfTree(root).memory;
  if (at_most <= peak_memory_) return at_most;
  const uint64_t memory = workers::MemoryOfTree(root);
  return memory <= peak_memory_ ? memory : std::min(memory, workers::MemoryOfTree(root));
}

std::chrono::microseconds Execution::CpuTime() const { return OfRun(worker_.CpuTime()); }

// The CPU time of the run itself, and of what its calls have used.
std::chrono::microseconds Execution::OfRun(std::chrono::microseconds cpu_time) const {
  const auto own = std::max(cpu_time - worker_.cpu_before, std::chrono::microseconds(0));
  return options_.allowance ? own + options_.allowance->used : own;
}

void Execution::Stream() {
  if (!options_.sink) return;
  const uint64_t limit = request_.limits.output.count;
  const std::string out = worker_.capture.StdoutSince(streamed_stdout_, limit);
  streamed_stdout_ += out.size();
  if (!out.empty() && options_.sink->on_stdout) options_.sink->on_stdout(out);
  const std::string err = worker_.capture.StderrSince(streamed_stderr_, limit);
  streamed_stderr_ += err.size();
  if (!err.empty() && options_.sink->on_stderr) options_.sink->on_stderr(err);
}

// The line at which the program was helps whoever wrote it. One that blocks the signal (no one can
// replace its handler) is not waited for.
void Execution::AskForPlaces() {
  if (workers::BlocksSignal(worker_.status_fd.get(), core::PlacesSignal())) return;
  worker_.process.Signal(core::PlacesSignal());
  pollfd ended{worker_.process.ended_fd(), POLLIN, 0};
  const core::Deadline until = core::Clock::now() + kPlacesGrace;
  while (poll(&ended, 1, core::PollTimeout(until)) < 0 && errno == EINTR) continue;
}

core::Result<host::Outcome> Execution::Collect(End end) {
  NoteCompiled();
  // The wall time excludes the kill.
  const auto wall_time = core::Clock::now() - start_;
  host::Outcome outcome;
  CloseEgress(outcome);
  outcome.limits = request_.limits;
  outcome.isolation.layers = is_cell() ? worker_.layers : std::move(worker_.layers);
  const bool reported = end == End::kReported && ReadReported(outcome);
  outcome.usage.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(wall_time);
  reported_ = reported;
  if (reported && worker_.runs_programs && is_cell()) {
    peak_memory_ = std::max(peak_memory_, MemoryOfPrograms());
  }
  if (reported) {
    // The guest no longer runs: what the kernel has counted so far is final.
    outcome.usage.cpu_time = std::max(CpuTime(), ReportedByPrograms(outcome.usage.cpu_time));
    outcome.usage.max_rss_bytes =
        std::max({peak_memory_, workers::MaxRss(worker_.status_fd.get()),
                  std::min(ReportedByPrograms(outcome.usage.max_rss_bytes), limits_.memory.count)});
    // The worker is killed when it is retired, off the caller's path.
    CollectOutput(outcome);
    CollectFiles(outcome);
    AddCompilation(outcome);
    if (worker_.runs_programs && outcome.kill_signal == SIGSYS) SetHostileCall(outcome);
    return outcome;
  }
  const bool stopped = end == End::kTimeout || end == End::kCpuLimit || end == End::kCancelled;
  const bool has_places = stopped && !worker_.runs_programs;
  if (has_places) AskForPlaces();
  // The kernel adds up what has been waited for, and nobody will wait for what is killed now.
  const auto of_programs = ReportedByPrograms(CpuTime());
  worker_.process.Kill();
  if (worker_.owns_pid_namespace) workers::KillAllOthers();
  core::ExitReport exit = worker_.process.Wait();
  // Killed by its parent-death signal: the guest cannot end that process, so this is not an outcome
  // of the guest. A decision that the host made before (a timeout, a cancellation) stands.
  if (end == End::kDied && exit.reaper_ended) return workers::ParentEnded("run a program");
  exit.cpu_time = std::max(OfRun(exit.cpu_time), of_programs);
  outcome.usage.cpu_time = exit.cpu_time;
  outcome.usage.max_rss_bytes = std::max(peak_memory_, exit.max_rss_bytes);
  CollectOutput(outcome);
  CollectFiles(outcome);
  AddCompilation(outcome);
  Explain(end, exit, outcome);
  if (has_places) AddPlaces(worker_.capture.Places(), request_, outcome);
  return outcome;
}

bool Execution::ReadReported(host::Outcome& outcome) const {
  if (worker_.runs_programs) {
    const uint64_t size = core::MaxAnswer(request_.limits.result.count) + kReportOverhead;
    const bool read = ReadProgramReport(worker_.capture.Report(size), MaxReport(request_), outcome,
                                        worker_.capture.Artifacts());
    if (!is_cell()) outcome.session.reset();
    return read;
  }
  const std::string report = worker_.capture.Report(MaxReport(request_));
  if (question_ && ReadAnswer(report, outcome)) return true;
  return ReadReport(report, outcome, worker_.capture.Artifacts());
}

// Stops all traffic, whatever the worker still does.
void Execution::CloseEgress(host::Outcome& outcome) {
  if (!egress_) return;
  egress::EgressRecord record = egress_->Close();
  outcome.network = std::move(record.events);
  outcome.network_left_out = record.left_out;
}

void Execution::CollectOutput(host::Outcome& outcome) {
  if (options_.sink_gets_the_rest) Stream();
  const uint64_t limit = request_.limits.output.count;
  outcome.stdout_stream = {worker_.capture.StdoutSince(0, limit), worker_.capture.StdoutDropped()};
  outcome.stderr_stream = {worker_.capture.StderrSince(0, limit), worker_.capture.StderrDropped()};
  outcome.security_events = worker_.capture.DeniedSyscalls();
}

// Stopping what a program has left is faster than ending it: the kernel takes longer to take back
// the memory of an interpreter than a short program runs.
bool Execution::Rests() {
  constexpr std::chrono::milliseconds kMaxWait{2};
  if (!worker_.runs_programs) return false;
  worker_.process.Pause();
  return workers::AwaitRest(worker_.process.pid(), core::Clock::now() + kMaxWait);
}

void Execution::CollectFiles(host::Outcome& outcome) {
  const int workspace = is_cell() ? -1 : worker_.resources.workspace.get();
  // Refused and validate-only code did not run.
  const bool ran =
      request_.mode == host::Request::Mode::kRun && outcome.status != host::Status::kRefused;
  if (workspace >= 0 && ran && !workspace::IsEmptyWorkspace(workspace)) {
    // Only the worker itself says that it is done. It is stopped, so that nothing changes what is
    // read here.
    if (worker_.owns_pid_namespace) {
      workers::KillAllOthers();
    } else if (!Rests()) {
      worker_.process.Stop();
    }
    workspace::CollectArtifacts(workspace, request_, outcome);
  }
  host::MarkInline(outcome);
}

void Execution::Explain(End end, const core::ExitReport& exit, host::Outcome& outcome) {
  const auto stopped = [&](host::Status status, const char* type, const std::string& after,
                           const char* hint) {
    host::SetStopped(outcome, status, type, "stopped " + after, hint);
  };
  const core::Limits& limits = limits_;
  const std::string step = is_compiling_ ? ", while it was compiled" : "";
  if (end == End::kTimeout) {
    return stopped(host::Status::kTimeout, "Timeout",
                   "after " + core::FormatDuration(limits.timeout) + " of wall time" + step,
                   "make the program do less, or raise the timeout");
  }
  const bool out_of_cpu = end == End::kCpuLimit || exit.signal == SIGXCPU ||
                          (exit.known && end == End::kDied && exit.signal == SIGKILL &&
                           exit.cpu_time >= limits.cpu + compilation_.usage.cpu_time);
  if (out_of_cpu) {
    return stopped(host::Status::kCpuLimit, "CpuLimit",
                   "after " + core::FormatDuration(limits.cpu) + " of CPU time" + step,
                   "make the program do less, or raise the CPU limit");
  }
  if (end == End::kCancelled)
    return host::SetKilled(outcome, host::KillCause::kCancelled, "cancelled");
  if (end == End::kMemoryLimit || worker_.capture.OutOfMemory()) {
    return stopped(host::Status::kMemoryLimit, "MemoryLimit",
                   "at " + limits.memory.ToString() + " of memory" + step,
                   "use less memory at a time, or raise the memory limit");
  }
  ExplainKill(end, exit, outcome);
}

void Execution::ExplainKill(End end, const core::ExitReport& exit, host::Outcome& outcome) {
  if (exit.signal == SIGSYS) return SetHostileCall(outcome);
  if (end == End::kReported) {
    return host::SetKilled(outcome, host::KillCause::kUnreadable,
                           "the worker's report was invalid");
  }
  if (end == End::kMalformed) {
    return host::SetKilled(outcome, host::KillCause::kUnreadable,
                           "the worker's channel sent a malformed message");
  }
  if (exit.exit_code >= 0) {
    return host::SetKilled(outcome, host::KillCause::kExit,
                           "the process exited with code " + std::to_string(exit.exit_code));
  }
  if (!exit.known) {
    return host::SetKilled(outcome, host::KillCause::kUnknown, "ended for an unknown reason");
  }
  const bool is_sigkill = exit.signal == SIGKILL;
  host::SetKilled(
      outcome, is_sigkill ? host::KillCause::kSigkill : host::KillCause::kSignal,
      "killed by " + host::SignalName(exit.signal),
      exit.signal == SIGSEGV
          ? "C code used memory that it may not: by a bug, or by recursion too deep for the C stack"
          : "");
  if (!is_sigkill) outcome.kill_signal = exit.signal;
}

}  // namespace belljar::run
