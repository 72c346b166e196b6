// TraceExporter: sends a span of each execution to a collector of OpenTelemetry, as OTLP over HTTP
// in JSON. The events of an execution are the events of its span. A client's traceparent is
// continued, and its decision not to sample is respected.
//
//   Result<std::unique_ptr<TraceExporter>> traces = TraceExporter::Start(hub, config.tracing, …);
//
// Spans are sent in batches by a thread of its own. What the collector does not take after a few
// attempts is dropped and counted; nothing else is delayed.
#ifndef BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_
#define BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/core/config.h"
#include "server/events/event_hub.h"
#include "server/events/trace_context.h"

namespace belljar::server::events {

struct Span {
  TraceContext context;
  std::string id;
  std::string name;
  std::chrono::system_clock::time_point start;
  std::chrono::system_clock::time_point end;
  std::shared_ptr<const Event> last;                   // how it ended
  std::vector<std::shared_ptr<const Event>> happened;  // meanwhile
};

// The body of a request of OTLP: opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest.
// `instance`: of the server, another one after each start.
std::string ToOtlp(const std::vector<Span>& spans, const std::string& service,
                   const std::string& instance);

class TraceExporter {
 public:
  struct Counters {
    uint64_t exported = 0;
    uint64_t dropped = 0;
  };
  // `why` the collector took nothing, and whether the spans are lost. On the exporter's thread.
  using FailureListener = std::function<void(const std::string& why, unsigned attempts, bool lost)>;

  // Before the first event.
  static core::Result<std::unique_ptr<TraceExporter>> Start(EventHub& hub,
                                                            const TracingConfig& config,
                                                            FailureListener on_failure);
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;

  // Sends what is there, but no attempt is made after `deadline`. After the last event.
  void Finish(std::chrono::steady_clock::time_point deadline);
  Counters counters() const;

 private:
  class Worker;
  explicit TraceExporter(std::shared_ptr<Worker> worker);

  const std::shared_ptr<Worker> worker_;  // shared with the hub
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_
