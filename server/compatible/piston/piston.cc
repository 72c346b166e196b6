#include "server/compatible/piston/piston.h"

#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/host/base64.h"
#include "server/compatible/json_answer.h"
#include "server/compatible/run_report.h"

namespace belljar::server::compatible::piston {
namespace {

using Json = nlohmann::ordered_json;

// As in Piston.
constexpr double kDefaultRunMilliseconds = 3000;
constexpr double kDefaultCompileMilliseconds = 10000;

enum PistonRoute : size_t {
  kRuntimes,
  kRuntimesSlash,
  kExecute,
  kExecuteSlash,
  kPackages,
  kInstall,
  kUninstall,
};

// What Piston calls a language that has another name here; that one is then an alias.
constexpr std::pair<std::string_view, std::string_view> kPistonNames[] = {
    {"cpp", "c++"}, {"r", "rscript"}, {"sqlite", "sqlite3"}};

std::vector<std::string> NamesOf(const Language& language) {
  std::vector<std::string> names = {language.name()};
  for (const auto& [ours, theirs] : kPistonNames) {
    if (ours == language.name()) names.insert(names.begin(), std::string(theirs));
  }
  for (const std::string& alias : language.installed.aliases) {
    if (!core::Contains(names, alias)) names.push_back(alias);
  }
  return names;
}

// Null: nothing that the caller may use has this name.
const Language* Named(const Languages& languages, const std::string& name, const Caller& caller) {
  for (const Language* const each : languages.Of(caller)) {
    if (core::Contains(NamesOf(*each), name)) return each;
  }
  return nullptr;
}

Json Runtimes(const Languages& languages, const Caller& caller) {
  Json list = Json::array();
  for (const Language* const each : languages.Of(caller)) {
    std::vector<std::string> names = NamesOf(*each);
    std::string name = std::move(names.front());
    names.erase(names.begin());
    list.push_back({{"language", std::move(name)},
                    {"version", each->installed.version},
                    {"aliases", std::move(names)}});
  }
  return list;
}

Json Packages(const Languages& languages, const Caller& caller) {
  Json list = Json::array();
  for (const Language* const each : languages.Of(caller)) {
    list.push_back({{"language", NamesOf(*each).front()},
                    {"language_version", each->installed.version},
                    {"installed", true}});
  }
  return list;
}

std::string Unknown(const Languages& languages, const Caller& caller, const std::string& language,
                    const std::string& version) {
  // Both come from the client and may have any length: Quoted shortens them.
  std::string unknown =
      core::Quoted(language + "-" + version) + " runtime is unknown; see /api/v2/runtimes";
  if (Named(languages, language, caller)) return unknown;
  std::vector<std::string> names;
  for (const Language* const each : languages.Of(caller)) names.push_back(NamesOf(*each).front());
  return unknown + ": " + NotOffered(language, names);
}

WebAnswer Message(unsigned status, const std::string& message) {
  return JsonAnswer({{"message", message}}, status);
}

struct PistonFile {
  std::string name;
  std::string content;  // decoded
  bool is_text = true;  // may include the program
};

// Unknown encodings count as utf8, as in Piston.
std::optional<PistonFile> Decoded(const nlohmann::json& file, size_t index) {
  const auto text = [&](const char* key) {
    return file.contains(key) && file[key].is_string() ? file[key].get<std::string>() : "";
  };
  PistonFile decoded{text("name"), text("content")};
  if (decoded.name.empty()) decoded.name = "file" + std::to_string(index) + ".code";
  const std::string encoding = text("encoding");
  decoded.is_text = encoding != "base64" && encoding != "hex";
  if (decoded.is_text) return decoded;
  std::optional<std::string> bytes =
      encoding == "hex" ? core::DecodeHex(decoded.content) : host::DecodeBase64(decoded.content);
  if (!bytes) return std::nullopt;
  decoded.content = std::move(*bytes);
  return decoded;
}

// The status codes are those of Piston's own sandbox: RE, SG, TO, XX.
Json StageJson(const Stage& report) {
  const std::string standard_error = report.WholeStandardError();
  Json code, signal, message, status;
  switch (report.end) {
    case Stage::End::kExited:
      code = report.exit_code;
      if (report.exit_code != 0) {
        status = "RE";
        message = "Exited with error status " + std::to_string(report.exit_code);
      }
      break;
    case Stage::End::kTimeLimit:
      signal = "SIGKILL";
      status = "TO";
      message = "Time limit exceeded: " + report.note;
      break;
    case Stage::End::kMemoryLimit:
      signal = "SIGKILL";
      status = "SG";
      message = "Memory limit exceeded: " + report.note;
      break;
    case Stage::End::kSignal:
      signal = host::SignalName(report.signal);
      status = "SG";
      message = report.note;
      break;
    case Stage::End::kLost:
      signal = "SIGKILL";
      status = "XX";
      message = report.note;
      break;
    case Stage::End::kNotRun: message = "not run, since it was not compiled"; break;
  }
  return {{"stdout", report.standard_output},
          {"stderr", standard_error},
          {"code", std::move(code)},
          {"signal", std::move(signal)},
          {"output", report.standard_output + standard_error},
          {"memory", report.memory_bytes},
          {"message", std::move(message)},
          {"status", std::move(status)},
          {"cpu_time", static_cast<uint64_t>(report.cpu_seconds * 1000)},
          {"wall_time", static_cast<uint64_t>(report.wall_seconds * 1000)}};
}

// Clients require `run`, also where Piston omits it since nothing was run.
Json Stages(const RunReport& report) {
  Json stages;
  if (report.compile) stages["compile"] = StageJson(*report.compile);
  stages["run"] = StageJson(report);
  return stages;
}

WebAnswer Refused(const RunFailure& failure) {
  return Message(failure.fault == ToolResult::Fault::kArguments ? 400 : 500, failure.text);
}

}  // namespace

bool SelectsPython3(std::string_view selector) {
  const size_t start = selector.find_first_not_of("^~><= v");
  if (start == std::string_view::npos) return false;
  const std::string_view version = selector.substr(start);
  if (version == "*" || version == "x" || version == "latest") return true;
  return version == "3" || version.starts_with("3.");
}

Piston::Piston(Calls& calls, const ApiTools& tools, const ApiTerms& terms, const About& about)
    : calls_(calls), execute_(tools.execute), languages_(terms, about) {}

const std::vector<WebRoute>& Piston::routes() const {
  // In the order of PistonRoute. Some clients end paths with a slash.
  static const std::vector<WebRoute> kRoutes = {
      {WebMethod::kGet, "/api/v2/runtimes", WebRoute::Body::kNone, {}},
      {WebMethod::kGet, "/api/v2/runtimes/", WebRoute::Body::kNone, {}},
      {WebMethod::kPost, "/api/v2/execute", WebRoute::Body::kJson, {}},
      {WebMethod::kPost, "/api/v2/execute/", WebRoute::Body::kJson, {}},
      {WebMethod::kGet, "/api/v2/packages", WebRoute::Body::kNone, {}},
      {WebMethod::kPost, "/api/v2/packages", WebRoute::Body::kNone, {}},
      {WebMethod::kDelete, "/api/v2/packages", WebRoute::Body::kNone, {}},
  };
  return kRoutes;
}

void Piston::Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
  switch (route) {
    case kRuntimes:
    case kRuntimesSlash: return reply->Finish(JsonAnswer(Runtimes(languages_, request.caller)));
    case kPackages: return reply->Finish(JsonAnswer(Packages(languages_, request.caller)));
    case kExecute:
    case kExecuteSlash: return Execute(std::move(request), reply);
    default:
      return reply->Finish(
          Message(403,
                  "this server has only the languages that it lists; they are managed by its "
                  "operator (execution.languages) and cannot be installed or removed here"));
  }
}

