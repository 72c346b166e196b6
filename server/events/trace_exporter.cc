#include "server/events/trace_exporter.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/host/version.h"
#include "server/events/http_post.h"
#include "server/events/sender_thread.h"

namespace belljar::server::events {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr char kPath[] = "/v1/traces";
constexpr size_t kMaxOpen = 8192;      // executions that have not ended
constexpr size_t kMaxSpanEvents = 64;  // events of a span
constexpr size_t kMaxWaiting = 4096;   // spans
constexpr size_t kMaxBatchSpans = 512;
constexpr std::chrono::milliseconds kDelay{1000};  // time for a batch to fill
constexpr std::chrono::milliseconds kTimeout{10'000};
constexpr unsigned kAttempts = 5;

// The JSON of Protocol Buffers: 64-bit numbers are strings.
std::string Nanoseconds(std::chrono::system_clock::time_point time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Json AnyValueOf(const Json& value) {
  if (value.is_boolean()) return {{"boolValue", value}};
  if (value.is_number_integer()) return {{"intValue", std::to_string(value.get<int64_t>())}};
  if (value.is_number()) return {{"doubleValue", value}};
  if (value.is_array()) {
    Json values = Json::array();
    for (const Json& each : value) values.push_back(AnyValueOf(each));
    return {{"arrayValue", {{"values", values}}}};
  }
  return {{"stringValue", value.is_string() ? value : Json(value.dump())}};
}

void Add(Json& attributes, const std::string& key, const Json& value) {
  attributes.push_back({{"key", key}, {"value", AnyValueOf(value)}});
}

Json AttributesOf(const EventData& data, bool with_execution) {
  Json attributes = Json::array();
  const Json fields = FieldsOf(data);
  for (const auto& [name, value] : fields.items()) {
    if (name == "execution" && !with_execution) continue;
    Add(attributes, "belljar." + name, value);
  }
  return attributes;
}

bool IsOk(const EventData& last) {
  const auto* ended = std::get_if<ExecutionEnded>(&last);
  return ended && ended->status == "ok";
}

Json SpanJson(const Span& span) {
  Json attributes = AttributesOf(span.last->data, true);
  Add(attributes, "belljar.token", span.last->owner);
  Json happened = Json::array();
  for (const auto& event : span.happened) {
    happened.push_back({{"timeUnixNano", Nanoseconds(event->time)},
                        {"name", NameOf(event->data)},
                        {"attributes", AttributesOf(event->data, false)}});
  }
  constexpr int kServer = 2, kStatusOk = 1, kStatusError = 2;
  Json json = {{"traceId", span.context.trace_id}, {"spanId", span.id}};
  if (!span.context.parent_id.empty()) json["parentSpanId"] = span.context.parent_id;
  json.update({{"name", span.name},
               {"kind", kServer},
               {"startTimeUnixNano", Nanoseconds(span.start)},
               {"endTimeUnixNano", Nanoseconds(span.end)},
               {"attributes", attributes},
               {"events", happened},
               {"status", {{"code", IsOk(span.last->data) ? kStatusOk : kStatusError}}}});
  return json;
}

// Worth retrying, according to OTLP.
bool IsPassing(unsigned status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

std::string ToOtlp(const std::vector<Span>& spans, const std::string& service,
                   const std::string& instance) {
  Json resource = Json::array();
  Add(resource, "service.name", service);
  Add(resource, "service.version", host::kBelljarVersion);
  Add(resource, "service.instance.id", instance);
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(SpanJson(span));
  const Json scope = {{"name", "belljar"}, {"version", host::kBelljarVersion}};
  const Json scope_spans = {{"scope", scope}, {"spans", list}};
  const Json resource_spans = {{"resource", {{"attributes", resource}}},
                               {"scopeSpans", Json::array({scope_spans})}};
  const Json body = {{"resourceSpans", Json::array({resource_spans})}};
  return body.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

class TraceExporter::Worker : public SenderThread {
 public:
  Worker(HttpTarget target, TracingConfig config, std::string instance, FailureListener on_failure)
      : config_(std::move(config)),
        instance_(std::move(instance)),
        on_failure_(std::move(on_failure)),
        post_(std::move(target)) {}

  core::Result<void> Start() {
    return Run("export traces", [this] { Work(); });
  }

  void Take(const std::shared_ptr<const Event>& event) {
    const std::string execution(ExecutionOf(event->data));
    if (execution.empty()) return;
    const std::lock_guard lock(mutex_);
    if (const auto* submitted = std::get_if<ExecutionSubmitted>(&event->data)) {
      return Begin(execution, *submitted, *event);
    }
    const auto found = open_.find(execution);
    if (found == open_.end()) return;
    Span& span = found->second;
    if (!std::holds_alternative<ExecutionEnded>(event->data) &&
        !std::holds_alternative<ExecutionRefused>(event->data)) {
      if (span.happened.size() < kMaxSpanEvents) span.happened.push_back(event);
      return;
    }
    span.end = event->time;
    span.last = event;
    if (waiting_.size() >= kMaxWaiting) {
      waiting_.pop_front();
      ++counters_.dropped;
    }
    waiting_.push_back(std::move(span));
    open_.erase(found);
    if (waiting_.size() == 1 || waiting_.size() == kMaxBatchSpans) changed_.notify_all();
  }

  Counters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

 private:
  // Requires mutex_.
  void Begin(const std::string& execution, const ExecutionSubmitted& submitted,
             const Event& event) {
    std::optional<TraceContext> context = TraceContext::Parse(submitted.traceparent);
    if (context && !context->sampled) return;
    if (open_.size() >= kMaxOpen) {
      ++counters_.dropped;
      return;
    }
    open_[execution] = {context ? std::move(*context) : TraceContext::New(),
                        NewSpanId(),
                        submitted.tool,
                        event.time,
                        event.time,
                        nullptr,
                        {}};
  }

  // Empty: nothing more will come.
  std::vector<Span> Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    changed_.wait_for(lock, kDelay, [&] { return ends_ || waiting_.size() >= kMaxBatchSpans; });
    const size_t count = std::min(waiting_.size(), kMaxBatchSpans);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Span> spans(std::make_move_iterator(waiting_.begin()),
                            std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    return spans;
  }

  void Work() {
    for (;;) {
      const std::vector<Span> spans = Next();
      if (spans.empty()) break;
      const bool exported = Export(ToOtlp(spans, config_.service, instance_));
      const std::lock_guard lock(mutex_);
      (exported ? counters_.exported : counters_.dropped) += spans.size();
    }
  }

  bool Export(const std::string& body) {
    host::Backoff backoff = kBackoff;
    for (unsigned attempt = 1;; ++attempt) {
      const core::Result<unsigned> status =
          post_.Send({{"Content-Type", "application/json"},
                      {"User-Agent", std::string("belljar/") + host::kBelljarVersion}},
                     body, Clock::now() + kTimeout, stop_);
      if (status && *status >= 200 && *status < 300) return true;
      if (!status && status.error().error_number == ECANCELED) return false;
      const bool is_lost = attempt == kAttempts || (status && !IsPassing(*status));
      if (on_failure_) {
        on_failure_(WhyFailed(status), attempt, is_lost);
      }
      if (is_lost) return false;
      backoff.Fail(Clock::now());
      if (!Sleep(backoff.RandomWait())) return false;
    }
  }

  const TracingConfig config_;
  const std::string instance_;
  const FailureListener on_failure_;
  HttpPost post_;

  std::map<std::string, Span> open_;  // by execution
  std::deque<Span> waiting_;
  Counters counters_;
};

core::Result<std::unique_ptr<TraceExporter>> TraceExporter::Start(EventHub& hub,
                                                                  const TracingConfig& config,
                                                                  FailureListener on_failure) {
  core::Result<HttpTarget> target = HttpTarget::Parse(config.endpoint, config.allow_private);
  if (!target) return core::MakeError("tracing.endpoint", target.error().detail);
  if (target->path.ends_with('/')) target->path.pop_back();
  target->path += kPath;
  auto worker =
      std::make_shared<Worker>(std::move(*target), config, hub.epoch(), std::move(on_failure));
  if (core::Result<void> started = worker->Start(); !started) return started.error();
  hub.AddListener([worker](const std::shared_ptr<const Event>& event) { worker->Take(event); });
  return std::unique_ptr<TraceExporter>(new TraceExporter(std::move(worker)));
}

TraceExporter::TraceExporter(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}

TraceExporter::~TraceExporter() { worker_->Stop(); }

void TraceExporter::Finish(Clock::time_point deadline) {
  worker_->Finish();
  worker_->Join(deadline);
}

TraceExporter::Counters TraceExporter::counters() const { return worker_->counters(); }

}  // namespace belljar::server::events
