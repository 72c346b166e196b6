// EgressRelay: the guest's side of an egress proxy: a thread that accepts the worker's connections
// to its egress proxy and forwards them over the channel, while the request runs. The host decides
// what is allowed.
//
//   worker ──▶ 127.0.0.1:1080 ──▶ EgressRelay ──frames──▶ host: HostEgress ──▶ engine/egress
//
// The listener is in the container's own network namespace, which only has a loopback; or in the
// worker's own, if it has one in the container.
#ifndef BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_
#define BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_

#include <poll.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "container/wire/channel.h"
#include "container/wire/egress_traffic.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

namespace belljar::container::inside {

class EgressRelay {
 public:
  // `channel` is borrowed.
  explicit EgressRelay(const wire::Channel& channel) : channel_(channel) {}
  EgressRelay(const EgressRelay&) = delete;
  ~EgressRelay() { Stop(); }

  // From now on the worker can connect; connections are accepted once there is a run.
  core::Result<void> Listen(uint16_t port);

  // Before Start: what the host allows for the run.
  void Allow(const wire::EgressBounds& bounds) { bounds_ = bounds; }
  // Begins to accept. `listener`: the worker's own; empty: that of Listen. Once.
  core::Result<void> Start(core::UniqueFd listener);
  // Closes every connection; data in transit is lost.
  void Stop();

  // Between Hold and GoOn nothing is sent: the host does not read during a function call. Hold
  // blocks until what is being sent is out.
  void Hold();
  void GoOn();

  // A frame of the host about a stream. Any thread; an error is a fault.
  core::Result<void> Take(const wire::Frame& frame);

 private:
  void Run();
  void Await();
  std::string MoveAll();
  void AcceptAll(std::string& frames);

  const wire::Channel& channel_;
  core::UniqueFd listener_;
  core::UniqueFd wake_;  // an event: there is something to do, or the end
  wire::EgressBounds bounds_;

  std::mutex sending_;  // held while frames are being sent; locked before the other mutex
  std::mutex mutex_;
  std::optional<wire::EgressTraffic> traffic_;
  bool stopped_ = false;
  bool held_ = false;

  std::vector<pollfd> watched_;  // from here on used only by the thread
  bool pauses_ = false;          // nothing could be accepted, and more may be waiting
  core::Thread thread_;
};

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_
