#include "server/compatible/sandbox_fusion/sandbox_fusion.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/host/base64.h"
#include "server/compatible/json_answer.h"

namespace belljar::server::compatible::sandbox_fusion {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxCells = 1000;
constexpr double kDefaultRunSeconds = 10;       // as in SandboxFusion, also to compile
constexpr double kDefaultNotebookSeconds = 45;  // likewise
constexpr double kMebi = 1 << 20;

// In the form in which FastAPI reports invalid values.
WebAnswer Unprocessable(const std::vector<Mistake>& mistakes) {
  Json detail = Json::array();
  for (const Mistake& mistake : mistakes) {
    Json place = {"body"};
    if (!mistake.field.empty()) place.push_back(mistake.field);
    detail.push_back({{"type", "value_error"}, {"loc", place}, {"msg", mistake.message}});
  }
  return JsonAnswer({{"detail", std::move(detail)}}, 422);
}

// 504, since the reward functions that call this API retry only that status: any other would cost
// the program its score.
WebAnswer Overloaded(const CallQueue::Refusal& refusal) {
  WebAnswer answer = JsonAnswer({{"detail", Describe(refusal)}}, 504);
  answer.headers = RetryAfter(refusal.retry_after);
  return answer;
}

WebAnswer Failed(const RunFailure& failure, const std::string& note) {
  if (failure.fault == ToolResult::Fault::kArguments) {
    return Unprocessable({{"", failure.text}});
  }
  return JsonAnswer({{"status", "SandboxError"},
                     {"message", JoinedMessages(failure.text, note)},
                     {"compile_result", nullptr},
                     {"run_result", nullptr},
                     {"executor_pod_name", nullptr},
                     {"files", Json::object()}});
}

// What SandboxFusion calls a language that has another name here.
constexpr std::pair<std::string_view, std::string_view> kFusionNames[] = {
    {"nodejs", "javascript"}, {"R", "r"}, {"sql", "sqlite"}};

std::string NameOf(const Language& language) {
  for (const auto& [theirs, ours] : kFusionNames) {
    if (ours == language.name()) return std::string(theirs);
  }
  return language.name();
}

Json ReturnCode(const Stage& report) {
  switch (report.end) {
    case Stage::End::kExited: return report.exit_code;
    case Stage::End::kSignal:
    case Stage::End::kMemoryLimit: return -report.signal;
    case Stage::End::kTimeLimit:
    case Stage::End::kLost:
    case Stage::End::kNotRun: break;
  }
  return nullptr;
}

const char* CommandStatus(const Stage& report) {
  if (report.end == Stage::End::kTimeLimit) return "TimeLimitExceeded";
  return report.end == Stage::End::kLost ? "Error" : "Finished";
}

Json CommandJson(const Stage& stage) {
  if (stage.end == Stage::End::kNotRun) return nullptr;
  return {{"status", CommandStatus(stage)},  {"execution_time", stage.wall_seconds},
          {"cpu_time", stage.cpu_seconds},   {"return_code", ReturnCode(stage)},
          {"stdout", stage.standard_output}, {"stderr", stage.WholeStandardError()}};
}

// The one that the report is about.
const Stage& LastStage(const RunReport& report) {
  return report.end == Stage::End::kNotRun ? *report.compile : report;
}

const char* RunStatus(const RunReport& report) {
  if (LastStage(report).end == Stage::End::kLost) return "SandboxError";
  return report.status == host::Status::kOk ? "Success" : "Failed";
}

// The requested files that the program left; otherwise those sent by the client.
Json Fetched(const RunReport& report, const std::vector<std::string>& names,
             const std::map<std::string, std::string>& sent) {
  Json files = Json::object();
  for (const std::string& name : names) {
    const std::string path(PlainPath(name));
    if (const RunReport::Output* output = report.FindFile(path)) {
      files[name] = host::EncodeBase64(*output->bytes);
    } else if (const auto found = sent.find(path); found != sent.end()) {
      files[name] = found->second;
    }
  }
  return files;
}

// `note`: about the request.
WebAnswer Ran(const RunReport& report, Json files, const std::string& note) {
  // `verdict` is Belljar's own status; clients ignore unknown members.
  const Json body = {{"status", RunStatus(report)},
                     {"message", JoinedMessages(LastStage(report).note, note)},
                     {"compile_result", report.compile ? CommandJson(*report.compile) : Json()},
                     {"run_result", CommandJson(report)},
                     {"executor_pod_name", nullptr},
                     {"files", std::move(files)},
                     {"verdict", host::StatusName(report.status)},
                     {"execution_id", report.execution_id}};
  return JsonAnswer(body);
}

void Require(BodyFields& fields, const char* name) {
  if (!fields.Find(name)) fields.Add(name, "Field required");
}

// These add to the mistakes.
std::vector<ProgramFile> TakeFiles(BodyFields& fields, const ApiTerms& terms) {
  std::vector<ProgramFile> files;
  for (auto& [path, base64] : fields.TextMap("files")) {
    files.push_back({std::string(PlainPath(path)), std::move(base64)});
  }
  if (!MayHave(files, terms)) fields.Add("files", NoWorkspace(terms));
  return files;
}

std::vector<std::string> TakeFetchFiles(BodyFields& fields, const ApiTerms& terms) {
  std::vector<std::string> names = fields.Texts("fetch_files");
  if (!names.empty() && !terms.has_workspace) fields.Add("fetch_files", NoWorkspace(terms));
  return names;
}

// -1, the default there, means no limit; here the profile's limit.
std::optional<double> TakeMemory(BodyFields& fields, const ApiTerms& terms) {
  const std::optional<double> wanted = fields.Number("memory_limit_MB");
  if (!wanted || *wanted <= 0) return std::nullopt;
  return ClampedBytes(*wanted * kMebi, terms);
}

}  // namespace