std::optional<std::string> Piston::TakeFiles(BodyFields& fields, const ApiTerms& terms,
                                             Program& program) {
  const nlohmann::json* const files = fields.Find("files");
  if (!files || !files->is_array() || files->empty()) return "files is required as an array";
  bool has_program = false;
  for (size_t i = 0; i < files->size(); ++i) {
    const nlohmann::json& file = (*files)[i];
    const std::string place = "files[" + std::to_string(i) + "]";
    if (!file.is_object() || !file.contains("content") || !file["content"].is_string()) {
      return place + ".content is required as a string";
    }
    std::optional<PistonFile> decoded = Decoded(file, i);
    if (!decoded) return place + ".content is not in the encoding that it names";
    if (decoded->is_text && !has_program) {
      has_program = true;
      program.code = std::move(decoded->content);
      continue;
    }
    program.files.push_back(
        {std::string(PlainPath(decoded->name)), host::EncodeBase64(decoded->content)});
  }
  if (!has_program) return "files must include at least one utf8 encoded file";
  if (!MayHave(program.files, terms)) {
    return "files: one, the program, since " + NoWorkspace(terms);
  }
  return std::nullopt;
}

std::optional<std::string> Piston::TakeLimits(BodyFields& fields, const Language& language,
                                              Program& program) {
  const ApiTerms& terms = language.terms;
  const double max = std::chrono::duration<double, std::milli>(terms.maximum.timeout).count();
  const double timeout = fields.Number("run_timeout").value_or(kDefaultRunMilliseconds);
  const double compile = fields.Number("compile_timeout").value_or(kDefaultCompileMilliseconds);
  const std::optional<double> memory = fields.Number("run_memory_limit");
  for (const char* name : {"compile_memory_limit", "compile_cpu_time", "run_cpu_time"}) {
    (void)fields.Number(name);
  }
  if (!fields.mistakes().empty()) {
    return fields.mistakes()[0].field + " " + fields.mistakes()[0].message;
  }
  for (const auto& [name, given] :
       {std::pair("run_timeout", timeout), {"compile_timeout", compile}}) {
    if (given <= max) continue;
    return std::string(name) + " cannot exceed the configured limit of " +
           std::to_string(static_cast<uint64_t>(max));
  }
  if (memory && *memory > static_cast<double>(terms.maximum.memory.count)) {
    return "run_memory_limit cannot exceed the configured limit of " +
           std::to_string(terms.maximum.memory.count);
  }
  program.seconds = ClampedSeconds(timeout / 1000, terms);
  if (language.compiles()) program.compile_seconds = ClampedSeconds(compile / 1000, terms);
  if (memory && *memory > 0) program.memory_bytes = ClampedBytes(*memory, terms);
  return std::nullopt;
}

