#include "server/rest/job_service.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/core/text.h"
#include "engine/host/number.h"
#include "engine/host/percent_encoding.h"
#include "server/core/resource_store.h"
#include "server/rest/batch.h"
#include "server/rest/failure.h"
#include "server/rest/idempotency.h"

namespace belljar::server::rest {
namespace {

using JobJson = nlohmann::ordered_json;

// Submissions waiting at the same time are written to the disk together.
constexpr size_t kThreads = 8;
constexpr size_t kMaxRequests = 1 << 20;  // there are never as many connections
constexpr size_t kDefaultPage = 50, kMaxPage = 1000;
constexpr std::chrono::seconds kMaxDeadline = std::chrono::hours(24 * 30);

std::string TimeText(jobs::Time time) {
  const auto milliseconds = time.time_since_epoch().count() % 1000;
  std::string text = core::UtcText(time, "%Y-%m-%dT%H:%M:%S.");
  const std::string digits = std::to_string(1000 + milliseconds);
  return text + digits.substr(1) + "Z";
}

JobJson TimeJson(const std::optional<jobs::Time>& time) {
  return time ? JobJson(TimeText(*time)) : JobJson(nullptr);
}

// Without the closing brace, before which the outcome is inserted.
std::string JobText(const jobs::Job& job) {
  JobJson json = {{"id", job.id},
                  {"state", jobs::JobStateName(job.state)},
                  {"priority", job.priority},
                  {"attempts", job.attempts},
                  {"submitted", TimeText(job.submitted)},
                  {"started", TimeJson(job.started)},
                  {"ended", TimeJson(job.ended)},
                  {"deadline", TimeJson(job.deadline)}};
  if (!job.batch.empty()) {
    json["batch"] = job.batch;
    json["index"] = job.position;
  }
  if (!job.failure.empty()) json["failure"] = job.failure;
  using Handler = JobJson::error_handler_t;
  std::string text = core::SafeJson(json.dump(-1, ' ', false, Handler::replace));
  text.pop_back();
  return text;
}

std::string WholeJobText(const jobs::Job& job) {
  return JobText(job) + ",\"execution\":" + (job.result.empty() ? "null" : job.result) + "}";
}

WebAnswer StoreFailed(const core::Error& error) {
  const bool may_pass =
      error.error_number == EBUSY || error.error_number == ENOTCONN || error.error_number == ENOSPC;
  // The log has more for the operator.
  if (may_pass) {
    return Problem(503, "the job store is not available now: " + error.ToString(),
                   "Retry-After: 1\r\n");
  }
  return Problem(500, "the job store failed: " + error.ToString());
}

WebAnswer NoSuch(std::string_view what, const std::string& id) {
  return Problem(404, "there is no " + std::string(what) + " " + core::Quoted(id));
}

template <typename Number>
std::optional<Number> NumberIn(const std::string& text, Number min, Number max) {
  const auto number = host::NumberFrom<Number>(text);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

core::Error Wrong(std::string sentence) {
  return core::MakeError("read the query", std::move(sentence));
}

// priority=, deadline= (seconds from now) and retry=.
core::Result<jobs::NewJob> TermsOf(const std::string& query) {
  const core::Result<WebParameters> parameters = ParseQuery(query);
  if (!parameters) return parameters.error();
  jobs::NewJob job;
  for (const auto& [name, value] : *parameters) {
    if (name == "priority") {
      const auto priority = NumberIn<int>(value, jobs::kMinPriority, jobs::kMaxPriority);
      if (!priority) return Wrong("priority must be a whole number from -10 to 10");
      job.priority = *priority;
    } else if (name == "deadline") {
      const auto seconds = NumberIn<int64_t>(value, 1, kMaxDeadline.count());
      if (!seconds) {
        return Wrong("deadline must be a number of seconds, at most " +
                     std::to_string(kMaxDeadline.count()));
      }
      job.deadline = std::chrono::time_point_cast<std::chrono::milliseconds>(
          std::chrono::system_clock::now() + std::chrono::seconds(*seconds));
    } else if (name == "retry" && (value == "true" || value == "false")) {
      job.retry_interrupted = value == "true";
    } else if (name == "retry") {
      return Wrong("retry must be true or false");
    } else {
      return Wrong("unknown parameter " + core::Quoted(name) +
                   "; allowed are priority, deadline, retry");
    }
  }
  return job;
}

WebAnswer Accepted(const jobs::Submitted& submitted, bool is_batch) {
  const std::string path =
      is_batch ? "/v1/batches/" + submitted.batch : "/v1/executions/" + submitted.ids.at(0);
  const JobJson json =
      is_batch
          ? JobJson{{"id", submitted.batch}, {"state", "queued"}, {"executions", submitted.ids}}
          : JobJson{{"id", submitted.ids.at(0)}, {"state", "queued"}};
  const bool is_repeated = submitted.outcome == jobs::Submitted::Outcome::kRepeated;
  return {202, "application/json", json.dump(),
          "Location: " + path + "\r\nPreference-Applied: respond-async\r\n" +
              (is_repeated ? "Idempotency-Replayed: true\r\n" : "")};
}

struct PageTerms {
  jobs::JobFilter filter;
  std::string cursor;
  size_t limit = kDefaultPage;
};

core::Result<PageTerms> PageTermsOf(const std::string& query) {
  const core::Result<WebParameters> parameters = ParseQuery(query);
  if (!parameters) return parameters.error();
  PageTerms terms;
  for (const auto& [name, value] : *parameters) {
    if (name == "state") {
      terms.filter.state = jobs::JobStateNamed(value);
      if (!terms.filter.state) return Wrong("unknown state " + core::Quoted(value));
    } else if (name == "batch") {
      terms.filter.batch = value;
    } else if (name == "cursor") {
      terms.cursor = value;
    } else if (name == "limit") {
      const auto limit = NumberIn<size_t>(value, 1, kMaxPage);
      if (!limit)
        return Wrong("limit must be a whole number from 1 to " + std::to_string(kMaxPage));
      terms.limit = *limit;
    } else {
      return Wrong("unknown parameter " + core::Quoted(name) +
                   "; allowed are state, batch, cursor, limit");
    }
  }
  return terms;
}

}  // namespace

bool PrefersAsync(const WebHeaders& headers) { return HasItem(headers.prefer, "respond-async"); }

JobService::JobService(jobs::JobStore& store, jobs::JobRunner& runner)
    : store_(store), runner_(runner), requests_({.running = kThreads, .waiting = kMaxRequests}) {}

JobService::~JobService() { requests_.Drain(std::chrono::steady_clock::time_point::max()); }

void JobService::Answer(WebRequest request, std::shared_ptr<WebReply> reply, Answerer answer) {
  const std::string caller = request.caller.name;
  const auto refusal = requests_.Submit(
      caller, 0, [request = std::move(request), reply, answer = std::move(answer)] {
        reply->Finish(answer(request));
      });
  if (refusal) reply->Finish(ProblemOf(*refusal));
}

WebAnswer JobService::SubmitAll(const WebRequest& request, std::vector<std::string> executions,
                                bool is_batch) {
  core::Result<jobs::NewJob> terms = TermsOf(request.query);
  if (!terms) return Problem(400, terms.error().detail);
  if (std::optional<WebAnswer> problem = KeyProblem(request.headers)) return *problem;
  const std::string key = request.headers.idempotency_key.value_or("");
  terms->kind = kExecutionKind;
  jobs::Submission submission{request.caller.name, {}, is_batch, key};
  for (std::string& each : executions) {
    submission.jobs.push_back(*terms);
    submission.jobs.back().request = std::move(each);
  }
  const core::Result<jobs::Submitted> submitted = store_.Submit(submission);
  if (!submitted) return StoreFailed(submitted.error());
  using Outcome = jobs::Submitted::Outcome;
  switch (submitted->outcome) {
    case Outcome::kAccepted:
      runner_.NotifySubmitted(request.caller.name, kExecutionKind, submitted->ids,
                              request.headers.traceparent.value_or(""));
      runner_.Wake();
      return Accepted(*submitted, is_batch);
    case Outcome::kRepeated: return Accepted(*submitted, is_batch);
    case Outcome::kKeyReused:
      return Problem(422, "this Idempotency-Key was used for another request; choose another key");
    case Outcome::kOwnerFull:
    case Outcome::kFull: return Problem(429, submitted->full, "Retry-After: 5\r\n");
    case Outcome::kInvalid: break;
  }
  return Problem(422, submitted->full);
}

void JobService::Submit(const nlohmann::json& arguments, WebRequest request,
                        std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply),
         [this, text = arguments.dump()](const WebRequest& asked) {
           return SubmitAll(asked, {text}, false);
         });
}