SandboxFusion::SandboxFusion(Calls& calls, const ApiTools& tools, const ApiTerms& terms,
                             const About& about)
    : calls_(calls), execute_(tools.execute), languages_(terms, about) {
  if (tools.open_session && tools.close_session) notebook_.emplace(calls, tools, terms);
}

const std::vector<WebRoute>& SandboxFusion::routes() const {
  static const std::vector<WebRoute> kRoutes = {
      {WebMethod::kPost, "/run_code", WebRoute::Body::kJson, {}},
      {WebMethod::kPost, "/run_jupyter", WebRoute::Body::kJson, {}},
  };
  return kRoutes;
}

void SandboxFusion::Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
  const std::variant<nlohmann::json, std::string> body = ReadBody(request.body);
  if (const auto* problem = std::get_if<std::string>(&body)) {
    return reply->Finish(Unprocessable({{"", *problem}}));
  }
  request.body = {};
  BodyFields fields(std::get<nlohmann::json>(body));
  if (route == 0) return RunCode(fields, request, reply);
  RunJupyter(fields, request, reply);
}

const Language& SandboxFusion::TakeLanguage(BodyFields& fields, const Caller& caller) const {
  const std::string given = fields.Text("language").value_or(languages_.python().name());
  std::vector<std::string> names;
  for (const Language* const each : languages_.Of(caller)) {
    names.push_back(NameOf(*each));
    if (given == names.back() || given == each->name()) return *each;
  }
  fields.Add("language", NotOffered(given, names));
  return languages_.python();
}

