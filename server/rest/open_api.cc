#include "server/rest/open_api.h"

#include <algorithm>
#include <string_view>

#include "server/rest/batch.h"
#include "server/rest/run_stream.h"

namespace belljar::server::rest {
namespace {

using ApiJson = nlohmann::ordered_json;

constexpr char kProblemType[] = "application/problem+json";

bool Has(const std::vector<const char*>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsFixed(const Operation& operation, std::string_view name) {
  return std::any_of(operation.fixed.begin(), operation.fixed.end(),
                     [&](const auto& each) { return each.first == name; });
}

// Sessions have operations of their own.
bool IsOfSession(const Operation& operation, std::string_view name) {
  return std::string_view(operation.tool) == "execute_code" && operation.in_path.empty() &&
         (name == "session" || name == "wait");
}

ApiJson Ref(const std::string& schema) { return {{"$ref", "#/components/schemas/" + schema}}; }

ApiJson ContentOf(const char* type, ApiJson schema) {
  return {{type, {{"schema", std::move(schema)}}}};
}

ApiJson ParameterOf(const std::string& name, const char* in, bool required, ApiJson schema,
                    const std::string& description = "") {
  ApiJson parameter = {{"name", name}, {"in", in}, {"required", required}};
  if (!description.empty()) parameter["description"] = description;
  parameter["schema"] = std::move(schema);
  return parameter;
}

// "/v1/x/{path*}" as OpenAPI writes it, which has no placeholder for several segments.
std::string PathOf(std::string_view pattern) {
  std::string path(pattern);
  std::erase(path, '*');
  return path;
}

ApiJson PathParameters(const Operation& operation) {
  ApiJson parameters = ApiJson::array();
  std::string_view rest = operation.pattern;
  for (size_t begin; (begin = rest.find('{')) != rest.npos;) {
    const size_t end = rest.find('}', begin);
    std::string name(rest.substr(begin + 1, end - begin - 1));
    const bool takes_the_rest = name.ends_with('*');
    if (takes_the_rest) name.pop_back();
    parameters.push_back(ParameterOf(name, "path", true, {{"type", "string"}, {"minLength", 1}},
                                     takes_the_rest ? "May contain slashes." : ""));
    rest.remove_prefix(end + 1);
  }
  return parameters;
}

// For parameters that are not arguments of a tool.
ApiJson OwnParameterSchema(std::string_view name) {
  if (name == "limit") return {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}};
  if (name == "before") {
    return {{"type", "integer"},
            {"minimum", 1},
            {"description", "Only entries with a lower seq: `next` of the previous page"}};
  }
  if (name == "since" || name == "until") {
    return {{"type", "string"}, {"description", "UTC timestamp or prefix: 2026-11-26T05"}};
  }
  return {{"type", "string"}};
}

ApiJson QueryParameters(const Operation& operation, const ToolDescription* tool) {
  ApiJson parameters = ApiJson::array();
  for (const char* name : operation.in_query) {
    ApiJson schema =
        tool ? tool->input_schema["properties"].value(name, ApiJson({{"type", "string"}}))
             : OwnParameterSchema(name);
    std::string description = schema.value("description", "");
    schema.erase("description");
    parameters.push_back(ParameterOf(name, "query", false, std::move(schema), description));
  }
  return parameters;
}

// Errors in one program of a batch are reported in its line: the others run.
ApiJson BatchSchema() {
  const auto arguments = [](const char* description) {
    return ApiJson({{"type", "object"}, {"description", description}});
  };
  const auto list = [&](const char* description) {
    return ApiJson({{"type", "array"},
                    {"items", arguments(description)},
                    {"minItems", 1},
                    {"maxItems", kMaxBatch}});
  };
  return {{"oneOf",
           {{{"type", "object"},
             {"properties", {{"executions", list("A body as for createExecution")}}},
             {"required", {"executions"}},
             {"additionalProperties", false}},
            {{"type", "object"},
             {"properties",
              {{"program", arguments("A body as for createExecution, or part of one")},
               {"inputs", list("The rest of it; where both have a value, these values win")}}},
             {"required", {"program", "inputs"}},
             {"additionalProperties", false}}}}};
}

ApiJson RequestBody(const Operation& operation, const ToolDescription* tool) {
  if (operation.answering == Answering::kUpload) {
    return {{"required", false},  // a file may be empty
            {"content", ContentOf("application/octet-stream", ApiJson::object())}};
  }
  if (operation.answering == Answering::kChangeLimits) {
    return {{"required", true}, {"content", ContentOf("application/json", Ref("LimitsChange"))}};
  }
  if (operation.answering == Answering::kInput) {
    return {{"required", true}, {"content", ContentOf("application/json", Ref("Input"))}};
  }
  ApiJson schema = BodySchema(operation, *tool);
  const bool is_batch = operation.answering == Answering::kBatch;
  const bool is_required = is_batch || schema.contains("required");
  if (is_batch) schema = BatchSchema();
  return {{"required", is_required}, {"content", ContentOf("application/json", std::move(schema))}};
}

ApiJson Success(const Operation& operation) {
  const auto answer_of = [](const char* description, ApiJson schema,
                            const char* type = "application/json") {
    return ApiJson({{"description", description}, {"content", ContentOf(type, std::move(schema))}});
  };
  const ApiJson object = {{"type", "object"}};
  switch (operation.answering) {
    case Answering::kNothing:
    case Answering::kInput:
    case Answering::kUpload: return {{"description", "Done"}};
    case Answering::kFile:
    case Answering::kArtifact:
      return {{"description", "The content"},
              {"headers",
               {{"ETag", {{"schema", {{"type", "string"}}}}},
                {"Accept-Ranges", {{"schema", {{"const", "bytes"}}}}}}},
              {"content", ContentOf("*/*", ApiJson::object())}};
    case Answering::kBatch:
      return answer_of("A JSON line for each program, in order of completion, and a final one",
                       Ref("BatchLine"), "application/jsonl");
    case Answering::kOpenApi: return answer_of("The document", object);
    case Answering::kRuntimes: return answer_of("The runtimes", Ref("Runtimes"));
    case Answering::kLimits:
    case Answering::kChangeLimits: return answer_of("The limits", Ref("Limits"));
    case Answering::kAudit: return answer_of("A page of entries", Ref("AuditPage"));
    case Answering::kReceipt:
      return answer_of("An in-toto statement in a DSSE envelope", Ref("Receipt"));
    case Answering::kStatistics: return answer_of(operation.summary, object);
    case Answering::kSession: return answer_of("The session", object);
    case Answering::kJobCancel: return {{"description", "Cancelled, or being cancelled"}};
    case Answering::kJob: return answer_of("The job", Ref("Job"));
    case Answering::kJobList:
      return {{"description", "A page of jobs, without outcomes"},
              {"headers", {{"Link", {{"schema", {{"type", "string"}}}}}}},
              {"content", ContentOf("application/json", Ref("JobList"))}};
    case Answering::kBatchJob: return answer_of("The batch", Ref("Batch"));
    case Answering::kBatchResults:
      return {{"description", "One job per line; Link is where to continue"},
              {"headers", {{"Link", {{"schema", {{"type", "string"}}}}}}},
              {"content", ContentOf("application/jsonl", Ref("Job"))}};
    case Answering::kBatchCancel:
      return answer_of("How many were cancelled, and how many are being cancelled", object);
    case Answering::kTool: break;
  }
  ApiJson answer = answer_of("The answer, also if the program failed", Ref(operation.tool));
  if (operation.is_streamed) {
    answer["content"].update(ContentOf(kLinesType, Ref("RunLine")));
    answer["content"].update(ContentOf(kEventsType, {{"type", "string"}}));
  }
  if (operation.success == 201) {
    answer["headers"] = {{"Location", {{"schema", {{"type", "string"}}}}}};
  }
  return answer;
}

// From the operation that opens a session to those that use one.
ApiJson SessionLinks(const std::vector<Operation>& operations) {
  ApiJson links = ApiJson::object();
  for (const Operation& operation : operations) {
    if (std::string_view(operation.pattern).find("{session}") == std::string_view::npos) continue;
    links[operation.id] = {{"operationId", operation.id},
                           {"parameters", {{"session", "$response.body#/session"}}}};
  }
  return links;
}

ApiJson Responses(const Operation& operation, bool has_body, bool has_tokens) {
  ApiJson responses = ApiJson::object();
  responses[std::to_string(operation.success)] = Success(operation);
  const auto problem = [&](const char* status, const char* description) {
    responses[status] = {{"description", description},
                         {"content", ContentOf(kProblemType, Ref("Problem"))}};
  };
  const bool is_file =
      operation.answering == Answering::kFile || operation.answering == Answering::kArtifact;
  if (is_file) {
    responses["206"] = {{"description", "The range"},
                        {"content", ContentOf("*/*", ApiJson::object())}};
    responses["304"] = {{"description", "Not modified"}};
    problem("416", "The range is outside the file");
  }
  problem("400", "Malformed request");
  if (has_tokens) problem("401", "No valid token");
  problem("403", "Host or Origin is not allowed, or the token lacks the permission");
  const bool calls = operation.tool[0] != '\0' || IsOfJobs(operation.answering);
  const bool is_receipt = operation.answering == Answering::kReceipt;
  const bool is_input = operation.answering == Answering::kInput;
  if (calls || is_file || is_receipt || is_input) problem("404", "Not found, for this token");
  if (is_receipt) problem("409", "The execution has not ended");
  if (operation.answering == Answering::kChangeLimits) problem("422", "A limit is invalid");
  if (is_input) problem("422", "The body is invalid");
  if (operation.answering == Answering::kAudit) problem("500", "The log cannot be read");
  if (calls) {
    problem("409", "Wrong state, or a request with this Idempotency-Key is running");
    problem("422", "An argument is invalid; the detail names it");
    problem("500", "Belljar failed");
    problem("503", "The server cannot run it now");
  }
  if (has_body) {
    problem("413", "The body is too large");
    problem("415", "Unsupported media type");
  }
  problem("429", "Too many requests, or the queue is full; see Retry-After");
  return responses;
}

// Additions to an operation that can also be a job.
void AddAsync(ApiJson& json) {
  ApiJson& parameters = json["parameters"];
  if (parameters.is_null()) parameters = ApiJson::array();
  parameters.push_back(ParameterOf("Prefer", "header", false, {{"type", "string"}},
                                   "respond-async: a job (RFC 7240)"));
  parameters.push_back(ParameterOf("priority", "query", false,
                                   {{"type", "integer"}, {"minimum", -10}, {"maximum", 10}},
                                   "Priority of a job among those of its token"));
  parameters.push_back(ParameterOf("deadline", "query", false,
                                   {{"type", "integer"}, {"minimum", 1}, {"maximum", 2'592'000}},
                                   "For a job: seconds after which it is no longer started"));
  parameters.push_back(ParameterOf("retry", "query", false, {{"type", "boolean"}},
                                   "For a job: run it again if its server stops meanwhile"));
  json["responses"]["202"] = {{"description", "The job was accepted"},
                              {"headers",
                               {{"Location", {{"schema", {{"type", "string"}}}}},
                                {"Preference-Applied", {{"schema", {{"type", "string"}}}}}}},
                              {"content", ContentOf("application/json", Ref("Accepted"))}};
}

ApiJson OperationJson(const Operation& operation, const ToolDescription* tool, bool has_tokens) {
  ApiJson json = {{"operationId", operation.id},
                  {"tags", {operation.tag}},
                  {"summary", operation.summary},
                  {"description", operation.description}};
  ApiJson parameters = PathParameters(operation);
  for (ApiJson& each : QueryParameters(operation, tool)) parameters.push_back(std::move(each));
  if (operation.is_repeatable) {
    parameters.push_back(ParameterOf(
        "Idempotency-Key", "header", false,
        {{"type", "string"}, {"minLength", 1}, {"maxLength", 255}},
        "A request that repeats the key within 15 minutes gets the first one's answer."));
  }
  if (!parameters.empty()) json["parameters"] = std::move(parameters);
  const bool has_body = operation.method == WebMethod::kPost ||
                        operation.method == WebMethod::kPut ||
                        operation.method == WebMethod::kPatch;
  const bool takes_body =
      has_body && (!operation.in_body.empty() || operation.answering == Answering::kUpload);
  if (takes_body) json["requestBody"] = RequestBody(operation, tool);
  json["responses"] = Responses(operation, has_body, has_tokens);
  return json;
}

constexpr char kDescription[] =
    "Each operation is a call of the tool that MCP clients call, with the same arguments, limits, "
    "tokens and queue. What cannot be done is a problem (RFC 9457), whose `detail` says what to "
    "do. "
    "Unknown members are refused, and so is null.";

// Those that have an operation.
ApiJson TagsOf(const std::vector<Operation>& operations) {
  ApiJson tags = ApiJson::array();
  for (const Tag& tag : kTags) {
    const bool is_used = std::ranges::any_of(operations, [&](const Operation& operation) {
      return std::string_view(operation.tag) == tag.name;
    });
    if (is_used) tags.push_back({{"name", tag.name}, {"description", tag.description}});
  }
  return tags;
}

constexpr const char* kComponents = R"json({
  "Input": {
    "oneOf": [
      {"type": "object", "properties": {"line": {"type": "string", "description": "Without its line end"}}, "required": ["line"], "additionalProperties": false},
      {"type": "object", "properties": {"end": {"const": true, "description": "There is no more"}}, "required": ["end"], "additionalProperties": false}
    ]
  },
  "RunLine": {
    "type": "object",
    "description": "A line of a stream, or the data of an event of text/event-stream: what the program printed, or a question for a line of input; the last is its outcome or a problem",
    "properties": {
      "output": {"type": "string"},
      "command": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
      "stdout": {"type": "string", "description": "Of a command; stdout_base64 if it is not UTF-8, and likewise stderr"},
      "stderr": {"type": "string"},
      "stdout_base64": {"type": "string"},
      "stderr_base64": {"type": "string"},
      "input": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "prompt": {"type": "string"}},
        "required": ["id", "prompt"]
      },
      "execution": {"$ref": "#/components/schemas/execute_code"},
      "problem": {"$ref": "#/components/schemas/Problem"}
    },
    "minProperties": 1,
    "maxProperties": 1
  },
  "Problem": {
    "type": "object",
    "description": "Problem details (RFC 9457)",
    "properties": {
      "type": {"type": "string"},
      "title": {"type": "string"},
      "status": {"type": "integer"},
      "detail": {"type": "string", "description": "What is wrong, and what to do"}
    },
    "required": ["type", "title", "status", "detail"]
  },
  "Runtimes": {
    "type": "object",
    "properties": {
      "runtimes": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {
            "language": {"type": "string"},
            "version": {"type": "string", "description": "Of Python"},
            "profiles": {"type": "array", "items": {"type": "string"}, "description": "Of Python"}
          },
          "required": ["language", "profiles"]
        }
      }
    },
    "required": ["runtimes"]
  },
  "LimitsChange": {
    "type": "object",
    "description": "Omitted limits stay unchanged; either all are changed or none",
    "properties": {
      "running": {"type": "integer", "minimum": 1, "description": "Concurrent calls; at most the number at the start"},
      "waiting": {"type": "integer", "minimum": 0, "maximum": 100000},
      "sessions": {
        "type": "object",
        "properties": {
          "per_token": {"type": "integer", "minimum": 1, "maximum": 10000},
          "total": {"type": "integer", "minimum": 1, "maximum": 10000},
          "idle": {"type": "number", "minimum": 1, "maximum": 86400, "description": "Seconds"},
          "lifetime": {"type": "number", "minimum": 1, "maximum": 86400, "description": "Seconds"}
        },
        "additionalProperties": false
      }
    },
    "additionalProperties": false
  },
  "Limits": {
    "type": "object",
    "properties": {
      "running": {"type": "integer"},
      "waiting": {"type": "integer"},
      "body_bytes": {"type": "integer"},
      "batch": {"type": "integer"},
      "sessions": {"type": "object"},
      "token": {"type": "object"}
    },
    "required": ["running", "waiting", "body_bytes", "batch", "sessions", "token"]
  },
  "AuditPage": {
    "type": "object",
    "properties": {
      "entries": {"type": "array", "items": {"type": "object"}, "description": "Lines of the log, newest first"},
      "next": {"type": ["integer", "null"], "description": "`before` for the next page, which may have entries even if this one has none"}
    },
    "required": ["entries", "next"]
  },
  "Receipt": {
    "type": "object",
    "properties": {
      "payload": {"type": "string"},
      "payloadType": {"const": "application/vnd.in-toto+json"},
      "signatures": {
        "type": "array",
        "items": {
          "type": "object",
          "properties": {"keyid": {"type": "string"}, "sig": {"type": "string"}},
          "required": ["keyid", "sig"]
        }
      }
    },
    "required": ["payload", "payloadType", "signatures"]
  },
  "Accepted": {
    "type": "object",
    "properties": {
      "id": {"type": "string"},
      "state": {"const": "queued"},
      "executions": {"type": "array", "items": {"type": "string"}, "description": "IDs, for a batch"}
    },
    "required": ["id", "state"]
  },
  "Job": {
    "type": "object",
    "properties": {
      "id": {"type": "string"},
      "state": {"enum": ["queued", "running", "succeeded", "failed", "cancelled", "interrupted", "expired"]},
      "priority": {"type": "integer"},
      "attempts": {"type": "integer", "description": "How many times it was started"},
      "submitted": {"type": "string", "format": "date-time"},
      "started": {"type": ["string", "null"], "format": "date-time"},
      "ended": {"type": ["string", "null"], "format": "date-time"},
      "deadline": {"type": ["string", "null"], "format": "date-time"},
      "batch": {"type": "string"},
      "index": {"type": "integer", "description": "In its batch"},
      "failure": {"type": "string", "description": "Why there is no outcome"},
      "execution": {"description": "The outcome; null: none. Not in lists"}
    },
    "required": ["id", "state", "priority", "attempts", "submitted", "started", "ended", "deadline"]
  },
  "JobList": {
    "type": "object",
    "properties": {
      "executions": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
      "next": {"type": ["string", "null"], "description": "The cursor of the next page"}
    },
    "required": ["executions", "next"]
  },
  "Batch": {
    "type": "object",
    "properties": {
      "id": {"type": "string"},
      "submitted": {"type": "string", "format": "date-time"},
      "total": {"type": "integer"},
      "ended": {"type": "integer"},
      "states": {"type": "object", "additionalProperties": {"type": "integer"}},
      "removed": {"type": "integer", "description": "Ended and no longer kept"}
    },
    "required": ["id", "submitted", "total", "ended", "states", "removed"]
  }
})json";

