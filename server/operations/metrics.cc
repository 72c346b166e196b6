#include "server/operations/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <utility>

#include "server/operations/process_figures.h"

namespace belljar::server::operations {
namespace {

using prometheus::ClientMetric;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;
using prometheus::Registry;

// Seconds: from a run in a spare worker to the maximum timeout of a call.
const Histogram::BucketBoundaries kDurations = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                0.05,   0.1,   0.25,   0.5,   1,    2.5,
                                                5,      10,    30,     60,    120,  300};

constexpr size_t kMaxSeries = 512;  // of one family, times its statuses
constexpr size_t kMaxLabelBytes = 128;
constexpr char kOther[] = "other";

// The statuses of outcomes, followed by those of calls without one.
constexpr host::Status kStatuses[] = {
    host::Status::kOk,      host::Status::kException, host::Status::kRefused,
    host::Status::kTimeout, host::Status::kCpuLimit,  host::Status::kMemoryLimit,
    host::Status::kKilled,
};
constexpr size_t kFailed = std::size(kStatuses);
constexpr size_t kNone = kFailed + 1;
constexpr size_t kStatusCount = kNone + 1;

std::string_view NameOf(size_t status) {
  if (status == kFailed) return "failure";
  return status == kNone ? "none" : host::StatusName(kStatuses[status]);
}

size_t IndexOf(const CallRecord& record) {
  if (record.failure) return kFailed;
  if (!record.outcome) return kNone;
  const auto* found = std::find(std::begin(kStatuses), std::end(kStatuses), record.outcome->status);
  return std::min(static_cast<size_t>(found - kStatuses), kNone);
}

// Valid UTF-8 of bounded length: a single invalid label would make the whole page unreadable.
std::string LabelValue(std::string_view text) {
  const std::string quoted = nlohmann::json(text.substr(0, kMaxLabelBytes))
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

// Series by label values. Lookup of a known series is concurrent and needs no allocation. Beyond
// kMaxSeries, new ones share a series whose labels are all "other".
template <typename Series, size_t kLabels>
class SeriesTable {
 public:
  using Key = std::array<std::string_view, kLabels>;

  template <typename Make>  // (const std::array<std::string, kLabels>&) -> Series
  Series& Find(const Key& key, const Make& make) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = series_.find(key); found != series_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    Values values;
    const bool full = series_.size() >= kMaxSeries;
    for (size_t i = 0; i < kLabels; ++i) values[i] = full ? kOther : LabelValue(key[i]);
    if (const auto found = series_.find(values); found != series_.end()) return found->second;
    Series series = make(values);
    return series_.emplace(std::move(values), std::move(series)).first->second;
  }

 private:
  using Values = std::array<std::string, kLabels>;
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(
          a.begin(), a.end(), b.begin(), b.end(),
          [](std::string_view x, std::string_view y) { return x < y; });
    }
  };
  std::shared_mutex mutex_;
  std::map<Values, Series, Less> series_;  // a std::map, because references must stay valid
};

// Metrics that are read at scrape time.
class Page {
 public:
  explicit Page(std::vector<MetricFamily> families) : families_(std::move(families)) {}

