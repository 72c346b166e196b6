// HostEgress: the egress proxy of one container run on the host: each stream of the guest becomes
// an accepted connection of the proxy (engine/egress).
#ifndef BELLJAR_CONTAINER_BACKEND_HOST_EGRESS_H_
#define BELLJAR_CONTAINER_BACKEND_HOST_EGRESS_H_

#include <poll.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/wire/egress_traffic.h"
#include "engine/egress/egress_proxy.h"

namespace belljar::container::backend {

class HostEgress {
 public:
  // `narrower`: as in EgressProxy.
  HostEgress(egress::EgressService& service, std::optional<egress::AllowList> narrower);

  // Sent to the guest with the request.
  const wire::EgressBounds& bounds() const { return bounds_; }

  // As in EgressTraffic.
  core::Result<void> Take(const wire::Frame& frame) { return traffic_.Take(frame); }
  void Watch(bool reads, std::vector<pollfd>& watched) { traffic_.Watch(reads, watched); }
  void Move(std::span<const pollfd> watched, std::string& frames);

  // Closes every connection.
  egress::EgressRecord Close() { return egress_.Close(); }

 private:
  const wire::EgressBounds bounds_;
  egress::EgressProxy egress_;
  wire::EgressTraffic traffic_;
};

}  // namespace belljar::container::backend

#endif  // BELLJAR_CONTAINER_BACKEND_HOST_EGRESS_H_
