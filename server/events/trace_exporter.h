// TraceExporter: sends a span for each execution to an OpenTelemetry collector, as OTLP over HTTP
// in JSON. The events of an execution become events of its span. A client's traceparent is
// continued, and its decision not to sample is respected.
//
//   Result<std::unique_ptr<TraceExporter>> traces = TraceExporter::Start(hub, config.tracing, …);
//
// Spans are sent in batches by a separate thread. What the collector does not accept after a few
// attempts is dropped and counted; nothing else is delayed.
#ifndef BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_
#define BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_

#include <chrono>
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
  std::vector<std::shared_ptr<const Event>> happened;  // events until then
};

// The body of an OTLP request: opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest.
// `instance` identifies this start of the server.
std::string ToOtlp(const std::vector<Span>& spans, const std::string& service,
                   const std::string& instance);

class TraceExporter {
 public:
  struct Counters {
    uint64_t exported = 0;
    uint64_t dropped = 0;
  };
  // `why` the collector rejected the spans, and whether they are lost. Called on the exporter's
  // thread.
  using FailureListener = std::function<void(const std::string& why, unsigned attempts, bool lost)>;

  // Call before the first event.
  static core::Result<std::unique_ptr<TraceExporter>> Start(EventHub& hub,
                                                            const TracingConfig& config,
                                                            FailureListener on_failure);
  ~TraceExporter();
  TraceExporter(const TraceExporter&) = delete;

  // Sends what is queued, but makes no attempt after `deadline`. Call after the last event.
  void Finish(std::chrono::steady_clock::time_point deadline);
  Counters counters() const;

 private:
  class Worker;
  explicit TraceExporter(std::shared_ptr<Worker> worker);

  const std::shared_ptr<Worker> worker_;  // shared with the hub
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_TRACE_EXPORTER_H_
