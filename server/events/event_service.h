// EventService: the events of one server as configured: creates and keeps them, streams them, and
// sends them to webhooks and a trace collector.
//
//   Result<std::unique_ptr<EventService>> events = EventService::Open(config, version, listener);
//   CallObservers observers({&metrics, &log, (*events)->observer()});
//   HttpServer::Listen(…, (*events)->handlers());
//
// Its destructor delivers the rest: nothing may be published by then.
#ifndef BELLJAR_SERVER_EVENTS_EVENT_SERVICE_H_
#define BELLJAR_SERVER_EVENTS_EVENT_SERVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "server/calls/observer.h"
#include "server/core/config.h"
#include "server/core/web.h"
#include "server/events/call_events.h"
#include "server/events/event_hub.h"
#include "server/events/event_streams.h"
#include "server/events/trace_exporter.h"
#include "server/events/webhooks.h"

namespace belljar::server::events {

class EventService {
 public:
  // A failed delivery attempt.
  struct Failure {
    std::string receiver;  // "webhook dashboard", "tracing.endpoint"
    std::string why;
    unsigned attempts = 0;
    bool lost = false;  // no more attempts
  };
  // Any thread.
  using FailureListener = std::function<void(const Failure&)>;

  static core::Result<std::unique_ptr<EventService>> Open(const ServerConfig& config,
                                                          const std::string& version,
                                                          const FailureListener& on_failure);
  ~EventService();
  EventService(const EventService&) = delete;

  // Null: nobody is interested.
  CallObserver* observer() { return calls_ ? &*calls_ : nullptr; }
  std::vector<WebHandler*> handlers();

  // The server is draining and no calls are left: streams end once they have sent everything.
  void EndStreams();
  void EndStreamsOf(const std::vector<std::string>& callers);

  struct Figures {
    uint64_t published = 0;
    size_t streams = 0;
    std::vector<Webhooks::Counters> webhooks;
    std::optional<TraceExporter::Counters> spans;  // nullopt: no exporter
  };
  Figures figures() const;

 private:
  EventService() = default;

  // Each uses only those before it.
  std::optional<EventHub> hub_;
  std::optional<CallEvents> calls_;
  std::unique_ptr<EventStreams> streams_;
  std::unique_ptr<Webhooks> webhooks_;
  std::unique_ptr<TraceExporter> traces_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_EVENT_SERVICE_H_
