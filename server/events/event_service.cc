#include "server/events/event_service.h"

#include <chrono>
#include <utility>

namespace belljar::server::events {
namespace {

// For delivering the rest at shutdown, which the process manager waits for.
constexpr std::chrono::seconds kFlushTimeout{2};

}  // namespace

core::Result<std::unique_ptr<EventService>> EventService::Open(const ServerConfig& config,
                                                               const std::string& version,
                                                               const FailureListener& on_failure) {
  std::unique_ptr<EventService> service(new EventService());
  const bool has_streams = config.http && config.events.enabled;
  const bool has_traces = !config.tracing.endpoint.empty();
  if (!has_streams && !has_traces && config.webhooks.empty()) return service;
  service->hub_.emplace(EventHub::Bounds{config.events.kept, config.events.kept_size.count});
  service->calls_.emplace(*service->hub_);
  if (has_streams) {
    service->streams_ = std::make_unique<EventStreams>(
        *service->hub_,
        EventStreams::Options{config.events.streams, config.events.heartbeat, version});
    if (core::Result<void> started = service->streams_->Start(); !started) return started.error();
  }
  core::Result<std::unique_ptr<Webhooks>> webhooks = Webhooks::Start(
      *service->hub_, config.webhooks, [on_failure](const Webhooks::Failure& failure) {
        on_failure({"webhook " + failure.webhook, failure.event + ": " + failure.why,
                    failure.attempts, failure.dropped});
      });
  if (!webhooks) return webhooks.error();
  service->webhooks_ = std::move(*webhooks);
  if (!has_traces) return service;
  core::Result<std::unique_ptr<TraceExporter>> traces =
      TraceExporter::Start(*service->hub_, config.tracing,
                           [on_failure](const std::string& why, unsigned attempts, bool lost) {
                             on_failure({"tracing.endpoint", why, attempts, lost});
                           });
  if (!traces) return traces.error();
  service->traces_ = std::move(*traces);
  return service;
}

EventService::~EventService() {
  const auto deadline = std::chrono::steady_clock::now() + kFlushTimeout;
  if (webhooks_) webhooks_->Finish(deadline);
  if (traces_) traces_->Finish(deadline);
}

std::vector<WebHandler*> EventService::handlers() {
  if (!streams_) return {};
  return {streams_.get()};
}

void EventService::EndStreams() {
  if (streams_) streams_->EndAll();
}

void EventService::EndStreamsOf(const std::vector<std::string>& callers) {
  if (streams_ && !callers.empty()) streams_->EndOf(callers);
}

EventService::Figures EventService::figures() const {
  Figures figures;
  if (hub_) figures.published = hub_->published();
  if (streams_) figures.streams = streams_->open();
  if (webhooks_) figures.webhooks = webhooks_->counters();
  if (traces_) figures.spans = traces_->counters();
  return figures;
}

}  // namespace belljar::server::events