ApiJson BatchLine() {
  return {
      {"type", "object"},
      {"properties",
       {{"index", {{"type", "integer"}, {"description", "Index of the program in the request"}}},
        {"execution", Ref("execute_code")},
        {"problem", Ref("Problem")},
        {"done",
         {{"type", "object"},
          {"properties",
           {{"executions", {{"type", "integer"}}}, {"problems", {{"type", "integer"}}}}},
          {"description", "The last line; without it, the batch is incomplete"}}}}}};
}

}  // namespace

const ToolDescription* FindDescription(const std::vector<std::shared_ptr<Tool>>& tools,
                                       std::string_view name) {
  for (const auto& tool : tools) {
    if (tool->description().name == name) return &tool->description();
  }
  return nullptr;
}

ApiJson BodySchema(const Operation& operation, const ToolDescription& tool) {
  ApiJson properties = ApiJson::object();
  const bool all = Has(operation.in_body, "*");
  for (const auto& [name, schema] : tool.input_schema["properties"].items()) {
    if (IsFixed(operation, name) || Has(operation.in_path, name) || Has(operation.in_query, name) ||
        IsOfSession(operation, name)) {
      continue;
    }
    if (all || Has(operation.in_body, name)) properties[name] = schema;
  }
  ApiJson required = ApiJson::array();
  for (const ApiJson& name : tool.input_schema.value("required", ApiJson::array())) {
    if (properties.contains(name.get<std::string>())) required.push_back(name);
  }
  for (const char* const name : operation.needs) required.push_back(name);
  ApiJson schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

ApiJson OpenApi(const std::vector<Operation>& operations,
                const std::vector<std::shared_ptr<Tool>>& tools, const ApiJson& answers,
                const std::string& version, bool has_tokens) {
  ApiJson paths = ApiJson::object();
  for (const Operation& operation : operations) {
    std::string method(NameOf(operation.method));
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    paths[PathOf(operation.pattern)][method] =
        OperationJson(operation, FindDescription(tools, operation.tool), has_tokens);
  }
  if (paths.contains("/v1/executions") && paths["/v1/executions"].contains("get")) {
    AddAsync(paths["/v1/executions"]["post"]);
    AddAsync(paths["/v1/batches"]["post"]);
  }
  if (paths.contains("/v1/sessions")) {
    paths["/v1/sessions"]["post"]["responses"]["201"]["links"] = SessionLinks(operations);
  }
  ApiJson schemas = ApiJson::parse(kComponents);
  for (const auto& [tool, schema] : answers.items()) {
    const ToolDescription* const description = FindDescription(tools, tool);
    if (!description) continue;
    // The caller chooses one of the two forms of an answer with "detail".
    const bool has_forms = description->input_schema["properties"].contains("detail");
    schemas[tool] = has_forms ? ApiJson({{"anyOf", {schema, description->output_schema}}}) : schema;
  }
  schemas["BatchLine"] = BatchLine();
  ApiJson document = {{"openapi", "3.1.0"},
                      {"info",
                       {{"title", "Belljar"},
                        {"version", version},
                        {"summary", "Runs untrusted Python programs in a sandbox"},
                        {"description", kDescription},
                        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
                      {"servers", {{{"url", "/"}}}},
                      {"tags", TagsOf(operations)},
                      {"paths", std::move(paths)},
                      {"components", {{"schemas", std::move(schemas)}}}};
  if (has_tokens) {
    document["components"]["securitySchemes"] = {
        {"token", {{"type", "http"}, {"scheme", "bearer"}}}};
    document["security"] = {{{"token", ApiJson::array()}}};
  }
  return document;
}

}  // namespace belljar::server::rest
