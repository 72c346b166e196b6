// HostListener: a thread that reads the host's side of the channel for as long as the guest lives:
// the request, or those of a session, the streams of its egress proxy, answers, a cancellation, the
// channel's end. So the guest ends with its host, whatever it is doing.
#ifndef BELLJAR_CONTAINER_INSIDE_HOST_LISTENER_H_
#define BELLJAR_CONTAINER_INSIDE_HOST_LISTENER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "container/inside/egress_relay.h"
#include "container/inside/host_reader.h"
#include "container/wire/channel.h"
#include "engine/core/fd.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

namespace belljar::container::inside {

class HostListener {
 public:
  // Both are borrowed; `egress` receives the host's frames about streams.
  static core::Result<std::unique_ptr<HostListener>> Start(const wire::Channel& channel,
                                                           EgressRelay& egress);
  ~HostListener();

  // Blocks. nullopt: the host is gone, or sent something other than an order (fault). From then on,
  // a cancellation and answers belonging to the previous order are void.
  std::optional<HostReader::Order> AwaitOrder();
  // In a session, before telling the host that it may send the next order.
  void ExpectOrder();

  // Call before sending a call, so that its answer is accepted. Returns false if nothing may be
  // called, since the host has cancelled or is gone, or still owes an answer.
  bool ExpectAnswer();
  // Blocks. nullopt: it has not arrived in time, or the host has cancelled or is gone.
  std::optional<std::string> AwaitAnswer(core::Deadline deadline);
  // The host is in a function call, however long that takes, and does not read.
  bool owes_answer() const;

  // Readable once the host has cancelled or is gone, and stays readable.
  int cancel_fd() const { return cancel_.get(); }
  // Likewise once it is gone.
  int gone_fd() const { return gone_event_.get(); }
  // Nothing more will arrive, and nobody reads what is sent.
  bool gone() const;
  // Why it is gone, if not because the channel was closed.
  std::optional<core::Error> fault() const;

 private:
  HostListener(const wire::Channel& channel, EgressRelay& egress, core::UniqueFd cancel,
               core::UniqueFd gone, core::UniqueFd stop);
  void Listen();
  core::Result<void> TakeAnswer(std::string answer);
  core::Result<void> TakeOrder(HostReader::Order order);
  void Leave(std::optional<core::Error> fault);

  const wire::Channel& channel_;
  const core::UniqueFd cancel_;
  const core::UniqueFd gone_event_;
  const core::UniqueFd stop_;
  HostReader reader_;  // used only by the thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<HostReader::Order> order_;
  bool may_order_ = true;
  bool owes_answer_ = false;
  std::optional<std::string> answer_;
  bool cancelled_ = false;
  bool gone_ = false;
  std::optional<core::Error> fault_;

  core::Thread thread_;
};

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_HOST_LISTENER_H_