void Piston::Execute(WebRequest request, const std::shared_ptr<WebReply>& reply) {
  const std::variant<nlohmann::json, std::string> body = ReadBody(request.body);
  if (const auto* problem = std::get_if<std::string>(&body)) {
    return reply->Finish(Message(400, *problem));
  }
  request.body = {};
  BodyFields fields(std::get<nlohmann::json>(body));
  const std::optional<std::string> language = fields.Text("language");
  if (!language || language->empty()) {
    return reply->Finish(Message(400, "language is required as a string"));
  }
  const std::optional<std::string> version = fields.Text("version");
  if (!version || version->empty()) {
    return reply->Finish(Message(400, "version is required as a string"));
  }
  const Language* const named = Named(languages_, *language, request.caller);
  if (!named || (named->is_python && !SelectsPython3(*version))) {
    return reply->Finish(Message(400, Unknown(languages_, request.caller, *language, *version)));
  }
  Program program;
  program.standard_input = fields.Text("stdin").value_or("");
  program.arguments = fields.Texts("args");
  std::optional<std::string> problem = TakeFiles(fields, named->terms, program);
  if (!problem) problem = TakeLimits(fields, *named, program);
  if (problem) return reply->Finish(Message(400, *problem));

  const auto finish = [reply, named](const RunReport& report) {
    Json answer = Stages(report);
    answer["language"] = NamesOf(*named).front();
    answer["version"] = named->installed.version;
    reply->Finish(JsonAnswer(answer));
  };
  if (const auto report = UnreadableSource(program.code, named)) return finish(*report);
  const auto refusal =
      calls_.Start(execute_, CallOf(std::move(program), *named, request.caller, request.peer_gone),
                   [reply, finish](core::Result<ToolResult> result) {
                     const RunEnd end = EndOf(std::move(result));
                     if (const auto* report = std::get_if<RunReport>(&end)) return finish(*report);
                     reply->Finish(Refused(std::get<RunFailure>(end)));
                   });
  if (!refusal) return;
  WebAnswer answer = Message(429, Describe(*refusal));
  answer.headers = RetryAfter(refusal->retry_after);
  reply->Finish(std::move(answer));
}

}  // namespace belljar::server::compatible::piston
