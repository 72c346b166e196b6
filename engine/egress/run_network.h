// RunNetwork: state shared by the connections of one run: the rules, the remaining budget, the
// record. Used by the service's thread and by the one that runs the request.
#ifndef BELLJAR_ENGINE_EGRESS_RUN_NETWORK_H_
#define BELLJAR_ENGINE_EGRESS_RUN_NETWORK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "engine/egress/allow_list.h"
#include "engine/egress/egress_rules.h"
#include "engine/host/outcome.h"

namespace belljar::egress {

class ProxyConnection;

struct RunNetwork {
  using Clock = std::chrono::steady_clock;

  // Index of a connection's event; nullopt: the record was full.
  using EventIndex = std::optional<size_t>;
  static constexpr size_t kMaxEvents = 200;

  RunNetwork(std::shared_ptr<const EgressRules> egress_rules, std::optional<AllowList> call_list)
      : rules(std::move(egress_rules)),
        narrower(std::move(call_list)),
        began(Clock::now()),
        sent_left(rules->bounds.sent.count),
        received_left(rules->bounds.received.count) {}

  std::chrono::microseconds SinceStart() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
  }

  // Requires `mutex`, like everything below.
  EventIndex Record(host::NetworkEvent event) {
    if (events.size() >= kMaxEvents) {
      ++left_out;
      return std::nullopt;
    }
    events.push_back(std::move(event));
    return events.size() - 1;
  }

  const std::shared_ptr<const EgressRules> rules;
  const std::optional<AllowList> narrower;  // restriction by this call; nullopt: none
  const Clock::time_point began;

  std::mutex mutex;
  bool closed = false;  // the run is over
  uint64_t sent_left;   // bytes
  uint64_t received_left;
  size_t concurrent = 0;  // connections to hosts that are open or being opened
  std::vector<host::NetworkEvent> events;
  uint64_t left_out = 0;
  std::set<std::shared_ptr<ProxyConnection>> connections;
  std::function<void()> when_one_ends;  // called once, by the next connection that ends
};

}  // namespace belljar::egress

#endif  // BELLJAR_ENGINE_EGRESS_RUN_NETWORK_H_
