#include "server/compatible/judge0/judge0.h"

#include <optional>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "server/compatible/json_answer.h"
#include "server/compatible/judge0/language_ids.h"

namespace belljar::server::compatible::judge0 {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBatch = 20;
constexpr double kKilobyte = 1024;
// Clients select language ids by this name.
constexpr char kApiVersion[] = "1.13.1";

enum Judge0Route : size_t {
  kCreate,
  kCreateSlash,
  kCreateBatch,
  kShowBatch,
  kShow,
  kDelete,
  kLanguages,
  kAllLanguages,
  kLanguage,
  kStatuses,
  kAbout,
  kConfigInfo,
  kSystemInfo,
};

WebAnswer ErrorAnswer(unsigned status, const std::string& sentence) {
  return JsonAnswer({{"error", sentence}}, status);
}

WebAnswer NoSubmission() { return ErrorAnswer(404, "there is no submission with this token"); }

WebAnswer QueueIsFull(const CallQueue::Refusal& refusal) {
  WebAnswer answer = ErrorAnswer(503, "queue is full");
  answer.headers = RetryAfter(refusal.retry_after);
  return answer;
}

// By attribute, as Rails reports invalid values.
Json ErrorsJson(const std::vector<Mistake>& mistakes) {
  Json errors = Json::object();
  for (const Mistake& mistake : mistakes) errors[mistake.field].push_back(mistake.message);
  return errors;
}

std::vector<WebRoute> WithAuthToken(std::vector<WebRoute> routes) {
  for (WebRoute& route : routes) route.login = WebRoute::Login::kAuthToken;
  return routes;
}

}  // namespace

Judge0::Judge0(Calls& calls, const ApiTools& tools, const ApiTerms& terms, const About& about)
    : calls_(calls), execute_(tools.execute), languages_(terms, about), about_(about) {}

const std::vector<WebRoute>& Judge0::routes() const {
  using Body = WebRoute::Body;
  // In the order of Judge0Route.
  static const std::vector<WebRoute> kRoutes = WithAuthToken({
      {WebMethod::kPost, "/submissions", Body::kJson},
      {WebMethod::kPost, "/submissions/", Body::kJson},
      {WebMethod::kPost, "/submissions/batch", Body::kJson},
      {WebMethod::kGet, "/submissions/batch", Body::kNone},
      {WebMethod::kGet, "/submissions/{token}", Body::kNone},
      {WebMethod::kDelete, "/submissions/{token}", Body::kNone},
      {WebMethod::kGet, "/languages", Body::kNone},
      {WebMethod::kGet, "/languages/all", Body::kNone},
      {WebMethod::kGet, "/languages/{id}", Body::kNone},
      {WebMethod::kGet, "/statuses", Body::kNone},
      {WebMethod::kGet, "/about", Body::kNone},
      {WebMethod::kGet, "/config_info", Body::kNone},
      {WebMethod::kGet, "/system_info", Body::kNone},
  });
  return kRoutes;
}

void Judge0::Handle(size_t route, WebRequest request, std::shared_ptr<WebReply> reply) {
  View view;
  if (std::optional<WebAnswer> refusal = ReadView(request, view)) {
    return reply->Finish(std::move(*refusal));
  }
  switch (route) {
    case kCreate:
    case kCreateSlash: return Create(view, request, reply);
    case kCreateBatch: return CreateBatch(view, request, *reply);
    case kShowBatch: return ShowBatch(view, request, *reply);
    case kShow: return Show(view, request, *reply);
    case kDelete: return Delete(view, request, *reply);
    case kStatuses: {
      Json statuses = Json::array();
      for (const SubmissionStatus& status : kSubmissionStatuses) {
        statuses.push_back({{"id", status.id}, {"description", status.description}});
      }
      return reply->Finish(JsonAnswer(statuses));
    }
    case kAbout:
      return reply->Finish(
          JsonAnswer({{"version", kApiVersion}, {"implementation", "Belljar " + about_.version}}));
    case kConfigInfo: return reply->Finish(ConfigInfo());
    case kSystemInfo:
      return reply->Finish(
          JsonAnswer({{"Belljar", about_.version}, {"Python", about_.python_version}}));
    default: return reply->Finish(ShowLanguages(route, request));
  }
}

std::optional<WebAnswer> Judge0::ReadView(const WebRequest& request, View& view) const {
  core::Result<WebParameters> parameters = ParseQuery(request.query);
  if (!parameters) return ErrorAnswer(400, parameters.error().ToString());
  std::optional<std::string> names;
  for (const auto& [name, value] : *parameters) {
    if (name == "base64_encoded") view.is_base64 = value == "true";
    if (name == "wait") view.waits = value == "true";
    if (name == "fields") names = value;
    if (name == "tokens") view.tokens = value;
  }
  std::vector<std::string> unknown;
  view.fields = ReadFieldNames(names, unknown);
  if (unknown.empty()) return std::nullopt;
  return ErrorAnswer(400, "invalid fields: [" + core::Printable(core::Joined(unknown)) + "]");
}

