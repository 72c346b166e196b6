// Webhooks: delivers events to endpoints configured by the operator, signed according to Standard
// Webhooks (webhook-id, webhook-timestamp, webhook-signature). Each endpoint has a thread, so that
// one that does not respond does not delay the others, and gets its events in order.
//
//   Result<std::unique_ptr<Webhooks>> webhooks = Webhooks::Start(hub, config.webhooks, listener);
//   (*webhooks)->Finish(deadline);     // after the last event
//
// The queue is in memory only, at most kMaxWaiting events per endpoint: further events, and those
// that failed too often, are reported to the receiver by an event "gap".
#ifndef BELLJAR_SERVER_EVENTS_WEBHOOKS_H_
#define BELLJAR_SERVER_EVENTS_WEBHOOKS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/core/config.h"
#include "server/events/event_hub.h"

namespace belljar::server::events {

// webhook-signature of a message: "v1," and the base64 of its HMAC. `secret` is the raw key.
std::string SignWebhook(std::string_view secret, std::string_view id, std::string_view timestamp,
                        std::string_view body);

class Webhooks {
 public:
  static constexpr size_t kMaxWaiting = 4096;

  // Reports to the operator; called on the thread of an endpoint.
  struct Failure {
    std::string webhook;  // its name
    std::string event;    // type of the event
    std::string why;
    unsigned attempts = 0;
    bool dropped = false;  // no more attempts
  };
  using FailureListener = std::function<void(const Failure&)>;

  struct Counters {
    std::string webhook;
    uint64_t delivered = 0;
    uint64_t failed = 0;   // attempts
    uint64_t dropped = 0;  // events
    size_t waiting = 0;
  };

  // Before the first event. The hub must outlive its own events, not this object: call Finish, or
  // destroy it, after the last one.
  static core::Result<std::unique_ptr<Webhooks>> Start(EventHub& hub,
                                                       const std::vector<WebhookConfig>& configs,
                                                       const FailureListener& on_failure);
  ~Webhooks();
  Webhooks(const Webhooks&) = delete;

  // Waits until everything is delivered, but makes no attempt after `deadline`.
  void Finish(std::chrono::steady_clock::time_point deadline);
  std::vector<Counters> counters() const;

 private:
  class Endpoint;
  Webhooks() = default;

  std::vector<std::shared_ptr<Endpoint>> endpoints_;
};

}  // namespace belljar::server::events

#endif  // BELLJAR_SERVER_EVENTS_WEBHOOKS_H_
