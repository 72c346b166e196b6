#include "container/backend/host_egress.h"

#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/socket.h"

namespace belljar::container::backend {
namespace {

// Stream numbers have 32 bits, and one is reserved for the connection beyond the maximum.
constexpr size_t kMaxStreams = std::numeric_limits<uint32_t>::max() - 1;

wire::EgressBounds BoundsOf(const egress::EgressService& service) {
  return {std::min(service.MaxOpen(), kMaxStreams),
          std::min(service.rules().bounds.connections, kMaxStreams)};
}

}  // namespace

HostEgress::HostEgress(egress::EgressService& service, std::optional<egress::AllowList> narrower)
    : bounds_(BoundsOf(service)),
      egress_(service, std::move(narrower)),
      traffic_(wire::EgressLedger::Side::kHost, bounds_) {}

void HostEgress::Move(std::span<const pollfd> watched, std::string& frames) {
  for (const uint32_t number : traffic_.TakeOpened()) {
    auto pair = core::CreateSocketPair(SOCK_STREAM);
    traffic_.Give(number, pair ? std::move(pair->first) : core::UniqueFd(), frames);
    if (pair) egress_.Serve(std::move(pair->second));
  }
  traffic_.Move(watched, frames);
}

}  // namespace belljar::container::backend