  void Begin(MetricType type, std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }
  void Add(double value, std::vector<ClientMetric::Label> labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    metric.counter.value = value;
    families_.back().metric.push_back(std::move(metric));
  }
  template <typename Value>
  void One(MetricType type, std::string name, std::string help, const Value& value) {
    Begin(type, std::move(name), std::move(help));
    Add(static_cast<double>(value));
  }
  template <typename Value>
  void One(MetricType type, std::string name, std::string help, const std::optional<Value>& value) {
    if (value) One(type, std::move(name), std::move(help), *value);
  }
  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddCalls(Page& page, const CallQueue::Counters& calls) {
  page.One(MetricType::Gauge, "belljar_calls_running", "Running calls.", calls.running);
  page.One(MetricType::Gauge, "belljar_calls_waiting", "Calls waiting in the queue.",
           calls.waiting);
  page.One(MetricType::Counter, "belljar_calls_refused_total",
           "Calls refused because the limit of the server or the caller was reached.",
           calls.refused);
}

void AddSpares(Page& page, const std::vector<SpareGauge>& spares) {
  page.Begin(MetricType::Gauge, "belljar_spares_waiting",
             "Spare workers: sealed and waiting for a call.");
  for (const SpareGauge& spare : spares) {
    page.Add(static_cast<double>(spare.waiting), {{"profile", LabelValue(spare.profile)}});
  }
  page.Begin(MetricType::Gauge, "belljar_spares_wanted", "Configured number of spare workers.");
  for (const SpareGauge& spare : spares) {
    page.Add(static_cast<double>(spare.wanted), {{"profile", LabelValue(spare.profile)}});
  }
}

void AddAudit(Page& page, const AuditFigures& audit) {
  page.One(MetricType::Counter, "belljar_audit_entries_total", "Entries written to the audit log.",
           audit.entries);
  page.One(MetricType::Counter, "belljar_audit_failures_total",
           "Failed attempts to write to the audit log.", audit.failures);
  page.One(MetricType::Counter, "belljar_audit_lost_total",
           "Entries lost because the audit log could not be written.", audit.lost);
  page.One(MetricType::Gauge, "belljar_audit_waiting", "Entries waiting to be written.",
           audit.waiting);
  page.One(MetricType::Gauge, "belljar_audit_failing",
           "Whether the audit log currently cannot be written: 1 or 0.", audit.is_failing);
}

void AddEvents(Page& page, const EventFigures& events) {
  page.One(MetricType::Counter, "belljar_events_total", "Events of executions and sessions.",
           events.published);
  page.One(MetricType::Gauge, "belljar_event_streams", "Open event streams.", events.streams);
  if (events.receivers.empty()) return;
  page.Begin(MetricType::Counter, "belljar_deliveries_total",
             "Events delivered to webhooks and spans to the trace collector; failed: attempts; "
             "dropped: events or spans that were lost.");
  for (const EventFigures::Receiver& each : events.receivers) {
    const std::string receiver = each.name.empty() ? "tracing" : LabelValue("webhook " + each.name);
    for (const auto& [result, count] : {std::pair("delivered", each.delivered),
                                        {"failed", each.failed},
                                        {"dropped", each.dropped}}) {
      page.Add(static_cast<double>(count), {{"receiver", receiver}, {"result", result}});
    }
  }
}

void AddProcess(Page& page) {
  const ProcessFigures figures = ReadProcessFigures();
  page.One(MetricType::Counter, "process_cpu_seconds_total",
           "User and system CPU time of the server process, in seconds.", figures.cpu_seconds);
  page.One(MetricType::Gauge, "process_resident_memory_bytes",
           "Resident memory of the server process, in bytes.", figures.resident_bytes);
  page.One(MetricType::Gauge, "process_virtual_memory_bytes",
           "Virtual memory of the server process, in bytes.", figures.virtual_bytes);
  page.One(MetricType::Gauge, "process_open_fds", "Open file descriptors.", figures.open_fds);
  page.One(MetricType::Gauge, "process_max_fds", "Maximum number of open file descriptors.",
           figures.max_fds);
  page.One(MetricType::Gauge, "process_start_time_seconds",
           "Start of the server process, in seconds since 1970.", figures.start_time);
}

double Seconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1e6; }

template <typename Build>
auto& Add(Registry& registry, Build build, const char* name, const char* help) {
  return build.Name(name).Help(help).Register(registry);
}

}  // namespace

struct Metrics::Families {
  // For one tool, profile and token.
  struct Calls {
    std::array<Counter*, kStatusCount> by_status{};
    Histogram* duration = nullptr;
  };
  Calls& CallsOf(const CallRecord& record) {
    return calls.Find({record.tool, record.profile, record.caller}, [&](const auto& values) {
      Calls made;
      for (size_t i = 0; i < kStatusCount; ++i) {
        made.by_status[i] = &executions.Add({{"tool", values[0]},
                                             {"profile", values[1]},
                                             {"token", values[2]},
                                             {"status", std::string(NameOf(i))}});
      }
      made.duration = &durations.Add({{"profile", values[1]}}, kDurations);
      return made;
    });
  }

  void CountEvent(const host::SecurityEvent& event) {
    Counter* counter = events.Find({event.layer, event.action}, [&](const auto& values) {
      return &security_events.Add({{"layer", values[0]}, {"action", values[1]}});
    });
    counter->Increment(static_cast<double>(event.count));
  }

  void SetLayer(const host::LayerState& layer) {
    Gauge* gauge = layers.Find({layer.name}, [&](const auto& values) {
      return &layer_held.Add({{"layer", values[0]}});
    });
    gauge->Set(layer.held ? 1 : 0);
  }

