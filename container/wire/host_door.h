// HostDoor: the door of one container run on the host: each stream of the guest becomes an accepted
// connection of the proxy (engine/door).
#ifndef BELLJAR_CONTAINER_WIRE_HOST_DOOR_H_
#define BELLJAR_CONTAINER_WIRE_HOST_DOOR_H_

#include <poll.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/wire/door_traffic.h"
#include "engine/door/door.h"

namespace belljar {

class HostDoor {
 public:
  // `narrower`: as Door has it.
  HostDoor(DoorService& service, std::optional<AllowList> narrower);

  // What the guest is told with the request.
  const DoorBounds& bounds() const { return bounds_; }

  // As DoorTraffic has them.
  Result<void> Take(const Frame& frame) { return traffic_.Take(frame); }
  void Watch(bool reads, std::vector<pollfd>& watched) { traffic_.Watch(reads, watched); }
  void Move(std::span<const pollfd> watched, std::string& frames);

  // Cuts every connection.
  DoorRecord Close() { return door_.Close(); }

 private:
  const DoorBounds bounds_;
  Door door_;
  DoorTraffic traffic_;
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_WIRE_HOST_DOOR_H_