std::optional<CallQueue::Refusal> Judge0::Start(Submission submission, const Caller& caller,
                                                std::shared_ptr<Cancellation> cancellation,
                                                OnJudged on_judged) {
  auto kept = std::make_shared<const Submission>(std::move(submission));
  const auto end = [this, kept, owner = caller.name,
                    on_judged = std::move(on_judged)](const RunEnd& run) {
    auto judged = std::make_shared<const Submission>(Judged(*kept, run));
    store_->Put(owner, judged);
    if (on_judged) on_judged(*judged);
  };
  if (auto report = UnreadableSource(kept->source_code, kept->language)) {
    end(*report);
    return std::nullopt;
  }
  // Stored before it can end.
  store_->Put(caller.name, kept);
  const auto refusal = calls_.Start(
      execute_, CallOf(ProgramOf(*kept), *kept->language, caller, std::move(cancellation)),
      [end](core::Result<ToolResult> result) { end(EndOf(std::move(result))); });
  if (refusal) store_->Remove(caller.name, kept->token);
  return refusal;
}

void Judge0::Create(const View& view, const WebRequest& request,
                    const std::shared_ptr<WebReply>& reply) {
  const std::variant<nlohmann::json, std::string> body = ReadBody(request.body);
  if (const auto* problem = std::get_if<std::string>(&body)) {
    return reply->Finish(ErrorAnswer(400, *problem));
  }
  BodyFields fields(std::get<nlohmann::json>(body));
  Submission submission = ReadSubmission(fields, view.is_base64, languages_, request.caller);
  if (!fields.mistakes().empty()) {
    return reply->Finish(JsonAnswer(ErrorsJson(fields.mistakes()), 422));
  }
  const std::string token = submission.token;
  OnJudged on_judged;
  if (view.waits) {
    on_judged = [reply, view](const Submission& judged) {
      reply->Finish(JsonAnswer(AttributesOf(judged, view.fields, view.is_base64), 201));
    };
  }
  // Without `wait`, the submission outlives its request.
  const auto refusal =
      Start(std::move(submission), request.caller,
            view.waits ? request.peer_gone : std::make_shared<Cancellation>(), on_judged);
  if (refusal) return reply->Finish(QueueIsFull(*refusal));
  if (!view.waits) reply->Finish(JsonAnswer({{"token", token}}, 201));
}

void Judge0::CreateBatch(const View& view, const WebRequest& request, WebReply& reply) {
  const std::variant<nlohmann::json, std::string> body = ReadBody(request.body);
  if (const auto* problem = std::get_if<std::string>(&body)) {
    return reply.Finish(ErrorAnswer(400, *problem));
  }
  BodyFields fields(std::get<nlohmann::json>(body));
  const nlohmann::json* const submissions = fields.Find("submissions");
  if (!submissions || !submissions->is_array() || submissions->empty()) {
    return reply.Finish(ErrorAnswer(400, "there should be at least one submission in a batch"));
  }
  if (submissions->size() > kMaxBatch) {
    return reply.Finish(ErrorAnswer(400,
                                    "number of submissions in a batch should be less than or "
                                    "equal to " +
                                        std::to_string(kMaxBatch)));
  }
  Json answers = Json::array();
  bool has_started = false;
  std::optional<CallQueue::Refusal> refusal;
  for (const nlohmann::json& each : *submissions) {
    if (!each.is_object()) {
      answers.push_back({{"error", "a submission must be an object"}});
      continue;
    }
    BodyFields of_it(each);
    Submission submission = ReadSubmission(of_it, view.is_base64, languages_, request.caller);
    if (!of_it.mistakes().empty()) {
      answers.push_back(ErrorsJson(of_it.mistakes()));
      continue;
    }
    const std::string token = submission.token;
    refusal = Start(std::move(submission), request.caller, std::make_shared<Cancellation>(), {});
    has_started = has_started || !refusal;
    answers.push_back(refusal ? Json{{"error", "queue is full"}} : Json{{"token", token}});
  }
  if (!has_started && refusal) return reply.Finish(QueueIsFull(*refusal));
  reply.Finish(JsonAnswer(answers, has_started ? 201 : 422));
}

