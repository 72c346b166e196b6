// HostListener: a thread that reads the host's side of the line for as long as the guest lives: the
// request, the streams of its door, answers, a cancellation, the line's end. So the guest ends with
// its host, whatever it is doing.
#ifndef BELLJAR_CONTAINER_GUEST_HOST_LISTENER_H_
#define BELLJAR_CONTAINER_GUEST_HOST_LISTENER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "container/guest/door_relay.h"
#include "container/wire/host_reader.h"
#include "container/wire/line.h"
#include "engine/core/fd.h"
#include "engine/core/request.h"
#include "engine/core/result.h"

namespace belljar {

class HostListener {
 public:
  // Both are borrowed; `door` gets what the host says of its streams.
  static Result<std::unique_ptr<HostListener>> Start(const Line& line, DoorRelay& door);
  ~HostListener();

  // Blocks. nullopt: the host has gone, or what it sent was no request (fault).
  std::optional<Request> AwaitRequest();
  // After it: what came with it.
  DoorBounds door_bounds() const;

  // Before a call is sent, for whose answer there is a place then.
  void ExpectAnswer();
  // Blocks. nullopt: it has not come by then, or the host has cancelled or gone.
  std::optional<std::string> AwaitAnswer(Deadline deadline);
  // It is in a call, for as long as that takes, and reads nothing meanwhile.
  bool owes_answer() const;

  // The host has cancelled or gone: readable, and stays so.
  int cancel_fd() const { return cancel_.get(); }
  // Nothing more will come, and nobody reads what is sent.
  bool gone() const;
  // Why it is gone, where that is not because the line was closed.
  std::optional<Error> fault() const;

 private:
  HostListener(const Line& line, DoorRelay& door, UniqueFd cancel, UniqueFd stop);
  void Listen();
  Result<void> TakeAnswer(std::string answer);
  void Leave(std::optional<Error> fault);

  const Line& line_;
  const UniqueFd cancel_;
  const UniqueFd stop_;
  HostReader reader_;  // the thread's own

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> request_;
  DoorBounds door_bounds_;
  bool had_request_ = false;
  bool owes_answer_ = false;
  std::optional<std::string> answer_;
  bool cancelled_ = false;
  bool gone_ = false;
  std::optional<Error> fault_;

  std::thread thread_;
};

}  // namespace belljar

#endif  // BELLJAR_CONTAINER_GUEST_HOST_LISTENER_H_