void SandboxFusion::RunCode(BodyFields& fields, const WebRequest& request,
                            const std::shared_ptr<WebReply>& reply) {
  Require(fields, "code");
  Require(fields, "language");
  Program program;
  program.code = fields.Text("code").value_or("");
  const Language& language = TakeLanguage(fields, request.caller);
  const ApiTerms& terms = language.terms;
  program.standard_input = fields.Text("stdin");
  program.arguments = fields.Texts("args");
  const double compile = fields.Number("compile_timeout").value_or(kDefaultRunSeconds);
  if (language.compiles()) program.compile_seconds = ClampedSeconds(compile, terms);
  program.seconds =
      ClampedSeconds(fields.Number("run_timeout").value_or(kDefaultRunSeconds), terms);
  program.memory_bytes = TakeMemory(fields, terms);
  program.files = TakeFiles(fields, terms);
  std::vector<std::string> fetched = TakeFetchFiles(fields, terms);
  if (!fields.mistakes().empty()) return reply->Finish(Unprocessable(fields.mistakes()));
  std::string note = fields.UnknownMembers();
  if (const auto report = UnreadableSource(program.code, &language)) {
    return reply->Finish(Ran(*report, Json::object(), note));
  }

  std::map<std::string, std::string> sent;
  if (!fetched.empty()) {
    for (const ProgramFile& file : program.files) sent[file.path] = file.base64;
  }
  ToolCall call = CallOf(std::move(program), language, request.caller, request.peer_gone);
  const auto refusal =
      calls_.Start(execute_, std::move(call),
                   [reply, fetched = std::move(fetched), sent = std::move(sent),
                    note = std::move(note)](core::Result<ToolResult> result) {
                     const RunEnd end = EndOf(std::move(result));
                     const auto* const report = std::get_if<RunReport>(&end);
                     reply->Finish(report ? Ran(*report, Fetched(*report, fetched, sent), note)
                                          : Failed(std::get<RunFailure>(end), note));
                   });
  if (refusal) reply->Finish(Overloaded(*refusal));
}

void SandboxFusion::RunJupyter(BodyFields& fields, const WebRequest& request,
                               const std::shared_ptr<WebReply>& reply) {
  Require(fields, "cells");
  std::vector<std::string> cells = fields.Texts("cells");
  if (cells.size() > kMaxCells) {
    fields.Add("cells", "at most " + std::to_string(kMaxCells) + " cells");
  }
  if (fields.Text("kernel").value_or("python3") != "python3") {
    fields.Add("kernel", "this server has the kernel 'python3' only");
  }
  const ApiTerms& terms = languages_.python().terms;
  const double of_cell = std::max(0.0, fields.Number("cell_timeout").value_or(0));
  const double in_total =
      ClampedSeconds(fields.Number("total_timeout").value_or(kDefaultNotebookSeconds), terms);
  const std::optional<double> memory = TakeMemory(fields, terms);
  std::vector<ProgramFile> files = TakeFiles(fields, terms);
  std::vector<std::string> fetched = TakeFetchFiles(fields, terms);
  if (!fields.mistakes().empty()) return reply->Finish(Unprocessable(fields.mistakes()));
  std::string note = fields.UnknownMembers();
  if (!notebook_) {
    return reply->Finish(Failed({ToolResult::Fault::kUnavailable,
                                 "this server has no sessions; an operator enables them with "
                                 "sessions.enabled"},
                                note));
  }
  nlohmann::json arguments = {{"cells", std::move(cells)},
                              {"cell_timeout", of_cell},
                              {"total_timeout", in_total},
                              {"fetch_files", std::move(fetched)},
                              {"note", note}};
  if (memory) arguments["memory_limit"] = static_cast<uint64_t>(*memory);
  if (!files.empty()) arguments["files"] = FilesArgument(std::move(files));
  ToolCall call;
  call.arguments = std::move(arguments);
  call.caller = request.caller;
  call.cancellation = request.peer_gone;
  const auto refusal =
      calls_.Start(*notebook_, std::move(call),
                   [reply, note = std::move(note)](core::Result<ToolResult> result) {
                     if (result && !result->structured.empty()) {
                       WebAnswer answer;
                       answer.body = std::move(result->structured);
                       return reply->Finish(std::move(answer));
                     }
                     reply->Finish(Failed(std::get<RunFailure>(EndOf(std::move(result))), note));
                   });
  if (refusal) reply->Finish(Overloaded(*refusal));
}

}  // namespace belljar::server::compatible::sandbox_fusion