void Judge0::ShowBatch(const View& view, const WebRequest& request, WebReply& reply) {
  Json submissions = Json::array();
  const std::string tokens = view.tokens.value_or("");
  for (const std::string_view token : core::SplitAt(tokens, ',')) {
    if (token.empty()) continue;
    if (submissions.size() == kMaxBatch) {
      return reply.Finish(ErrorAnswer(400,
                                      "number of submissions in a batch should be less than "
                                      "or equal to " +
                                          std::to_string(kMaxBatch)));
    }
    const auto found = store_->Find(request.caller.name, std::string(token));
    submissions.push_back(found ? AttributesOf(*found, view.fields, view.is_base64) : Json());
  }
  if (submissions.empty()) {
    return reply.Finish(ErrorAnswer(400, "there should be at least one submission in a batch"));
  }
  reply.Finish(JsonAnswer({{"submissions", std::move(submissions)}}));
}

void Judge0::Show(const View& view, const WebRequest& request, WebReply& reply) {
  const auto found = store_->Find(request.caller.name, request.parameters[0]);
  if (!found) return reply.Finish(NoSubmission());
  reply.Finish(JsonAnswer(AttributesOf(*found, view.fields, view.is_base64)));
}

void Judge0::Delete(const View& view, const WebRequest& request, WebReply& reply) {
  const auto found = store_->Find(request.caller.name, request.parameters[0]);
  if (!found) return reply.Finish(NoSubmission());
  if (!found->finished) {
    return reply.Finish(ErrorAnswer(
        400, "submission cannot be deleted because its status is " + std::to_string(found->status) +
                 " (" + std::string(kSubmissionStatuses[found->status - 1].description) + ")"));
  }
  store_->Remove(request.caller.name, found->token);
  reply.Finish(JsonAnswer(AttributesOf(*found, view.fields, true)));
}

WebAnswer Judge0::ShowLanguages(size_t route, const WebRequest& request) const {
  if (route == kLanguage) {
    const int id = host::NumberFrom<int>(request.parameters[0]).value_or(0);
    const Language* const language = languages_.Find(NameOfId(id), request.caller);
    return language ? JsonAnswer(LanguageJson(id, *language, true))
                    : ErrorAnswer(404, "there is no language with this id");
  }
  Json languages = Json::array();
  for (const LanguageIds& known : KnownLanguages()) {
    const Language* const language = languages_.Find(known.name, request.caller);
    if (!language) continue;
    for (const int id : known.ids) {
      Json json = LanguageJson(id, *language, false);
      if (route == kAllLanguages) json["is_archived"] = false;
      languages.push_back(std::move(json));
    }
  }
  return JsonAnswer(languages);
}

WebAnswer Judge0::ConfigInfo() const {
  const Submission defaults;
  const ApiTerms& terms = languages_.python().terms;
  const double max_seconds = std::chrono::duration<double>(terms.maximum.timeout).count();
  const auto kilobytes = [](core::Bytes bytes) {
    return static_cast<int64_t>(static_cast<double>(bytes.count) / kKilobyte);
  };
  return JsonAnswer({{"maintenance_mode", false},
                     {"enable_wait_result", true},
                     {"enable_compiler_options", false},
                     {"allowed_languages_for_compile_options", Json::array()},
                     {"enable_command_line_arguments", true},
                     {"enable_submission_delete", true},
                     {"enable_callbacks", false},
                     {"callbacks_max_tries", 0},
                     {"callbacks_timeout", 0},
                     {"enable_additional_files", false},
                     {"max_queue_size", about_.queue},
                     {"cpu_time_limit", defaults.cpu_time_limit},
                     {"cpu_extra_time", defaults.cpu_extra_time},
                     {"max_cpu_time_limit", max_seconds},
                     {"max_cpu_extra_time", max_seconds},
                     {"wall_time_limit", defaults.wall_time_limit},
                     {"max_wall_time_limit", max_seconds},
                     {"memory_limit", kilobytes(terms.limits.memory)},
                     {"max_memory_limit", kilobytes(terms.maximum.memory)},
                     {"stack_limit", 0},
                     {"max_stack_limit", 0},
                     {"max_processes_and_or_threads", terms.limits.processes},
                     {"max_max_processes_and_or_threads", terms.limits.processes},
                     {"enable_per_process_and_thread_time_limit", false},
                     {"allow_enable_per_process_and_thread_time_limit", false},
                     {"enable_per_process_and_thread_memory_limit", false},
                     {"allow_enable_per_process_and_thread_memory_limit", false},
                     {"max_file_size", kilobytes(terms.limits.file_size)},
                     {"max_max_file_size", kilobytes(terms.limits.file_size)},
                     {"enable_network", false},
                     {"allow_enable_network", false},
                     {"number_of_runs", 1},
                     {"max_number_of_runs", 1},
                     {"redirect_stderr_to_stdout", false},
                     {"max_extract_size", 0},
                     {"enable_batched_submissions", true},
                     {"max_submission_batch_size", kMaxBatch},
                     {"submission_cache_duration", 0},
                     {"use_docs_as_homepage", false}});
}

}  // namespace belljar::server::compatible::judge0
