// EgressRelay: the guest's side of an egress proxy: a thread that accepts what the worker connects
// to its egress proxy and moves it over the channel, while the request runs. What is allowed is the
// host's to say.
//
//   worker ──▶ 127.0.0.1:1080 ──▶ EgressRelay ──frames──▶ host: HostEgress ──▶ engine/egress
//
// The listener is in the container's own network namespace, which has nothing but its loopback; or,
// where a worker has one of its own in there, in that one.
#ifndef BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_
#define BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_

#include <poll.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "container/wire/channel.h"
#include "container/wire/egress_traffic.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"

namespace belljar::container::inside {

class EgressRelay {
 public:
  // `channel` is borrowed.
  explicit EgressRelay(const wire::Channel& channel) : channel_(channel) {}
  EgressRelay(const EgressRelay&) = delete;
  ~EgressRelay() { Stop(); }

  // From now on the worker can connect; it is accepted once there is a run.
  core::Result<void> Listen(uint16_t port);

  // Before Start: what the host allows the run.
  void Allow(const wire::EgressBounds& bounds) { bounds_ = bounds; }
  // Begins to accept. `listener`: the worker's own; empty: that of Listen. Once.
  core::Result<void> Start(core::UniqueFd listener);
  // Every connection is cut; what is still under way is lost.
  void Stop();

  // Between the two nothing is sent: the host takes nothing while it is in a call of a function.
  // Blocks until what is on its way is out.
  void Hold();
  void GoOn();

  // What the host says of a stream. Any thread; an error is a fault.
  core::Result<void> Take(const wire::Frame& frame);

 private:
  void Run();
  void Await();
  std::string MoveAll();
  void AcceptAll(std::string& frames);

  const wire::Channel& channel_;
  core::UniqueFd listener_;
  core::UniqueFd wake_;  // an event: there is something new, or an end
  wire::EgressBounds bounds_;

  std::mutex sending_;  // held while frames are on their way; before the other
  std::mutex mutex_;
  std::optional<wire::EgressTraffic> traffic_;
  bool stopped_ = false;
  bool held_ = false;

  std::vector<pollfd> watched_;  // the thread's own, as all from here on
  bool pauses_ = false;          // nothing could be accepted, and more may wait
  std::thread thread_;
};

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_EGRESS_RELAY_H_
