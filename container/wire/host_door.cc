#include "container/wire/host_door.h"

#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/socket.h"

namespace belljar {
namespace {

// Streams have numbers of 32 bits, one of which is that of the connection too many.
constexpr size_t kMostStreams = std::numeric_limits<uint32_t>::max() - 1;

DoorBounds BoundsOf(const DoorService& service) {
  return {std::min(service.MostOpen(), kMostStreams),
          std::min(service.rules().bounds.connections, kMostStreams)};
}

}  // namespace

HostDoor::HostDoor(DoorService& service, std::optional<AllowList> narrower)
    : bounds_(BoundsOf(service)),
      door_(service, std::move(narrower)),
      traffic_(DoorLedger::Side::kHost, bounds_) {}

void HostDoor::Move(std::span<const pollfd> watched, std::string& frames) {
  for (const uint32_t number : traffic_.TakeOpened()) {
    auto pair = CreateSocketPair(SOCK_STREAM);
    traffic_.Give(number, pair ? std::move(pair->first) : UniqueFd(), frames);
    if (pair) door_.Serve(std::move(pair->second));
  }
  traffic_.Move(watched, frames);
}

}  // namespace belljar
