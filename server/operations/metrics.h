// Metrics: counters and gauges of the server in the Prometheus text format 0.0.4.
//
//   Metrics metrics({.version = "0.1.0", .python = "3.11.2"});
//   metrics.ReadFrom({.calls = [&] { return queue.counters(); }, …});   // before the first Text
//   metrics.Called(record);                 // tools, through CallObserver
//   metrics.HttpAnswered(200);              // the HTTP transport
//   std::string body = metrics.Text();      // GET /metrics, content type kMetricsContentType
//
// All functions except ReadFrom may be called from any thread.
//
// No label has values chosen by guests or callers: tools and profiles come from the server, tokens
// from the operator, layers and actions from the engine. As a safeguard the number of series is
// bounded; further ones are counted under "other".
#ifndef BELLJAR_SERVER_OPERATIONS_METRICS_H_
#define BELLJAR_SERVER_OPERATIONS_METRICS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/calls/call_queue.h"
#include "server/calls/observer.h"

namespace belljar::server::operations {

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

struct BuildInfo {
  std::string version;  // Belljar's
  std::string python;   // the embedded interpreter's
};

struct SpareGauge {
  std::string profile;
  size_t waiting = 0;
  size_t wanted = 0;
};

struct AuditFigures {
  uint64_t entries = 0;
  uint64_t failures = 0;
  uint64_t lost = 0;
  size_t waiting = 0;
  bool is_failing = false;
};

// Events, and their deliveries.
struct EventFigures {
  uint64_t published = 0;
  size_t streams = 0;
  struct Receiver {
    std::string name;  // a webhook; empty: the trace collector
    uint64_t delivered = 0;
    uint64_t failed = 0;  // attempts
    uint64_t dropped = 0;
  };
  std::vector<Receiver> receivers;
};

// Called at each scrape, on the scraping thread. Empty: the metric is omitted.
struct MetricsSources {
  std::function<CallQueue::Counters()> calls;
  std::function<std::vector<SpareGauge>()> spares;
  std::function<size_t()> http_connections;
  std::function<size_t()> sessions;
  std::function<AuditFigures()> audit;
  std::function<EventFigures()> events;
};

class Metrics : public CallObserver {
 public:
  explicit Metrics(const BuildInfo& build);
  ~Metrics() override;

  // Must be called before all other functions.
  void ReadFrom(MetricsSources sources);

  void Called(const CallRecord& record) override;
  void HttpAnswered(int code);
  void AuthenticationFailed();

  // Collects all metrics; takes tens of microseconds.
  std::string Text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
  MetricsSources sources_;
};

}  // namespace belljar::server::operations

#endif  // BELLJAR_SERVER_OPERATIONS_METRICS_H_