void JobService::SubmitBatch(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) {
    const core::Result<std::vector<nlohmann::json>> calls = ReadBatch(asked.body);
    if (!calls) return Problem(422, calls.error().detail);
    std::vector<std::string> texts;
    for (const nlohmann::json& each : *calls) texts.push_back(each.dump());
    return SubmitAll(asked, std::move(texts), true);
  });
}

void JobService::Find(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const std::string& id = asked.parameters[0];
    const core::Result<std::optional<jobs::Job>> job = store_.Find(asked.caller.name, id);
    if (!job) return StoreFailed(job.error());
    if (!*job) return NoSuch("execution", id);
    return {200, "application/json", WholeJobText(**job), ""};
  });
}

void JobService::List(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const core::Result<PageTerms> terms = PageTermsOf(asked.query);
    if (!terms) return Problem(400, terms.error().detail);
    const core::Result<jobs::JobPage> page =
        store_.List(asked.caller.name, terms->filter, terms->cursor, terms->limit);
    if (!page) {
      return page.error().error_number == EINVAL ? Problem(400, page.error().detail)
                                                 : StoreFailed(page.error());
    }
    std::string text = "{\"executions\":[";
    for (const jobs::Job& job : page->jobs) {
      if (!text.ends_with('[')) text += ',';
      text += JobText(job) + "}";
    }
    text += "],\"next\":" + (page->next.empty() ? "null" : JobJson(page->next).dump()) + "}";
    std::string link;
    if (!page->next.empty()) {
      link = "Link: </v1/executions?limit=" + std::to_string(terms->limit) +
             "&cursor=" + host::PercentEncoded(page->next, "/");
      if (terms->filter.state) {
        link += "&state=" + std::string(jobs::JobStateName(*terms->filter.state));
      }
      if (!terms->filter.batch.empty())
        link += "&batch=" + host::PercentEncoded(terms->filter.batch, "/");
      link += ">; rel=\"next\"\r\n";
    }
    return {200, "application/json", std::move(text), std::move(link)};
  });
}