  Registry registry;
  prometheus::Family<Counter>& executions =
      Add(registry, prometheus::BuildCounter(), "belljar_executions_total",
          "Calls of tools that use a worker, by status. \"failure\" is a failure of the server, "
          "\"none\" a call that ended without an outcome.");
  prometheus::Family<Histogram>& durations =
      Add(registry, prometheus::BuildHistogram(), "belljar_execution_duration_seconds",
          "Wall time of the code in its worker, in seconds.");
  Counter& worker_cpu =
      Add(registry, prometheus::BuildCounter(), "belljar_worker_cpu_seconds_total",
          "CPU time of finished workers, in seconds.")
          .Add({});
  Counter& dropped = Add(registry, prometheus::BuildCounter(), "belljar_output_dropped_bytes_total",
                         "Output discarded beyond the output limit, in bytes.")
                         .Add({});
  prometheus::Family<Counter>& security_events =
      Add(registry, prometheus::BuildCounter(), "belljar_security_events_total",
          "Guest actions that a layer denied or killed the worker for.");
  Counter& our_failures = Add(registry, prometheus::BuildCounter(), "belljar_our_failures_total",
                              "Calls that failed because of the server, not the guest.")
                              .Add({});
  prometheus::Family<Counter>& container_runs =
      Add(registry, prometheus::BuildCounter(), "belljar_container_runs_total",
          "Runs in containers, by whether a warm container was available.");
  // Both exist from the start, because rate() ignores the first sample of a new series.
  Counter& warm_runs = container_runs.Add({{"warm", "yes"}});
  Counter& cold_runs = container_runs.Add({{"warm", "no"}});
  prometheus::Family<Gauge>& layer_held =
      Add(registry, prometheus::BuildGauge(), "belljar_layer_held",
          "Whether the layer was in effect for the last worker outside a container: 1 or 0.");
  prometheus::Family<Counter>& http_requests =
      Add(registry, prometheus::BuildCounter(), "belljar_http_requests_total",
          "HTTP responses, by status code.");
  Counter& auth_failures = Add(registry, prometheus::BuildCounter(), "belljar_auth_failures_total",
                               "Requests without a valid token.")
                               .Add({});
  prometheus::Family<Gauge>& build_info =
      Add(registry, prometheus::BuildGauge(), "belljar_build_info",
          "Always 1; the labels contain the versions.");

  SeriesTable<Calls, 3> calls;
  SeriesTable<Counter*, 2> events;
  SeriesTable<Gauge*, 1> layers;
  SeriesTable<Counter*, 1> http_codes;
};

Metrics::Metrics(const BuildInfo& build) : families_(std::make_unique<Families>()) {
  families_->build_info
      .Add({{"version", LabelValue(build.version)}, {"python", LabelValue(build.python)}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::ReadFrom(MetricsSources sources) { sources_ = std::move(sources); }

void Metrics::Called(const CallRecord& record) {
  Families& to = *families_;
  Families::Calls& calls = to.CallsOf(record);
  calls.by_status[IndexOf(record)]->Increment();
  if (record.failure) to.our_failures.Increment();
  if (!record.outcome) return;
  const host::Outcome& outcome = *record.outcome;
  calls.duration->Observe(Seconds(outcome.usage.wall_time));
  to.worker_cpu.Increment(Seconds(outcome.usage.cpu_time));
  if (const uint64_t dropped =
          outcome.stdout_stream.dropped_bytes + outcome.stderr_stream.dropped_bytes) {
    to.dropped.Increment(static_cast<double>(dropped));
  }
  for (const host::SecurityEvent& event : outcome.security_events) to.CountEvent(event);
  if (outcome.container) {
    (outcome.container->warm ? to.warm_runs : to.cold_runs).Increment();
  } else {
    // Layers in a container depend on the container and are reported by its guest.
    for (const host::LayerState& layer : outcome.isolation.layers) to.SetLayer(layer);
  }
}

void Metrics::HttpAnswered(int code) {
  std::array<char, 16> text{};
  const int length =
      code >= 100 && code <= 599 ? snprintf(text.data(), text.size(), "%d", code) : 0;
  const std::string_view label =
      length > 0 ? std::string_view(text.data(), static_cast<size_t>(length)) : kOther;
  Counter* counter = families_->http_codes.Find({label}, [&](const auto& values) {
    return &families_->http_requests.Add({{"code", values[0]}});
  });
  counter->Increment();
}

void Metrics::AuthenticationFailed() { families_->auth_failures.Increment(); }

std::string Metrics::Text() const {
  Page page(families_->registry.Collect());
  if (sources_.calls) AddCalls(page, sources_.calls());
  if (sources_.spares) AddSpares(page, sources_.spares());
  if (sources_.http_connections) {
    page.One(MetricType::Gauge, "belljar_http_connections", "Open HTTP connections.",
             sources_.http_connections());
  }
  if (sources_.sessions) {
    page.One(MetricType::Gauge, "belljar_sessions_open", "Open sessions.", sources_.sessions());
  }
  if (sources_.audit) AddAudit(page, sources_.audit());
  if (sources_.events) AddEvents(page, sources_.events());
  AddProcess(page);
  return page.Text();
}

}  // namespace belljar::server::operations
