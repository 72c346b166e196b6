#include "server/rest/rest_service.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "engine/host/digest.h"
#include "engine/host/json_reader.h"
#include "engine/host/number.h"
#include "engine/host/percent_encoding.h"
#include "engine/host/suggest.h"
#include "server/rest/failure.h"
#include "server/rest/file_answer.h"
#include "server/rest/open_api.h"
#include "server/rest/run_stream.h"

namespace belljar::server::rest {
namespace {

using Json = nlohmann::json;

constexpr host::JsonBounds kBounds{.depth = 64, .values = 10'000};

std::vector<WebRoute> RoutesOf(const std::vector<Operation>& operations) {
  std::vector<WebRoute> routes;
  routes.reserve(operations.size());
  for (const Operation& operation : operations) routes.push_back(RouteOf(operation));
  return routes;
}

// Created once: a schema is larger than most requests.
std::vector<nlohmann::ordered_json> BodiesOf(const std::vector<Operation>& operations,
                                             const std::vector<std::shared_ptr<Tool>>& tools) {
  std::vector<nlohmann::ordered_json> bodies;
  for (const Operation& operation : operations) {
    const ToolDescription* const tool = FindDescription(tools, operation.tool);
    bodies.push_back(tool ? BodySchema(operation, *tool) : nlohmann::ordered_json());
  }
  return bodies;
}

WebAnswer Object(const nlohmann::ordered_json& json, unsigned status = 200) {
  return {status, "application/json", core::SafeJson(json.dump()), ""};
}

std::vector<std::string> NamesOf(const nlohmann::ordered_json& properties) {
  std::vector<std::string> names;
  for (const auto& [name, schema] : properties.items()) names.push_back(name);
  return names;
}

// The text as a value of an argument with this schema. If it cannot be converted, it stays text,
// which the tool rejects.
Json ValueOf(const std::string& text, const nlohmann::ordered_json& schema) {
  const std::string type = schema.value("type", "string");
  if (type == "boolean" && (text == "true" || text == "false")) return text == "true";
  if (type == "number" || type == "integer") {
    if (const auto number = host::NumberFrom<double>(text)) return *number;
  }
  return text;
}

// Adds the members of the body to `arguments`. An error is a sentence for the client.
core::Result<void> AddBody(const std::string& body, const nlohmann::ordered_json& schema,
                           Json& arguments) {
  const auto wrong = [](std::string sentence) {
    return core::MakeError("read the body", std::move(sentence));
  };
  if (body.empty()) return {};
  host::JsonReading reading = host::ReadJson(body, kBounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) {
    return wrong("the body is " + Describe(*failure, kBounds));
  }
  Json& json = std::get<Json>(reading);
  if (!json.is_object()) return wrong("the body must be a JSON object");
  const nlohmann::ordered_json& properties = schema["properties"];
  for (auto& [name, value] : json.items()) {
    if (!properties.contains(name)) {
      const std::vector<std::string> names = NamesOf(properties);
      return wrong(
          "unknown member " + core::Quoted(name) +
          (names.empty() ? "; this request takes none" : "; allowed are " + core::Joined(names)) +
          host::Suggestion(name, names));
    }
    if (value.is_null()) return wrong(core::Quoted(name) + " is null; omit it instead");
    arguments[name] = std::move(value);
  }
  return {};
}

core::Result<void> AddQuery(const std::string& query, const Operation& operation,
                            const nlohmann::ordered_json& properties, Json& arguments) {
  core::Result<WebParameters> parameters = ParseQuery(query);
  if (!parameters) return parameters.error();
  std::vector<std::string> names(operation.in_query.begin(), operation.in_query.end());
  for (const auto& [name, value] : *parameters) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return core::MakeError("read the query",
                             "unknown parameter " + core::Quoted(name) +
                                 (names.empty() ? "; this request takes none"
                                                : "; allowed are " + core::Joined(names)) +
                                 host::Suggestion(name, names));
    }
    arguments[name] = ValueOf(value, properties.value(name, nlohmann::ordered_json::object()));
  }
  return {};
}

void AddFixed(const Operation& operation, const nlohmann::ordered_json& properties,
              Json& arguments) {
  for (const auto& [name, value] : operation.fixed) {
    arguments[name] = ValueOf(value, properties.value(name, nlohmann::ordered_json::object()));
  }
}

// For a tool that returns a file, among its contents or as text.
std::optional<ServedFile> FileOf(const ToolResult& result) {
  const Json object = Json::parse(result.structured, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  ServedFile file;
  file.media_type = object.value("media_type", "application/octet-stream");
  const std::string path = object.value("path", "");
  file.name = path.substr(path.rfind('/') + 1);
  for (const Content& content : result.contents) file.bytes = content.resource.bytes;
  if (!file.bytes && object.contains("text")) {
    file.bytes = std::make_shared<const std::string>(object["text"].get<std::string>());
  }
  if (!file.bytes) return std::nullopt;
  return file;
}

}  // namespace

// One request on its way to an answer.
struct RestService::Pending {
  const Operation* operation = nullptr;
  Tool* tool = nullptr;
  WebRequest request;
  std::shared_ptr<WebReply> reply;
  Json arguments = Json::object();
  std::string key;  // Idempotency-Key; empty: none
  std::optional<RunStream> stream;
};

RestService::RestService(Parts parts, Calls& calls, ResourceStore& resources,
                         SessionRegistry* sessions)
    : parts_(std::move(parts)),
      operations_(Operations({.sessions = sessions != nullptr,
                              .languages = FindTool("exchange") != nullptr,
                              .commands = FindTool("run_command") != nullptr,
                              .jobs = parts_.jobs != nullptr,
                              .audit = parts_.audit != nullptr})),
      routes_(RoutesOf(operations_)),
      bodies_(BodiesOf(operations_, parts_.tools)),
      open_api_(
          OpenApi(operations_, parts_.tools, parts_.answers, parts_.version, parts_.has_tokens)
              .dump()),
      resources_(resources),
      sessions_(sessions),
      calls_(calls),
      batches_(calls, parts_.batch_width) {}

Tool* RestService::FindTool(const char* name) const {
  for (const auto& tool : parts_.tools) {
    if (tool->description().name == name) return tool.get();
  }
  return nullptr;
}

const nlohmann::ordered_json& RestService::BodyOf(const Operation& operation) const {
  return bodies_[static_cast<size_t>(&operation - operations_.data())];
}

WebAnswer RestService::Artifact(const WebRequest& request) const {
  const std::string& execution = request.parameters[0];
  const std::string& path = request.parameters[1];
  const std::optional<Resource> found =
      resources_.Find(request.caller.name, ArtifactUri(execution, path));
  if (!found) {
    return Problem(404, "there is no artifact " + core::Quoted(path) +
                            " of this execution: its caller can read its files for a limited "
                            "time");
  }
  return FileAnswer({found->bytes, found->media_type, found->name}, request.headers);
}

WebAnswer RestService::Limits(const Caller& caller) const {
  nlohmann::ordered_json limits = parts_.limits();
  const auto unless_none = [](bool is_set, auto value) {
    return is_set ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  limits["token"] = {{"name", caller.name},
                     {"concurrency", unless_none(caller.concurrency > 0, caller.concurrency)},
                     {"rate", unless_none(caller.rate > 0, caller.rate)},
                     {"burst", unless_none(caller.rate > 0, caller.burst)}};
  return Object(limits);
}

WebAnswer RestService::ChangeLimits(const WebRequest& request) const {
  if (!request.caller.is_operator) {
    return Problem(403,
                   "only operators can change limits: a token with operator = true in the server's "
                   "configuration");
  }
  if (!request.query.empty()) return Problem(400, "this request takes no query");
  host::JsonReading reading = host::ReadJson(request.body, kBounds);
  if (const auto* failure = std::get_if<host::JsonFailure>(&reading)) {
    return Problem(422, "the body is " + Describe(*failure, kBounds));
  }
  const core::Result<void> changed = parts_.change_limits(request.caller, std::get<Json>(reading));
  if (!changed) return Problem(422, changed.error().detail);
  return Limits(request.caller);
}

WebAnswer RestService::TakeInput(const WebRequest& request) {
  const std::optional<uint64_t> id = host::NumberFrom<uint64_t>(request.parameters[0]);
  core::Result<std::optional<std::string>> line = ReadInput(request.body);
  if (!line) return Problem(422, line.error().detail);
  if (id && lines_.Answer(request.caller.name, *id, std::move(*line))) return {204, "", "", ""};
  return Problem(404, "no program of this token waits for input " +
                          core::Quoted(request.parameters[0]) +
                          ": it has an answer, or its program has ended");
}

WebAnswer RestService::AnswerAtOnce(const Operation& operation, const WebRequest& request) {
  switch (operation.answering) {
    case Answering::kInput: return TakeInput(request);
    case Answering::kArtifact: return Artifact(request);
    case Answering::kRuntimes: {
      const std::vector<std::string>& profiles =
          request.caller.profiles ? *request.caller.profiles : parts_.profiles;
      nlohmann::ordered_json runtimes = {
          {{"language", "python"}, {"version", parts_.python_version}, {"profiles", profiles}}};
      for (const std::string& language : parts_.languages) {
        const auto& may = request.caller.profiles;
        if (may && !core::Contains(*may, language)) continue;
        runtimes.push_back({{"language", language}, {"profiles", nlohmann::json::array()}});
      }
      return Object({{"runtimes", std::move(runtimes)}});
    }
    case Answering::kLimits: return Limits(request.caller);
    case Answering::kChangeLimits: return ChangeLimits(request);
    case Answering::kReceipt: return parts_.audit->Receipt(request);
    case Answering::kStatistics: return Object(parts_.statistics());
    default: return {200, "application/json", open_api_, ""};
  }
}

bool RestService::TakeJob(const Operation& operation, WebRequest& request,
                          std::shared_ptr<WebReply>& reply) {
  if (!parts_.jobs) return false;
  JobService& jobs = *parts_.jobs;
  switch (operation.answering) {
    case Answering::kJob: jobs.Find(std::move(request), std::move(reply)); return true;
    case Answering::kJobList: jobs.List(std::move(request), std::move(reply)); return true;
    case Answering::kJobCancel: jobs.Cancel(std::move(request), std::move(reply)); return true;
    case Answering::kBatchJob: jobs.FindBatch(std::move(request), std::move(reply)); return true;
    case Answering::kBatchResults:
      jobs.BatchResults(std::move(request), std::move(reply));
      return true;
    case Answering::kBatchCancel:
      jobs.CancelBatch(std::move(request), std::move(reply));
      return true;
    case Answering::kBatch:
      if (!PrefersAsync(request.headers)) return false;
      jobs.SubmitBatch(std::move(request), std::move(reply));
      return true;
    default: break;
  }
  const bool is_execution = std::string_view(operation.id) == "createExecution";
  if (!is_execution || !PrefersAsync(request.headers)) return false;
  Json arguments = Json::object();
  const core::Result<void> read = AddBody(request.body, BodyOf(operation), arguments);
  if (!read) {
    reply->Finish(Problem(422, read.error().detail));
  } else {
    jobs.Submit(arguments, std::move(request), std::move(reply));
  }
  return true;
}

void RestService::Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
  const Operation& operation = operations_[route];
  if (TakeJob(operation, request, reply)) return;
  if (operation.answering == Answering::kAudit) {
    return parts_.audit->Search(request, std::move(reply));
  }
  if (operation.answering == Answering::kBatch) {
    if (!request.query.empty()) return reply->Finish(Problem(400, "this request takes no query"));
    const std::optional<CallQueue::Refusal> refusal =
        batches_.Start(*FindTool(operation.tool), std::move(request), reply);
    if (refusal) reply->Finish(ProblemOf(*refusal));
    return;
  }
  if (operation.tool[0] == '\0') return reply->Finish(AnswerAtOnce(operation, request));

  auto pending = std::make_shared<Pending>();
  pending->operation = &operation;
  pending->tool = FindTool(operation.tool);
  pending->request = std::move(request);
  pending->reply = std::move(reply);
  const nlohmann::ordered_json& properties =
      pending->tool->description().input_schema["properties"];
  Json& arguments = pending->arguments;
  const auto refuse = [&](unsigned status, const core::Error& error) {
    pending->reply->Finish(Problem(status, error.detail));
  };
  core::Result<void> read = AddQuery(pending->request.query, operation, properties, arguments);
  if (!read) return refuse(400, read.error());
  if (routes_[route].body == WebRoute::Body::kJson) {
    read = AddBody(pending->request.body, BodyOf(operation), arguments);
    if (!read) return refuse(422, read.error());
  }
  AddFixed(operation, properties, arguments);
  for (size_t i = 0; i < operation.in_path.size(); ++i) {
    const char* const name = operation.in_path[i];
    arguments[name] = ValueOf(pending->request.parameters[i],
                              properties.value(name, nlohmann::ordered_json::object()));
  }
  if (operation.answering == Answering::kUpload) {
    arguments["files"] = {{{"path", pending->request.parameters[1]},
                           {"base64", host::EncodeBase64(pending->request.body)}}};
  }
  StartCall(pending);
}

void RestService::StartCall(const std::shared_ptr<Pending>& pending) {
  const Operation& operation = *pending->operation;
  const WebRequest& request = pending->request;
  // The tool that runs cells reports an unknown session as an invalid argument, which it is there.
  const bool is_of_session = !operation.in_path.empty();
  if (is_of_session && sessions_) {
    const auto found = sessions_->Find(request.caller.name, request.parameters[0]);
    if (!found) return pending->reply->Finish(Problem(404, found.error().ToString()));
  }
  const char* const stream_type = operation.is_streamed ? StreamTypeOf(request.headers) : nullptr;
  if (stream_type && request.headers.idempotency_key) {
    return pending->reply->Finish(
        Problem(400, "a stream cannot be repeated: omit Idempotency-Key, or accept JSON"));
  }
  if (operation.is_repeatable && request.headers.idempotency_key) {
    const std::string& key = *request.headers.idempotency_key;
    if (std::optional<WebAnswer> problem = KeyProblem(request.headers)) {
      return pending->reply->Finish(std::move(*problem));
    }
    const std::string digest =
        host::Sha256(std::string(operation.id) + "\n" + pending->arguments.dump());
    IdempotencyStore::Beginning beginning = idempotency_.Begin(request.caller.name, key, digest);
    switch (beginning.found) {
      case IdempotencyStore::Found::kPending:
        return pending->reply->Finish(Problem(
            409, "a request with this Idempotency-Key is still running", "Retry-After: 1\r\n"));
      case IdempotencyStore::Found::kOther:
        return pending->reply->Finish(
            Problem(422, "this Idempotency-Key was used for another request; choose another key"));
      case IdempotencyStore::Found::kAnswered:
        beginning.answer->headers += "Idempotency-Replayed: true\r\n";
        return pending->reply->Finish(std::move(*beginning.answer));
      case IdempotencyStore::Found::kNew: pending->key = key; break;
    }
  }
  ToolCall call;
  if (stream_type) pending->stream.emplace(pending->reply, stream_type);
  if (stream_type && KeepsStreams(operation)) {
    call.command_sink = {
        .on_start = [pending](uint64_t command) { pending->stream->Started(command); },
        .on_piece =
            [pending](bool is_errors, std::string_view bytes) {
              return pending->stream->Piece(is_errors, bytes);
            }};
  } else if (stream_type) {
    call.streams_all = true;
    call.on_output = [pending](std::string_view text) { pending->stream->Output(text); };
    call.ask_for_line = lines_.For(
        request.caller.name, request.peer_gone,
        [pending](uint64_t id, const std::string& prompt) { pending->stream->Input(id, prompt); });
  }
  call.arguments = std::move(pending->arguments);
  call.caller = request.caller;
  call.cancellation = request.peer_gone;
  call.traceparent = request.headers.traceparent.value_or("");
  call.form = ToolCall::Form::kStructured;
  const std::optional<CallQueue::Refusal> refusal = calls_.Start(
      *pending->tool, std::move(call), [this, pending](core::Result<ToolResult> result) {
        Finish(*pending, AnswerOf(*pending, std::move(result)));
      });
  if (refusal) Finish(*pending, ProblemOf(*refusal));
}

void RestService::Finish(Pending& pending, WebAnswer answer) {
  if (!pending.key.empty()) {
    const std::string& owner = pending.request.caller.name;
    // If the client has withdrawn the request, or the failure is temporary, it can be sent again.
    const bool has_effect =
        !pending.request.peer_gone->cancelled() && answer.status != 429 && answer.status < 500;
    if (has_effect) {
      idempotency_.End(owner, pending.key, answer);
    } else {
      idempotency_.Forget(owner, pending.key);
    }
  }
  if (pending.stream) return pending.stream->Finish(std::move(answer));
  pending.reply->Finish(std::move(answer));
}

WebAnswer RestService::AnswerOf(Pending& pending, core::Result<ToolResult> result) const {
  if (!result) return ProblemOf(result.error());
  if (result->fault != ToolResult::Fault::kNone) return ProblemOf(*result);
  const Operation& operation = *pending.operation;
  const WebRequest& request = pending.request;
  switch (operation.answering) {
    case Answering::kNothing:
    case Answering::kUpload: return {operation.success, "", "", ""};
    case Answering::kFile: {
      const std::optional<ServedFile> file = FileOf(*result);
      if (file) return FileAnswer(*file, request.headers);
      return Problem(413, "this file is too large to download");
    }
    case Answering::kSession: {
      const Json sessions = Json::parse(result->structured, nullptr, false);
      for (const Json& each : sessions.value("sessions", Json::array())) {
        if (each.value("session", "") == request.parameters[0]) return Object(each);
      }
      return Problem(404, "there is no session " + core::Quoted(request.parameters[0]));
    }
    default: break;
  }
  WebAnswer answer{operation.success, "application/json", std::move(result->structured), ""};
  if (std::string_view(operation.id) == "openSession") {
    answer.headers =
        "Location: /v1/sessions/" + host::PercentEncoded(result->session, "/") + "\r\n";
  }
  return answer;
}

}  // namespace belljar::server::rest