void JobService::Cancel(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const std::string& id = asked.parameters[0];
    const core::Result<jobs::JobCancellation> cancelled = store_.Cancel(asked.caller.name, id);
    if (!cancelled) return StoreFailed(cancelled.error());
    using Outcome = jobs::JobCancellation::Outcome;
    switch (cancelled->outcome) {
      case Outcome::kUnknown: return NoSuch("execution", id);
      case Outcome::kEnded: return Problem(409, "this execution has ended");
      case Outcome::kRequested: runner_.Cancel(id); break;
      case Outcome::kCancelled:
        runner_.NotifyRefused({{asked.caller.name, id}}, "cancelled");
        break;
    }
    return {204, "", "", ""};
  });
}

void JobService::FindBatch(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const std::string& id = asked.parameters[0];
    const core::Result<std::optional<jobs::Batch>> batch = store_.FindBatch(asked.caller.name, id);
    if (!batch) return StoreFailed(batch.error());
    if (!*batch) return NoSuch("batch", id);
    JobJson states = JobJson::object();
    uint32_t ended = (*batch)->removed;
    for (size_t i = 0; i < jobs::kJobStates; ++i) {
      const auto state = static_cast<jobs::JobState>(i);
      states[std::string(jobs::JobStateName(state))] = (*batch)->by_state[i];
      if (jobs::HasEnded(state)) ended += (*batch)->by_state[i];
    }
    const JobJson json = {{"id", id},
                          {"submitted", TimeText((*batch)->submitted)},
                          {"total", (*batch)->total},
                          {"ended", ended},
                          {"states", std::move(states)},
                          {"removed", (*batch)->removed}};
    return {200, "application/json", json.dump(), ""};
  });
}

void JobService::BatchResults(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const std::string& id = asked.parameters[0];
    uint64_t after = 0;
    size_t limit = kDefaultPage;
    const core::Result<WebParameters> parameters = ParseQuery(asked.query);
    if (!parameters) return Problem(400, parameters.error().detail);
    for (const auto& [name, value] : *parameters) {
      const auto number = NumberIn<uint64_t>(value, 0, UINT32_MAX);
      const bool is_limit = name == "limit" && number && *number >= 1 && *number <= kMaxPage;
      if (is_limit) {
        limit = *number;
      } else if (name == "after" && number) {
        after = *number;
      } else {
        return Problem(400, "allowed are after, and limit from 1 to 1000");
      }
    }
    const core::Result<std::optional<jobs::Batch>> batch = store_.FindBatch(asked.caller.name, id);
    if (!batch) return StoreFailed(batch.error());
    if (!*batch) return NoSuch("batch", id);
    const core::Result<std::vector<jobs::Job>> ended =
        store_.BatchResults(asked.caller.name, id, after, limit);
    if (!ended) return StoreFailed(ended.error());
    std::string lines;
    for (const jobs::Job& job : *ended) {
      lines += WholeJobText(job) + "\n";
      after = job.finish;
    }
    // Where the next request continues, whether more have ended by then or not.
    return {200, "application/jsonl", std::move(lines),
            "Link: </v1/batches/" + host::PercentEncoded(id, "/") + "/results?after=" +
                std::to_string(after) + "&limit=" + std::to_string(limit) + ">; rel=\"next\"\r\n"};
  });
}

void JobService::CancelBatch(WebRequest request, std::shared_ptr<WebReply> reply) {
  Answer(std::move(request), std::move(reply), [this](const WebRequest& asked) -> WebAnswer {
    const std::string& id = asked.parameters[0];
    const auto cancelled = store_.CancelBatch(asked.caller.name, id);
    if (!cancelled) return StoreFailed(cancelled.error());
    if (!*cancelled) return NoSuch("batch", id);
    // Jobs running here are told at the next renewal.
    const JobJson json = {{"cancelled", (*cancelled)->first}, {"requested", (*cancelled)->second}};
    return {200, "application/json", json.dump(), ""};
  });
}

}  // namespace belljar::server::rest
